import { and, count, eq, inArray, lt, min, sql } from 'drizzle-orm';
import { type AppleAnswer, type Attribution, creditAfterApple } from '#attribution';
import { isOfDevice, type LoggedEvent } from '#catalogue';
import { earliest } from '#lib/time';
import { countryOfTimezone } from '#lib/zone-countries';
import type { DeviceDescription, OpenCredit } from '../api.ts';
import { appendEvents, type CounterLog } from '../log.ts';
import { devices, heldEvents, openCredits } from '../schema.ts';
import { type ObjectStore, toParameters } from '../store.ts';

// A device that Apple may attribute is created with its credit open: its install, and the events that are sent meanwhile, stay out of the log
// until the credit is resolved. From then on neither its creative nor its network changes, so all that is counted of it agrees.

/** How long an open credit waits for the queue. Then it is resolved without Apple's answer. */
const OPEN_MS = 10 * 60_000;
/** Settled by one alarm, so that counting does not wait for long. */
const MAX_OVERDUE = 200;

/** Keeps the install of a new device back. Call it in the transaction that creates the device. */
export function openCredit(
  store: ObjectStore,
  deviceId: string,
  { token, install }: OpenCredit,
  now: number,
): void {
  store.insert(openCredits).values({ deviceId, token, install, createdAt: now }).run();
}

/** The token to ask Apple about; null if the credit is not open. */
export const openToken = (store: ObjectStore, deviceId: string): string | null =>
  store.select({ token: openCredits.token }).from(openCredits).where(eq(openCredits.deviceId, deviceId)).get()
    ?.token ?? null;

/** The guessed click or impression that a device was credited with before Apple attributed it; null if there is none. */
export function replacedClick(store: ObjectStore, deviceId: string): string | null {
  const row = store
    .select({ id: sql<string | null>`${devices.attribution} ->> '$.replaced.click_id'` })
    .from(devices)
    .where(eq(devices.id, deviceId))
    .get();
  return row?.id ?? null;
}

/** What events tell of their device: its creative and, those of stores, its place. */
type CreditedDevice = { creativeId: string; description: Pick<DeviceDescription, 'segment'> };

function tell(event: LoggedEvent, { creativeId, description }: CreditedDevice): LoggedEvent {
  const told = { ...event, creative_id: creativeId || null } as LoggedEvent;
  if (told.type !== 'store') return told;
  const { country, network } = description.segment;
  return { ...told, country: country || undefined, network: network || undefined };
}

/** The country of a click that turned out not to be the device's is not its country either. */
function withoutClick(description: DeviceDescription): DeviceDescription {
  if (description.countrySource !== 'click') return description;
  const country = countryOfTimezone(description.timezone);
  return {
    ...description,
    segment: { ...description.segment, country: country ?? '' },
    countrySource: country === null ? null : 'timezone',
  };
}

/** Stores what a device is attributed to, and returns that. One that was resolved before, as in a copy made meanwhile, stays as it is. */
function resolveDevice(
  store: ObjectStore,
  id: string,
  answer: AppleAnswer,
  creativeId: string | null,
): (CreditedDevice & { attribution: Attribution }) | null {
  const row = store.select().from(devices).where(eq(devices.id, id)).get();
  if (!row) return null;
  const before: Attribution = JSON.parse(row.attribution);
  const description: DeviceDescription = JSON.parse(row.description);
  if (before.apple_ads) return { creativeId: row.creativeId, description, attribution: before };
  const attribution = creditAfterApple(before, answer, creativeId, row.acquiredAt);
  const isAd = answer.outcome === 'attributed';
  const placed = isAd ? withoutClick(description) : description;
  const resolved = {
    creativeId: isAd ? (creativeId ?? '') : row.creativeId,
    description: isAd ? { ...placed, segment: { ...placed.segment, network: 'apple_ads' } } : placed,
  };
  store
    .update(devices)
    .set({
      creativeId: resolved.creativeId,
      description: JSON.stringify(resolved.description),
      attribution: JSON.stringify(attribution),
    })
    .where(eq(devices.id, id))
    .run();
  return { ...resolved, attribution };
}

const parse = (applicationId: string, text: string): LoggedEvent => ({
  ...JSON.parse(text),
  application_id: applicationId,
});

function installOf(install: LoggedEvent, { method, confidence, doubts }: Attribution): LoggedEvent {
  return {
    ...install,
    attribution_method: method,
    attribution_confidence: confidence,
    doubts: doubts?.map(({ rule }) => rule),
  } as LoggedEvent;
}

/**
 * Resolves the credit of a device: from Apple's answer, or without it. Appends its install and its held events to the log, and returns how many.
 * `creativeId`: of the ad that Apple named. Does nothing if the credit is not open. Call it in a transaction.
 */
