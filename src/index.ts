import { pruneClicks } from '#attribution';
import { pruneCreativeRequests } from '#creatives';
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
    // What the last batch of a quiet hour left in the log, and what has to be forgotten: none waits for the others.
    const chores = [foldLog(env.DB, now), pruneClicks(env.DB, now), pruneCreativeRequests(env.DB, now)];
    const failed = (await Promise.allSettled(chores)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  },
} satisfies ExportedHandler<Env>;
