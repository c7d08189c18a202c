import { min } from 'drizzle-orm';
import { database, delayedMessages } from '#db';
import { logWarning } from '#lib/log';

/** The queue usually delivers within this time. Assumed where the queue cannot tell. */
const USUAL_DELIVERY_MS = 15_000;

/**
 * Until when (epoch milliseconds) every accepted message has been handed to a counter at least once. What counters then refused is in
 * `readBacklog`. The queue tells the age of its oldest message, which may be one that is delivered again: then, and if the queue does not
 * answer, this assumes the usual time of a delivery. Never throws.
 */
export async function deliveredThrough(env: Pick<Env, 'DB' | 'EVENTS'>, now: number): Promise<number> {
  try {
    const [{ oldestMessageTimestamp }, [delayed]] = await Promise.all([
      env.EVENTS.metrics(),
      database(env.DB)
        .select({ oldestAt: min(delayedMessages.receivedAt) })
        .from(delayedMessages),
    ]);
    const queuedAt = oldestMessageTimestamp ? Number(oldestMessageTimestamp) : 0;
    if (queuedAt === 0) return now;
    const isDeliveredAgain = delayed?.oldestAt != null && queuedAt >= delayed.oldestAt;
    return isDeliveredAgain ? now - USUAL_DELIVERY_MS : Math.min(now, queuedAt - 1);
  } catch (error) {
    logWarning('no progress of the queue', error);
    return now - USUAL_DELIVERY_MS;
  }
}
