import { eq, min, sql } from 'drizzle-orm';
import { columnList, database, delayedMessages, retryTransient, toStatement } from '#db';
import { numberOfQueue } from '#lib/event-queues';

/** What a message still has for an application's counters. `receivedAt`: epoch milliseconds of its first event. */
export type Delayed = { applicationId: string; messageId: string; events: number; receivedAt: number };

const { applicationId, messageId, events, queue, receivedAt } = delayedMessages;
const COLUMNS = [applicationId, messageId, events, queue, receivedAt];

/** Notes messages that the queue of this name will deliver again. Idempotent. */
export async function noteDelayed(
  db: D1Database,
  queueName: string,
  delayed: readonly Delayed[],
): Promise<void> {
  if (delayed.length === 0) return;
  const number = numberOfQueue(queueName);
  const rows = delayed.map((one) => [one.applicationId, one.messageId, one.events, number, one.receivedAt]);
  const statement = sql`INSERT INTO ${delayedMessages} (${columnList(COLUMNS)})
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(${JSON.stringify(rows)})
    WHERE true ON CONFLICT DO NOTHING`;
  await retryTransient(() => toStatement(db, statement).run());
}

/** A message of an application. */
export type OwnMessage = Pick<Delayed, 'applicationId' | 'messageId'>;

/** The statement that forgets messages which are no longer delivered. */
export function forgetDelayed(db: D1Database, messages: readonly OwnMessage[]): D1PreparedStatement {
  const keys = messages.map((own) => [own.applicationId, own.messageId]);
  return toStatement(
    db,
    sql`DELETE FROM ${delayedMessages} WHERE (${applicationId}, ${messageId}) IN
      (SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(keys)}))`,
  );
}

/** Forgets all messages of an application. Those that still have to be delivered are noted again at their next attempt. */
export async function forgetBacklog(db: D1Database, ofApplication: string): Promise<void> {
  await retryTransient(() =>
    database(db).delete(delayedMessages).where(eq(applicationId, ofApplication)).run(),
  );
}

/** How many accepted events counters have refused so far, and when the first was accepted (epoch milliseconds); null if there is none. */
export type Backlog = { events: number; oldestAt: number | null };

/**
 * An application's backlog. Read it before the counters' progress: a message that is delivered in between is then in either, and never in
 * neither.
 */
export async function readBacklog(db: D1Database, ofApplication: string): Promise<Backlog> {
  const [row] = await database(db)
    .select({ events: sql<number>`coalesce(sum(${events}), 0)`, oldestAt: min(receivedAt) })
    .from(delayedMessages)
    .where(eq(applicationId, ofApplication));
  return row ?? { events: 0, oldestAt: null };
}

/** When the first message of all applications was accepted, by the number of its queue. Queues without such messages are absent. */
export async function readOldestDelayed(db: D1Database): Promise<Map<number, number>> {
  const rows = await database(db)
    .select({ queue, oldestAt: min(receivedAt) })
    .from(delayedMessages)
    .groupBy(queue);
  return new Map(rows.map((row) => [row.queue, row.oldestAt ?? 0]));
}
