import { eq, min, sql } from 'drizzle-orm';
import { columnList, database, delayedMessages, retryTransient, toStatement } from '#db';

/** What a message still has for an application's counters. `receivedAt`: epoch milliseconds of its first event. */
export type Delayed = { applicationId: string; messageId: string; events: number; receivedAt: number };

const { applicationId, messageId, events, receivedAt } = delayedMessages;
const COLUMNS = [applicationId, messageId, events, receivedAt];

/** Notes messages that will be delivered again. Idempotent. */
export async function noteDelayed(db: D1Database, delayed: readonly Delayed[]): Promise<void> {
  if (delayed.length === 0) return;
  const rows = delayed.map((one) => [one.applicationId, one.messageId, one.events, one.receivedAt]);
  const statement = sql`INSERT INTO ${delayedMessages} (${columnList(COLUMNS)})
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(${JSON.stringify(rows)})
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
 * An application's backlog, and when the first message of all applications was accepted. Read it before the counters' progress: a message that
 * is delivered in between is then in either, and never in neither.
 */
export async function readBacklog(
  db: D1Database,
  ofApplication: string,
): Promise<Backlog & { oldestOfAll: number | null }> {
  const isOwn = eq(applicationId, ofApplication);
  const [row] = await database(db)
    .select({
      events: sql<number>`coalesce(sum(${events}) FILTER (WHERE ${isOwn}), 0)`,
      oldestAt: sql<number | null>`min(${receivedAt}) FILTER (WHERE ${isOwn})`,
      oldestOfAll: min(receivedAt),
    })
    .from(delayedMessages);
  return row ?? { events: 0, oldestAt: null, oldestOfAll: null };
}
