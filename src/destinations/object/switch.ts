import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { type Message, noticeEachChannel } from '#alerts/notice';
import { type Database, database, destinations, hasRow } from '#db';
import { isolate } from '#lib/input/isolate';
import { HOUR_MS } from '#lib/time';
import type { Setup } from './setup.ts';

const NEXT = sql`${destinations.version} + 1`;

type SwitchedDestination = { id: string; setup: Setup; now: number };

function messageOf({ id, setup }: SwitchedDestination, what: string, sentence: string): Message {
  const { application, kind, given } = setup;
  const host = URL.parse(given.settings.url ?? '')?.host;
  return {
    heading: `${isolate(application.name)} · ${what}: ${kind}${host ? `, ${host}` : ''}`,
    sentences: [sentence],
    ...{ figures: [], comparedWith: [] },
    link: { path: `/settings/destinations/${id}`, label: 'Open the destination' },
  };
}

function notice(db: Database, told: SwitchedDestination, key: string, message: Message, guard = sql`true`) {
  const notice = { id: `${told.id}:${key}`, subject: message.heading, message, now: told.now };
  return noticeEachChannel(db, told.setup.application.id, notice, guard);
}

/** What is told of failures for good in a row, and of an outage of so many milliseconds, in which everything is still tried again. */
const SENTENCES = {
  failures: (failures: number) =>
    `${failures} deliveries in a row have failed for good. After 20, or 3 days without a success, the destination is switched off.`,
  outage: (outageMs: number) => {
    const hours = outageMs / HOUR_MS;
    return `Nothing could be delivered for ${hours === 1 ? 'an hour' : `${hours} hours`}. Deliveries are tried again for 76 hours. After 3 days without a success, the destination is switched off.`;
  },
};

/** Tells people through the application's channels that a destination fails. `since` identifies the series of failures, which is told once for each amount. */
export async function tellFailing(
  d1: D1Database,
  told: SwitchedDestination,
  what: keyof typeof SENTENCES,
  { amount, since }: { amount: number; since: number },
): Promise<void> {
  const message = messageOf(told, 'Destination fails', SENTENCES[what](amount));
  const key = what === 'outage' ? `outage:${amount}:${since}` : `${amount}:${since}`;
  await notice(database(d1), told, key, message);
}

/** Switches a destination off and tells people why. Has no effect on one that is off. */
export async function switchOff(d1: D1Database, told: SwitchedDestination, reason: string): Promise<void> {
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
