import { queueBinding } from '#lib/event-queues';
import type { JournalQueue } from './worker.ts';
import { startWorker } from './worker.ts';

/** The Worker with several event queues, of which it sends to the first `sentTo`. */
export const startWithQueues = (
  queues: readonly JournalQueue[],
  sentTo: number,
  overrides: Partial<Env> = {},
) =>
  startWorker({
    ...Object.fromEntries(queues.map((queue, number) => [queueBinding(number), queue])),
    EVENT_QUEUES: String(sentTo),
    ...overrides,
  } as Partial<Env>);

/** The name of a queue with this number. */
export const nameOf = (number: number) =>
  number === 0 ? 'attribution-events' : `attribution-events-${number}`;
