import { and, count, desc, eq, getTableColumns, inArray, or, sql } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import {
  applications,
  columnList,
  type Database,
  isTransient,
  parkedChunks,
  parkedMessages,
  teams,
  toStatement,
} from '#db';
import { AppError, unavailable } from '#http';
import { logError } from '#lib/log';
import { readParkedSums, type SumRows, sumStatement } from './outbox-part.ts';
import { PARK_REASON, wholeBody } from './park.ts';
import { sendWithRetry } from './send/send-with-retry.ts';

/** A parked message in the API's format. */
export type ParkedMessage = typeof parkedMessages.$inferSelect;

/** A message too broken to name its application belongs to no team. It is shown only if the deployment has a single team. */
const ofTeam = (db: Database, teamId: string) =>
  or(
    inArray(
      parkedMessages.applicationId,
      db.select({ id: applications.id }).from(applications).where(eq(applications.teamId, teamId)),
    ),
    and(eq(parkedMessages.applicationId, ''), eq(sql`(SELECT count(*) FROM ${teams})`, 1)),
  );

const WHOLE = { ...getTableColumns(parkedMessages), body: wholeBody };

/** One page of a team's parked messages, newest first, with the total; `before` is the previous page's last one. */
export async function listParked(
  db: Database,
  teamId: string,
  page: { limit: number; before?: { parkedAt: number; id: string } | undefined },
): Promise<{ messages: ParkedMessage[]; total: number }> {
  const { parkedAt, id } = parkedMessages;
  const older = page.before
    ? sql`(${parkedAt}, ${id}) < (${page.before.parkedAt}, ${page.before.id})`
    : undefined;
  const [messages, [counted]] = await db.batch([
    db
      .select(WHOLE)
      .from(parkedMessages)
      .where(and(ofTeam(db, teamId), older))
      .orderBy(desc(parkedAt), desc(id))
      .limit(page.limit),
    db.select({ total: count() }).from(parkedMessages).where(ofTeam(db, teamId)),
  ]);
  return { messages, total: counted?.total ?? 0 };
}

async function getParked({ db, team }: Caller, id: string): Promise<ParkedMessage> {
  const [row] = await db
    .select(WHOLE)
    .from(parkedMessages)
    .where(and(ofTeam(db, team.id), eq(parkedMessages.id, id)));
  if (!row) throw new AppError('not_found', 'Message is no longer parked');
  return row;
}

/** Throws for an event that only a restore can count. It is in the raw event files, whatever is done about the message. */
function requireKnownDevice({ reason }: ParkedMessage): void {
  if (reason === PARK_REASON.unknownDevice) {
    throw new AppError(
      'conflict',
      'The counter of this event has lost what it stored. Restore the application: npm run restore -- --application <id>',
    );
  }
}

/** The name of a message in the audit log. */
const subjectOf = ({ id, reason }: ParkedMessage) => `${id}: ${reason}`.slice(0, 200);

/** Throws `not_found` for another team's message, and for one that is no longer parked, and `conflict` for one that only a restore can count. */
export async function discardParked(caller: Caller, id: string): Promise<void> {
  const message = await getParked(caller, id);
  requireKnownDevice(message);
  await removeParked(caller, message, 'parked_message.discarded');
}

/**
 * Sends a parked message to the queue again, then deletes it. A failure in between sends it twice, but it counts once, because its events keep
 * their ids. Whatever still cannot be counted is parked again. Parked sums are added to their rollup and deleted in one transaction, which
 * fails as a whole if the database still refuses them. Throws like `discardParked`, plus `conflict` for an empty message and `unavailable` if
 * the queue does not accept it.
 */
export async function replayParked(
  env: Pick<Env, 'DB' | 'EVENTS'>,
  caller: Caller,
  id: string,
): Promise<void> {
  const message = await getParked(caller, id);
  requireKnownDevice(message);
  if (message.body === '') throw new AppError('conflict', 'This message is empty and can only be discarded');
  const body: unknown = JSON.parse(message.body);
  const sums = readParkedSums(body);
  if (sums === 'newer') throw new AppError('conflict', 'Only a newer release can add these sums');
  if (sums) {
    await addParkedSums(env.DB, caller, message, sums);
    return;
  }
  if (!(await sendWithRetry(() => env.EVENTS.send(body)))) throw unavailable();
  await removeParked(caller, message, 'parked_message.replayed');
}

async function removeParked(
  caller: Caller,
  message: ParkedMessage,
  action: 'parked_message.discarded' | 'parked_message.replayed',
): Promise<void> {
  const { db } = caller;
  await db.batch([auditStatement(caller, action, subjectOf(message)), ...deleteParked(db, message.id)]);
}

const deleteParked = (db: Database, id: string) =>
  [
    db.delete(parkedMessages).where(eq(parkedMessages.id, id)),
    db.delete(parkedChunks).where(eq(parkedChunks.messageId, id)),
  ] as const;

/** Aborts the transaction if the message is no longer parked, by setting a NOT NULL column to null. */
const abortUnlessParked = (db: D1Database, messageId: string) => {
  const { id, applicationId, body, reason, parkedAt } = parkedMessages;
  return toStatement(
    db,
    sql`INSERT INTO ${parkedMessages} (${columnList([id, applicationId, body, reason, parkedAt])})
      SELECT ${messageId}, NULL, '', '', 0
      WHERE NOT EXISTS (SELECT 1 FROM ${parkedMessages} WHERE ${id} = ${messageId})`,
  );
};

/** Adds parked sums once, however many callers do it at the same time. */
async function addParkedSums(
  db: D1Database,
  caller: Caller,
  message: ParkedMessage,
  sums: SumRows,
): Promise<void> {
  const { id } = message;
  try {
    await db.batch([
      abortUnlessParked(db, id),
      sumStatement(db, sums),
      toStatement(db, auditStatement(caller, 'parked_message.replayed', subjectOf(message)).getSQL()),
      ...deleteParked(caller.db, id).map((statement) => toStatement(db, statement.getSQL())),
    ]);
  } catch (error) {
    if (isTransient(error)) throw unavailable();
    logError('sums refused', error, { message_id: id, application_id: message.applicationId });
    throw new AppError('conflict', 'The database still refuses these sums');
  }
}
