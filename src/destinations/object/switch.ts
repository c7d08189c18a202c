import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { type Message, noticeEachChannel } from '#alerts/notice';
import { type Database, database, destinations, hasRow } from '#db';
import { isolate } from '#lib/input/isolate';
import { HOUR_MS } from '#lib/time';
import type { Setup } from './setup.ts';

const NEXT = sql`${destinations.version} + 1`;

type Told = { id: string; setup: Setup; now: number };

function messageOf({ id, setup }: Told, what: string, sentence: string): Message {
  const { application, kind, given } = setup;
  const host = URL.parse(given.settings.url ?? '')?.host;
  return {
    heading: `${isolate(application.name)} · ${what}: ${kind}${host ? `, ${host}` : ''}`,
    sentences: [sentence],
    ...{ figures: [], comparedWith: [] },
    link: { path: `/settings/destinations/${id}`, label: 'Open the destination' },
  };
}

function notice(db: Database, told: Told, key: string, message: Message, guard = sql`true`) {
  const subject = message.heading;
  return noticeEachChannel(
    db,
    told.setup.application.id,
    { id: `${told.id}:${key}`, subject, message, now: told.now },
    guard,
  );
}

/** Tells people through the application's channels that deliveries fail. `since` identifies the series of failures, which is told once for each number. */
export async function tellFailures(
  d1: D1Database,
  told: Told,
  { failures, since }: { failures: number; since: number },
): Promise<void> {
  const sentence = `${failures} deliveries in a row have failed for good. After 20, or 3 days without a success, the destination is switched off.`;
  await notice(database(d1), told, `${failures}:${since}`, messageOf(told, 'Destination fails', sentence));
}

/** Tells people that nothing can be delivered, although everything is still tried again. Once for each duration of an outage. */
export async function tellOutage(
  d1: D1Database,
  told: Told,
  { outageMs, since }: { outageMs: number; since: number },
): Promise<void> {
  const hours = outageMs / HOUR_MS;
  const sentence = `Nothing could be delivered for ${hours === 1 ? 'an hour' : `${hours} hours`}. Deliveries are tried again for 76 hours. After 3 days without a success, the destination is switched off.`;
  await notice(
    database(d1),
    told,
    `outage:${outageMs}:${since}`,
    messageOf(told, 'Destination fails', sentence),
  );
}

/** Switches a destination off and tells people why. Has no effect on one that is off. */
export async function switchOff(d1: D1Database, told: Told, reason: string): Promise<void> {
  const db = database(d1);
  const isOn = and(eq(destinations.id, told.id), isNull(destinations.offSince));
  const sentence = `${reason}. Nothing is sent until a test succeeds or somebody switches it on.`;
  await db.batch([
    notice(
      db,
      told,
      `off:${told.now}`,
      messageOf(told, 'Destination switched off', sentence),
      hasRow(destinations, isOn),
    ),
    db.update(destinations).set({ offSince: told.now, offReason: reason, version: NEXT }).where(isOn),
  ]);
}

/** Switches a destination on. Returns false if it is on already. */
export async function switchOn(d1: D1Database, id: string): Promise<boolean> {
  const changed = await database(d1)
    .update(destinations)
    .set({ offSince: null, offReason: null, version: NEXT })
    .where(and(eq(destinations.id, id), isNotNull(destinations.offSince)))
    .returning({ id: destinations.id });
  return changed.length > 0;
}
