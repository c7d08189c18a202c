import { pruneRejections } from '#ingestion';
import { consumeDeadLetters, consumeEvents, foldLog } from '#rollup';
import { createApp } from './app.ts';

const app = createApp();

export default {
  fetch: app.fetch,
  queue: (batch, env) =>
    batch.queue.endsWith('-dead') ? consumeDeadLetters(batch, env) : consumeEvents(batch, env),
  scheduled: async (_controller, env) => {
    // What the last batch of a quiet hour left in the log.
    await foldLog(env.DB, Date.now());
    await pruneRejections(env.DB, Date.now());
  },
} satisfies ExportedHandler<Env>;
