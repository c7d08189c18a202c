import { and, eq, gt, not, sql } from 'drizzle-orm';
import type { LoggedEvent } from '#catalogue';
import {
  applications,
  columnList,
  type Database,
  hasRow,
  parkedChunks,
  parkedMessages,
  splitValue,
  toStatement,
} from '#db';
import { jsonChunks } from '#lib/collections/chunks';
import { sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';

/** A message, or one event from it, that could not be counted. */
export type Parked = { id: string; applicationId: string; body: string; reason: string };

/** The same part of the same message has the same id, however often it is delivered. */
export async function parkedId(messageId: string, part: number | 'whole'): Promise<string> {
  return `prk_${(await sha256Hex(`${messageId}/${part}`)).slice(0, 32)}`;
}

/** The stored body of a message: everything except the hashes of clicks' addresses, which must not outlive their window. */
export function parkedBody(body: unknown): string {
  const withoutAddress = (click: unknown) =>
    typeof click === 'object' && click !== null ? { ...click, ip_hash: undefined } : click;
  if (typeof body !== 'object' || body === null || !('clicks' in body) || !Array.isArray(body.clicks)) {
    return JSON.stringify(body) ?? '';
  }
  return JSON.stringify({ ...body, clicks: body.clicks.map(withoutAddress) });
}

/** Longer than any id. */
const MAX_ID_CHARACTERS = 64;

/** The application that a broken message names, if that much can be read. */
export function applicationIdOf(body: unknown): string {
  if (typeof body !== 'object' || body === null) return '';
  if ('application_id' in body && typeof body.application_id === 'string') {
    return body.application_id.length <= MAX_ID_CHARACTERS ? body.application_id : '';
  }
  const lists = ['events' in body && body.events, 'clicks' in body && body.clicks];
  const [first] = lists.flatMap((list) => (Array.isArray(list) ? list : []));
  return applicationIdOf(first);
}

const { id, applicationId, body, reason, parkedAt } = parkedMessages;
const PARKED_COLUMNS = [id, applicationId, body, reason, parkedAt];
const { messageId, number } = parkedChunks;
const CHUNK_COLUMNS = [messageId, number, parkedChunks.applicationId, parkedChunks.body];

/** D1 accepts 2 MB per value. Longer lists are split over several statements of the same transaction. */
const MAX_PARAMETER_CHARACTERS = 1_000_000;
/** A reason may name every fault of a message. */
const MAX_REASON_CHARACTERS = 1_000;

/**
 * Stores what could not be counted, with the reason. Idempotent. Late events of a deleted application, whose counters know nothing any more, are
 * left out.
 */
export function parkStatements(
  db: D1Database,
  parked: readonly Parked[],
  now: number,
): D1PreparedStatement[] {
  const rows: unknown[][] = [];
  const chunks: unknown[][] = [];
  for (const message of parked) {
    const [first, ...more] = splitValue(message.body);
    const why = message.reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed();
    rows.push([message.id, message.applicationId, first, why]);
    for (const [index, chunk] of more.entries()) {
      chunks.push([message.id, index + 1, message.applicationId, chunk]);
    }
  }
  return [
    // Before the messages, because what is parked already has all of its body.
    ...Array.from(jsonChunks(chunks, MAX_PARAMETER_CHARACTERS), (parameter) =>
      toStatement(
        db,
        sql`INSERT INTO ${parkedChunks} (${columnList(CHUNK_COLUMNS)})
          SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(${parameter})
          WHERE NOT EXISTS (SELECT 1 FROM ${parkedMessages} WHERE ${id} = value ->> 0) ON CONFLICT DO NOTHING`,
      ),
    ),
    ...Array.from(jsonChunks(rows, MAX_PARAMETER_CHARACTERS), (parameter) =>
      toStatement(
        db,
        sql`INSERT INTO ${parkedMessages} (${columnList(PARKED_COLUMNS)})
          SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, ${now} FROM json_each(${parameter})
          WHERE value ->> 3 <> ${PARK_REASON.unknownDevice}
            OR EXISTS (SELECT 1 FROM ${applications} WHERE ${applications.id} = value ->> 1) ON CONFLICT DO NOTHING`,
      ),
    ),
  ];
}

/** The whole body of a row of `parked_messages`. */
export const wholeBody = sql<string>`(${body} || coalesce((SELECT group_concat(chunk, '') FROM (
  SELECT ${parkedChunks.body} AS chunk FROM ${parkedChunks} WHERE ${messageId} = ${id} ORDER BY ${number})), ''))`;

/** Deletes an application's parked messages that name this device. */
export const eraseParked = (db: Database, owner: string, deviceId: string) =>
  [
    db
      .delete(parkedMessages)
      .where(and(eq(applicationId, owner), gt(sql`instr(${wholeBody}, ${deviceId})`, 0))),
    db
      .delete(parkedChunks)
      .where(and(eq(parkedChunks.applicationId, owner), not(hasRow(parkedMessages, eq(id, messageId))))),
  ] as const;

/** Fixed texts. The database's own message is only in the log, next to the event's id. */
export const PARK_REASON = {
  undelivered: 'could not be delivered to the log: every attempt failed',
  unlogged: 'could not be written to the log',
  uncounted: 'could not be counted',
  unknownDevice:
    'this counter does not know the device, because what it stored was lost: restore the application, which counts the event',
  refused: 'counted, but the database refused to add these sums to the reports',
  newer: 'counted by a newer release, which alone can add these sums to the reports',
} as const;

/**
 * Parks an event that is already in the log, under its own id with another prefix, so that it can be found again. The stored body is a
 * message that can be sent again, in which the event has a new id, because the log would take the original id for a redelivery.
 */
export function toParkedEvent(event: LoggedEvent, reason: string = PARK_REASON.uncounted): Parked {
  const message = { v: 1, events: [{ ...event, id: newId('evt') }] };
  return {
    id: event.id.replace('evt_', 'prk_'),
    applicationId: event.application_id,
    body: JSON.stringify(message),
    reason,
  };
}

/** Deletes what is parked of an application because a counter does not know the devices: once it is restored, those events are counted. */
export const deleteParkedOfUnknown = (db: Database, owner: string) =>
  [
    db.delete(parkedMessages).where(and(eq(applicationId, owner), eq(reason, PARK_REASON.unknownDevice))),
    db
      .delete(parkedChunks)
      .where(and(eq(parkedChunks.applicationId, owner), not(hasRow(parkedMessages, eq(id, messageId))))),
  ] as const;
