import { settingsOf } from '#env';
import { fetchReferenceRates } from '#money';
import { consumeDeadLetters, consumeEvents, foldLog } from '#rollup';
import { createApp } from './app.ts';

/** As wrangler.toml has it; its other schedule is that of the exchange rates. */
const EVERY_MINUTE = '* * * * *';

const app = createApp();

export default {
  fetch: app.fetch,
  queue: (batch, env) =>
    batch.queue.endsWith('-dead') ? consumeDeadLetters(batch, env) : consumeEvents(batch, env),
  async scheduled(controller, env) {
    const { EXCHANGE_RATES_URL } = settingsOf(env);
    // What the last batch of a quiet hour left in the log.
    if (controller.cron === EVERY_MINUTE) await foldLog(env.DB, Date.now());
    else if (EXCHANGE_RATES_URL) await fetchReferenceRates(env.DB, EXCHANGE_RATES_URL, Date.now());
  },
} satisfies ExportedHandler<Env>;
