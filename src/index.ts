import { pruneClicks } from '#attribution';
import { pruneCreativeRequests } from '#creatives';
import { pruneRejections } from '#ingestion';
import { consumeDeadLetters, consumeEvents, foldLog } from '#rollup';
import { createApp } from './app.ts';

export { CreativeRegistry } from '#creatives';

const app = createApp();

export default {
  fetch: app.fetch,
  queue: (batch, env) =>
    batch.queue.endsWith('-dead') ? consumeDeadLetters(batch, env) : consumeEvents(batch, env),
  scheduled: async (_controller, env) => {
    const now = Date.now();
    // What the last batch of a quiet hour left in the log.
    await foldLog(env.DB, now);
    await pruneClicks(env.DB, now);
    await pruneCreativeRequests(env.DB, now);
    await pruneRejections(env.DB, now);
  },
} satisfies ExportedHandler<Env>;
