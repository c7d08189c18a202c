import { pruneClicks } from '#attribution';
import { pruneCreativeRequests } from '#creatives';
import { settingsOf } from '#env';
import { fetchReferenceRates } from '#money';
import { consumeDeadLetters, consumeEvents, foldLog } from '#rollup';
import { createApp } from './app.ts';

export { CreativeRegistry } from '#creatives';

/** As wrangler.toml has it; its other schedule, every minute, is that of the chores. */
const RATES_SCHEDULE = '30 15,17,19 * * *';

const app = createApp();

export default {
  fetch: app.fetch,
  queue: (batch, env) =>
    batch.queue.endsWith('-dead') ? consumeDeadLetters(batch, env) : consumeEvents(batch, env),
  scheduled: async (controller, env) => {
    const now = Date.now();
    if (controller.cron === RATES_SCHEDULE) {
      const { EXCHANGE_RATES_URL } = settingsOf(env);
      if (EXCHANGE_RATES_URL) await fetchReferenceRates(env.DB, EXCHANGE_RATES_URL, now);
      return;
    }
    // What the last batch of a quiet hour left in the log, and what has to be forgotten: none waits for the others.
    const chores = [foldLog(env.DB, now), pruneClicks(env.DB, now), pruneCreativeRequests(env.DB, now)];
    const failed = (await Promise.allSettled(chores)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  },
} satisfies ExportedHandler<Env>;
