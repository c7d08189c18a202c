import { and, asc, eq, inArray, lte, not, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import {
  isOfDevice,
  type LoggedEvent,
  type OutboundRule,
  passesFilter,
  type Segment,
  segmentWithoutDevice,
} from '#catalogue';
import { present } from '#lib/input/present';
import type { DeviceDescription } from '../api.ts';
import { progressOf } from '../log.ts';
import { devices, outboundParts, progress } from '../schema.ts';
import { type ObjectStore, toParameters } from '../store.ts';
import { takes, UNKNOWN } from './rules.ts';

/** What a counter knows of a device besides its events. */
export type OutboundDevice = Pick<DeviceDescription, 'osSystem' | 'timezone' | 'consent' | 'consentAt'> & {
  segment: Segment;
  /** What is stored of an `Attribution`. */
  attribution: { method?: string; click_id?: string; click_params?: Record<string, string> };
};

/** A counted event that a destination is sent. `type` is the entry of its `events` that matched. The device is null for a payment without one. */
export type OutboundItem = { type: string; event: LoggedEvent; device: OutboundDevice | null };

/** What a device told of the person's choices after its acquisition. */
export type OutboundConsent = { deviceId: string } & Pick<OutboundDevice, 'consent' | 'consentAt'>;

/**
 * What a counter sends to a destination, in the order in which it was counted: events, a device to be forgotten, or choices that hold for its events
 * that were not sent yet.
 */
export type OutboundPart = { events: OutboundItem[] } | { erased: string } | { consent: OutboundConsent };

/** The device of an event; empty for a payment without one. */
export const deviceOf = ({ event }: Pick<OutboundItem, 'event'>): string =>
  isOfDevice(event) ? event.device_id : '';

/** A part without the events of a device; null for one that has no events. */
export const withoutDevice = (part: OutboundPart, deviceId: string): OutboundPart | null =>
  'events' in part ? { events: part.events.filter((item) => deviceOf(item) !== deviceId) } : null;

/** An item with the choices that its device has told meanwhile. */
export const withConsent = (item: OutboundItem, told: OutboundConsent): OutboundItem => {
  const { deviceId, consent, consentAt } = told;
  if (item.device === null || deviceOf(item) !== deviceId) return item;
  return { ...item, device: { ...item.device, consent, consentAt } };
};

/** A table of parts, in a counter or a destination. */
type PartTable = { table: SQLiteTable; key: SQLiteColumn; payload: SQLiteColumn };

/**
 * Rewrites the parts of a table that name a device; those for which `rewrite` returns null stay. `isRenewed`: under another id, because a destination may
 * have the part as it was.
 */
export function rewriteParts(
  store: ObjectStore,
  { table, key, payload }: PartTable,
  deviceId: string,
  rewrite: (part: OutboundPart) => OutboundPart | null,
  isRenewed = false,
): void {
  const rows = store.values<[key: number, payload: string]>(
    sql`SELECT ${key}, ${payload} FROM ${table} WHERE instr(${payload}, ${deviceId}) > 0`,
  );
  for (const [number, text] of rows) {
    const part = rewrite(JSON.parse(text));
    if (part === null) continue;
    const id = isRenewed ? sql`, id = ${crypto.randomUUID()}` : sql``;
    store.run(sql`UPDATE ${table} SET payload = ${JSON.stringify(part)}${id} WHERE ${key} = ${number}`);
  }
}

/** Rewrites the parts of a table with the choices that a device has told meanwhile. */
export const rewriteConsent = (store: ObjectStore, parts: PartTable, told: OutboundConsent): void =>
  rewriteParts(store, parts, told.deviceId, (part) =>
    'events' in part ? { events: part.events.map((item) => withConsent(item, told)) } : null,
  );

/** What is known of some devices, by id. Erased ones are missing. */
export function readOutboundDevices(store: ObjectStore, ids: Iterable<string>): Map<string, OutboundDevice> {
  const found = new Map<string, OutboundDevice>();
  for (const parameter of toParameters(ids)) {
    const rows = store.values<[id: string, description: string, attribution: string]>(sql`
      SELECT ${devices.id}, ${devices.description}, ${devices.attribution}
      FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
    for (const [id, description, stored] of rows) {
      const { osSystem, timezone, segment, consent, consentAt }: DeviceDescription = JSON.parse(description);
      const { method, click_id, click_params } = JSON.parse(stored);
      const attribution = present({ method, click_id: click_id ?? undefined, click_params });
      found.set(id, { ...{ osSystem, timezone, segment, consent, consentAt }, attribution });
    }
  }
  return found;
}

const OUTBOUND = { table: outboundParts, key: outboundParts.part, payload: outboundParts.payload };

/** A part is valid once its run is committed. */
const IS_COMMITTED = lte(outboundParts.run, sql`(SELECT ${progress.run} FROM ${progress})`);

/** Parts in one call: a megabyte. */
const PARTS_AT_ONCE = 4;

export function insertPart(
  store: ObjectStore,
  { run, destinationId, part }: { run: number; destinationId: string; part: OutboundPart },
): void {
  store
    .insert(outboundParts)
    .values({ run, destinationId, id: crypto.randomUUID(), payload: JSON.stringify(part) })
    .run();
}

/** The destinations that parts wait for. */
export const waitingDestinations = (store: ObjectStore): string[] =>
  store
    .selectDistinct({ id: outboundParts.destinationId })
    .from(outboundParts)
    .where(IS_COMMITTED)
    .all()
    .map(({ id }) => id);

/** The next parts for a destination. */
export const nextParts = (store: ObjectStore, destinationId: string) =>
  store
    .select({ part: outboundParts.part, id: outboundParts.id, payload: outboundParts.payload })
    .from(outboundParts)
    .where(and(eq(outboundParts.destinationId, destinationId), IS_COMMITTED))
    .orderBy(asc(outboundParts.part))
    .limit(PARTS_AT_ONCE)
    .all();

export function deleteParts(store: ObjectStore, numbers: readonly number[]): void {
  store
    .delete(outboundParts)
    .where(inArray(outboundParts.part, [...numbers]))
    .run();
}

/** Deletes the parts of a run that was not committed. */
export const discardUncommitted = (store: ObjectStore): void => {
  store.delete(outboundParts).where(not(IS_COMMITTED)).run();
};

/** Removes a device's events that wait to be sent, and has each destination forget those that it has. Call it in a transaction, between runs. */
export function eraseOutbound(store: ObjectStore, deviceId: string, rules: readonly OutboundRule[]): void {
  rewriteParts(store, OUTBOUND, deviceId, (part) => withoutDevice(part, deviceId), true);
  const { run } = progressOf(store);
  for (const { id: destinationId } of rules) {
    insertPart(store, { run, destinationId, part: { erased: deviceId } });
  }
}

/** Passes on the choices of a device, also for its events that wait to be sent. Call it in a transaction. */
export function tellOutboundConsent(
  store: ObjectStore,
  told: OutboundConsent,
  rules: readonly OutboundRule[],
): void {
  rewriteConsent(store, OUTBOUND, told);
  const { run } = progressOf(store);
  for (const { id: destinationId } of rules)
    insertPart(store, { run, destinationId, part: { consent: told } });
}

/** Gives what was counted while the destinations were unknown to those that it matches. Call it in a transaction. */
export function distribute(store: ObjectStore, rules: readonly OutboundRule[]): void {
  const rows = store
    .select()
    .from(outboundParts)
    .where(and(eq(outboundParts.destinationId, UNKNOWN.id), IS_COMMITTED))
    .orderBy(asc(outboundParts.part))
    .all();
  for (const { part, run, payload } of rows) {
    const own: OutboundPart = JSON.parse(payload);
    for (const rule of rules) {
      const events = ('events' in own ? own.events : []).filter(({ type, event, device }) => {
        const segment = device?.segment ?? segmentWithoutDevice(event);
        return takes(rule, type) && passesFilter(rule.filter, { segment, creativeId: event.creative_id });
      });
      if (events.length > 0 && !rule.isOff) {
        insertPart(store, { run, destinationId: rule.id, part: { events } });
      }
    }
    store.delete(outboundParts).where(eq(outboundParts.part, part)).run();
  }
}
