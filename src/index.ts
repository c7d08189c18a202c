import { consumeDeadLetters, consumeEvents } from '#counting';
import { guardDatabase } from '#db';
import { isOfCredit } from '#devices';
import { answerRequest } from './answer-request.ts';

export { Counter } from '#counting';
export { CreativeRegistry } from '#creatives/registry';
export { DestinationObject as Destination } from '#destinations/object';
export { OutboundSender } from '#destinations/sender';

/** Events first: they never wait for Apple. */
async function consumeBatch({ queue, messages }: MessageBatch, bindings: Env): Promise<void> {
  const env = await guardDatabase(bindings);
  const credits = messages.filter(isOfCredit);
  const events = { queue, messages: messages.filter((message) => !isOfCredit(message)) };
  if (queue.endsWith('-dead')) {
    // Their counters have settled these credits since.
    for (const message of credits) message.ack();
    if (events.messages.length > 0) await consumeDeadLetters(events, env);
    return;
  }
  await consumeEvents(events, env);
  if (credits.length === 0) return;
  const { resolveCredits } = await import('#devices/credits');
  await resolveCredits(credits, env);
}

export default {
  fetch: answerRequest,
  queue: consumeBatch,
  async scheduled({ scheduledTime }, bindings) {
    // Imported here because only the cron needs it, which keeps it out of every other isolate's start-up.
    const { runSchedule } = await import('./schedule.ts');
    await runSchedule(scheduledTime, await guardDatabase(bindings));
  },
} satisfies ExportedHandler<Env>;
