import { asc, desc, eq, gt, gte, lt, lte, sql } from 'drizzle-orm';
import { DAY_MS } from '#lib/time';
import { outbox, sentParts } from '../schema.ts';
import type { ObjectStore } from '../store.ts';

// Parts of the outbox that D1 has confirmed are kept for as long as D1 can be restored to an earlier time. They then go back to the outbox,
// and are added once more under the same numbers: see `closeGap`.

/** Source: https://developers.cloudflare.com/d1/reference/time-travel/ */
const KEPT_MS = 30 * DAY_MS;
/** Of a counter's 10 GB. The newest parts are kept. */
const MAX_KEPT_BYTES = 1_000_000_000;

type SentPart = typeof outbox.$inferSelect;

/** Moves a part that D1 has confirmed out of the outbox. `payload` is what is kept of it. */
export function keepSent(
  store: ObjectStore,
  { sequence, payload, oldestAt }: SentPart,
  sentAt: number,
): void {
  store.insert(sentParts).values({ sequence, payload, oldestAt, sentAt }).onConflictDoNothing().run();
  store.delete(outbox).where(eq(outbox.sequence, sequence)).run();
}

/** The number before that of a counter's first part. */
const START = 0;

/** Whether the database was found without any part of this counter before the first one was sent: see `noteStarted`. */
export const hasStarted = (store: ObjectStore): boolean =>
  store
    .select({ sequence: sentParts.sequence })
    .from(sentParts)
    .where(eq(sentParts.sequence, START))
    .get() !== undefined;

/** A counter that has lost its storage starts again at part 1, which the database already has. Noted before that part is first sent. */
export function noteStarted(store: ObjectStore, at: number): void {
  const start = { sequence: START, payload: '[]', oldestAt: at, sentAt: at };
  store.insert(sentParts).values(start).onConflictDoNothing().run();
}

/** The first of the parts between two numbers, both exclusive, from which on all are kept; `before` if the last one is not. */
export function keptFrom(store: ObjectStore, after: number, before: number): number {
  const kept = store
    .select({ sequence: sentParts.sequence })
    .from(sentParts)
    .where(sql`${gt(sentParts.sequence, after)} AND ${lt(sentParts.sequence, before)}`)
    .orderBy(desc(sentParts.sequence))
    .all();
  let first = before;
  for (const { sequence } of kept) {
    if (sequence !== first - 1) break;
    first = sequence;
  }
  return first;
}

/** Moves the parts from a number on, which precede those in the outbox, back into it. */
export function requeueSent(store: ObjectStore, from: number): void {
  const { sequence, payload, oldestAt } = sentParts;
  store.run(sql`INSERT INTO ${outbox} SELECT ${sequence}, ${payload}, ${oldestAt} FROM ${sentParts}
    WHERE ${sequence} >= ${from} ON CONFLICT DO NOTHING`);
  store.delete(sentParts).where(gte(sequence, from)).run();
}

/** Deletes parts that D1 can no longer lose, and the oldest ones beyond the limit. Call it in a transaction. */
export function pruneSent(store: ObjectStore, now: number, maxBytes = MAX_KEPT_BYTES): void {
  store
    .delete(sentParts)
    .where(lt(sentParts.sentAt, now - KEPT_MS))
    .run();
  const sizes = store
    // Known without reading the value, unlike its length in characters.
    .select({ sequence: sentParts.sequence, bytes: sql<number>`octet_length(${sentParts.payload})` })
    .from(sentParts)
    .orderBy(asc(sentParts.sequence))
    .all();
  let excess = sizes.reduce((sum, { bytes }) => sum + bytes, 0) - maxBytes;
  let last: number | null = null;
  for (const { sequence, bytes } of sizes) {
    if (excess <= 0) break;
    excess -= bytes;
    last = sequence;
  }
  if (last !== null) store.delete(sentParts).where(lte(sentParts.sequence, last)).run();
}
