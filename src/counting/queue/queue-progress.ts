import { boundQueues, type EventQueue } from '#env';
import { logWarning } from '#lib/log';
import { readOldestDelayed } from './delayed.ts';

/** A queue usually delivers within this time. Assumed where a queue cannot tell. */
const USUAL_DELIVERY_MS = 15_000;

/**
 * How far a queue is. `messages`: how many it holds, null if it does not answer. `deliveredThrough`: until when (epoch milliseconds) every message
 * sent to it has been handed to a counter at least once. What counters then refused is in the `Backlog`.
 */
export type QueueProgress = { binding: string; messages: number | null; deliveredThrough: number };

/**
 * Reads the progress of every bound queue. Read it before the counters' progress: see `readBacklog`. A queue tells the age of its oldest
 * message, which may be one that is delivered again: then, and if the queue does not answer, this assumes the usual time of a delivery. Throws
 * if D1 fails, unless the caller knows what is `delayed`.
 */
export async function readQueues(
  env: Pick<Env, 'DB' | 'EVENTS'>,
  now: number,
  delayed: Promise<ReadonlyMap<number, number>> = readOldestDelayed(env.DB),
): Promise<QueueProgress[]> {
  const [states, oldestDelayed] = await Promise.all([Promise.all(boundQueues(env).map(readQueue)), delayed]);
  return states.map(({ number, binding, messages, oldestAt }) => {
    const delayedAt = oldestDelayed.get(number) ?? Number.POSITIVE_INFINITY;
    const isDeliveredAgain = Number.isFinite(oldestAt) && oldestAt >= delayedAt;
    const isUnknown = messages === null || isDeliveredAgain;
    return {
      binding,
      messages,
      deliveredThrough: isUnknown ? now - USUAL_DELIVERY_MS : Math.min(now, oldestAt - 1),
    };
  });
}

/** Until when every accepted message has been handed to a counter at least once, whichever queue it was sent to. */
export const deliveredThrough = (queues: readonly QueueProgress[]): number =>
  Math.min(...queues.map((queue) => queue.deliveredThrough));

/** `oldestAt`: when its oldest message was sent, in epoch milliseconds; infinite if it has none. */
async function readQueue({ number, binding, queue }: EventQueue) {
  try {
    const { backlogCount: messages, oldestMessageTimestamp } = await queue.metrics();
    const oldestAt = oldestMessageTimestamp ? Number(oldestMessageTimestamp) : Number.POSITIVE_INFINITY;
    return { number, binding, messages, oldestAt };
  } catch (error) {
    logWarning('no progress of a queue', error, { queue: binding });
    return { number, binding, messages: null, oldestAt: Number.POSITIVE_INFINITY };
  }
}