export function resolveCredit(
  log: CounterLog,
  deviceId: string,
  { answer, creativeId }: { answer: AppleAnswer; creativeId: string | null },
  now: number,
): number {
  const { store, applicationId } = log;
  const own = eq(heldEvents.deviceId, deviceId);
  const open = store.select().from(openCredits).where(eq(openCredits.deviceId, deviceId)).get();
  // A copy may have the events of a device whose credit it does not have.
  const held = store.select({ event: heldEvents.event }).from(heldEvents).where(own).all();
  if (!open && held.length === 0) return 0;
  const resolved = open ? resolveDevice(store, deviceId, answer, creativeId) : null;
  const device = resolved ?? toldOf(store, [deviceId]).get(deviceId);
  const events = held.map(({ event }) => parse(applicationId, event));
  if (open) {
    const install = parse(applicationId, open.install);
    events.unshift(resolved ? installOf(install, resolved.attribution) : install);
  }
  store.delete(openCredits).where(eq(openCredits.deviceId, deviceId)).run();
  store.delete(heldEvents).where(own).run();
  const told = events.map((event) => (device ? tell(event, device) : event));
  return appendEvents(log, told, now);
}

/** What is known of some devices whose credit is resolved. */
function toldOf(store: ObjectStore, ids: Iterable<string>): Map<string, CreditedDevice> {
  const found = new Map<string, CreditedDevice>();
  for (const parameter of toParameters(ids)) {
    const wanted = inArray(devices.id, sql`(SELECT value FROM json_each(${parameter}))`);
    const columns = { id: devices.id, creativeId: devices.creativeId, description: devices.description };
    for (const { id, creativeId, description } of store.select(columns).from(devices).where(wanted).all()) {
      found.set(id, { creativeId, description: JSON.parse(description) });
    }
  }
  return found;
}

const deviceIdOf = (event: LoggedEvent): string | undefined =>
  isOfDevice(event) ? event.device_id : 'device_id' in event ? event.device_id : undefined;

/**
 * Takes events that were sent while the credit of their devices was open: holds those of devices where it still is, and appends the others with
 * the creative that was found. Returns how many were appended. A repetition adds nothing. Call it in a transaction.
 */
export function takeOpenEvents(log: CounterLog, texts: readonly string[], now: number): number {
  const { store, applicationId } = log;
  const events = texts.map((text) => ({ text, event: parse(applicationId, text) }));
  const ids = new Set(events.flatMap(({ event }) => deviceIdOf(event) ?? []));
  const known = toldOf(store, ids);
  const open = new Set([...ids].filter((id) => openToken(store, id) !== null));
  const resolved: LoggedEvent[] = [];
  for (const { text, event } of events) {
    const id = deviceIdOf(event) ?? '';
    const device = known.get(id);
    if (open.has(id)) {
      store
        .insert(heldEvents)
        .values({ id: event.id, deviceId: id, event: text, heldAt: now })
        .onConflictDoNothing()
        .run();
    } else resolved.push(device ? tell(event, device) : event);
  }
  return appendEvents(log, resolved, now);
}

/** A held event, and when it came; null if it is not held. */
export function heldEvent(store: ObjectStore, id: string): { text: string; heldAt: number } | null {
  const row = store.select().from(heldEvents).where(eq(heldEvents.id, id)).get();
  return row ? { text: row.event, heldAt: row.heldAt } : null;
}

/** How many events, with installs, are not in the log because a credit is open. */
export function countHeld(store: ObjectStore): number {
  const credits = store.select({ n: count() }).from(openCredits).get()?.n ?? 0;
  return credits + (store.select({ n: count() }).from(heldEvents).get()?.n ?? 0);
}

/** When the first of them came, in epoch milliseconds; null if there are none. */
export function oldestHeld(store: ObjectStore): number | null {
  const credit = store
    .select({ at: min(openCredits.createdAt) })
    .from(openCredits)
    .get();
  const event = store
    .select({ at: min(heldEvents.heldAt) })
    .from(heldEvents)
    .get();
  return earliest(credit?.at, event?.at);
}

/** When the next credit is to be resolved without Apple's answer, in epoch milliseconds; null if none is open. */
export function overdueAt(store: ObjectStore): number | null {
  const oldestAt = oldestHeld(store);
  return oldestAt === null ? null : oldestAt + OPEN_MS;
}

/** Some devices whose credit has been open for too long. */
export function overdueDevices(store: ObjectStore, now: number): string[] {
  const before = now - OPEN_MS;
  const credits = store
    .select({ id: openCredits.deviceId })
    .from(openCredits)
    .where(lt(openCredits.createdAt, before + 1))
    .limit(MAX_OVERDUE)
    .all();
  const held = store
    .selectDistinct({ id: heldEvents.deviceId })
    .from(heldEvents)
    .where(
      and(
        lt(heldEvents.heldAt, before + 1),
        sql`${heldEvents.deviceId} NOT IN (SELECT ${openCredits.deviceId} FROM ${openCredits})`,
      ),
    )
    .limit(MAX_OVERDUE)
    .all();
  return [...new Set([...credits, ...held].map(({ id }) => id))];
}

/** Lets restored credits wait until a time (epoch milliseconds): what happened to them meanwhile is in files that are restored after them. */
export function postpone(store: ObjectStore, until: number): void {
  store.update(openCredits).set({ createdAt: until }).run();
  store.update(heldEvents).set({ heldAt: until }).run();
}
