import { consumeDeadLetters, consumeEvents } from '#counting';
import { answerRequest } from './answer-request.ts';

export { Counter } from '#counting';
export { CreativeRegistry } from '#creatives/registry';

export default {
  fetch: answerRequest,
  queue: (batch, env) =>
    batch.queue.endsWith('-dead') ? consumeDeadLetters(batch, env) : consumeEvents(batch, env),
  async scheduled({ cron }, env) {
    // Loaded by the cron alone: an isolate that receives events starts without it.
    const { runSchedule } = await import('./schedule.ts');
    await runSchedule(cron, env);
  },
} satisfies ExportedHandler<Env>;
