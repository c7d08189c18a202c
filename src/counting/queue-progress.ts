import { logWarning } from '#lib/log';
import { type Backlog, readBacklog } from './delayed.ts';

/** The queue usually delivers within this time. Assumed where the queue cannot tell. */
const USUAL_DELIVERY_MS = 15_000;

/**
 * What the queue still has for an application. `deliveredThrough`: until when (epoch milliseconds) every accepted message has been handed to
 * a counter at least once. What counters then refused is in `backlog`.
 */
export type Delivery = { backlog: Backlog; deliveredThrough: number };

/**
 * Reads an application's `Delivery`. Read it before the counters' progress: see `readBacklog`. The queue tells the age of its oldest message,
 * which may be one that is delivered again: then, and if the queue does not answer, this assumes the usual time of a delivery. Throws if D1
 * fails.
 */
export async function readDelivery(
  env: Pick<Env, 'DB' | 'EVENTS'>,
  applicationId: string,
  now: number,
): Promise<Delivery> {
  const [queuedAt, { oldestOfAll, ...backlog }] = await Promise.all([
    oldestInQueue(env),
    readBacklog(env.DB, applicationId),
  ]);
  const isDeliveredAgain =
    queuedAt !== null && Number.isFinite(queuedAt) && oldestOfAll !== null && queuedAt >= oldestOfAll;
  const deliveredThrough =
    queuedAt === null || isDeliveredAgain ? now - USUAL_DELIVERY_MS : Math.min(now, queuedAt - 1);
  return { backlog, deliveredThrough };
}

/** When the oldest message in the queue was sent, in epoch milliseconds; infinite if it is empty, null if it does not answer. */
async function oldestInQueue(env: Pick<Env, 'EVENTS'>): Promise<number | null> {
  try {
    const { oldestMessageTimestamp } = await env.EVENTS.metrics();
    return oldestMessageTimestamp ? Number(oldestMessageTimestamp) : Number.POSITIVE_INFINITY;
  } catch (error) {
    logWarning('no progress of the queue', error);
    return null;
  }
}
