import { pruneClicks } from '#attribution';
import { pruneCreativeRequests } from '#creatives';
import { archiveOf, settingsOf } from '#env';
import { pruneTokens } from '#ingestion';
import { fetchReferenceRates } from '#money';
import { consumeDeadLetters, consumeEvents, foldLog, pruneLog } from '#rollup';
import { pruneCredentials } from '#teams';
import { createApp } from './app.ts';

export { CreativeRegistry } from '#creatives';

/** The schedule of the exchange rates, as wrangler.toml has it; the other one is that of the minute's chores. */
const REFERENCE_RATES = '30 15,17,19 * * *';

const DAY_MS = 86_400_000;

const app = createApp();

export default {
  fetch: app.fetch,
  queue: (batch, env) =>
    batch.queue.endsWith('-dead') ? consumeDeadLetters(batch, env) : consumeEvents(batch, env),
  scheduled: async (controller, env) => {
    const now = Date.now();
    const { EXCHANGE_RATES_URL, RAW_RETENTION_DAYS, TOKEN_TTL_DAYS } = settingsOf(env);
    if (controller.cron === REFERENCE_RATES) {
      if (EXCHANGE_RATES_URL) await fetchReferenceRates(env.DB, EXCHANGE_RATES_URL, now);
      return;
    }
    // What the last batch of a quiet hour left in the log, and what has to be forgotten: none waits for the others.
    const chores = [
      foldLog(env.DB, now),
      pruneLog(env.DB, archiveOf(env), RAW_RETENTION_DAYS * DAY_MS, now),
      pruneClicks(env.DB, now),
      pruneCreativeRequests(env.DB, now),
      pruneTokens(env.DB, TOKEN_TTL_DAYS, now),
      pruneCredentials(env.DB, now),
    ];
    const failed = (await Promise.allSettled(chores)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  },
} satisfies ExportedHandler<Env>;
