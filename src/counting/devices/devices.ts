import { eq, sql } from 'drizzle-orm';
import { firstTimes } from '#rollup';
import type { DeviceIdentity, NewDevice, StoredDevice } from '../api.ts';
import { aliases, devices, openCredits } from '../schema.ts';
import { type ObjectStore, perStore, toParameters } from '../store.ts';
import { findCounted } from './device-pages.ts';
import { anonymiseCounted } from './page-writer.ts';

/** A device, and the click that it is credited with; null if it is organic or came through a deep link. */
type IdentifiedDevice = { device: DeviceIdentity; clickId: string | null };

const foundColumns = {
  id: devices.id,
  acquiredDay: devices.acquiredDay,
  creativeId: devices.creativeId,
  clickId: sql<string | null>`${devices.attribution} ->> 'click_id'`,
  isOpen: sql<number>`EXISTS (SELECT 1 FROM ${openCredits} WHERE ${openCredits.deviceId} = ${devices.id})`,
};
type FoundRow = DeviceIdentity & { creativeId: string; clickId: string | null; isOpen: number };

function toFound(row: FoundRow | undefined): IdentifiedDevice | null {
  if (!row) return null;
  const { clickId, isOpen, creativeId, ...device } = row;
  const credit = isOpen ? { creditOpen: true as const } : {};
  return { device: { ...device, creativeId: creativeId || null, ...credit }, clickId };
}

const { placeholder } = sql;

const statementsOf = perStore((store) => ({
  findByAlias: store
    .select(foundColumns)
    .from(aliases)
    .innerJoin(devices, eq(devices.id, aliases.deviceId))
    .where(eq(aliases.alias, placeholder('alias')))
    .prepare(),
  findById: store
    .select(foundColumns)
    .from(devices)
    .where(eq(devices.id, placeholder('id')))
    .prepare(),
  insertDevice: store
    .insert(devices)
    .values({
      id: placeholder('id'),
      acquiredDay: placeholder('acquiredDay'),
      acquiredAt: placeholder('acquiredAt'),
      creativeId: placeholder('creativeId'),
      description: placeholder('description'),
      attribution: placeholder('attribution'),
    })
    .onConflictDoNothing()
    .returning({ id: devices.id })
    .prepare(),
  insertAlias: store
    .insert(aliases)
    .values({ alias: placeholder('alias'), deviceId: placeholder('deviceId') })
    .onConflictDoNothing()
    .returning({ alias: aliases.alias })
    .prepare(),
}));

export const findByAlias = (store: ObjectStore, alias: string): IdentifiedDevice | null =>
  toFound(statementsOf(store).findByAlias.get({ alias }));

export const findById = (store: ObjectStore, id: string): IdentifiedDevice | null =>
  toFound(statementsOf(store).findById.get({ id }));

/** Which of these devices exist, without erased ones, and whether each is an editor's or a debug build's. */
export function findKnown(store: ObjectStore, ids: Iterable<string>): Map<string, { test: boolean }> {
  const known = new Map<string, { test: boolean }>();
  for (const parameter of toParameters(ids)) {
    const rows = store.values<[id: string, test: number | null]>(sql`
      SELECT ${devices.id}, ${devices.description} ->> 'test'
      FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
    for (const [id, test] of rows) known.set(id, { test: test === 1 });
  }
  return known;
}

/**
 * Creates a device unless one with its alias exists, or, if it has no alias, one with its id. Returns whether it was created. Inserts first
 * instead of looking for the device first, because most devices are new. Call it in a transaction.
 */
export function insertDevice(store: ObjectStore, alias: string | null, device: NewDevice): boolean {
  const { insertAlias, ...statements } = statementsOf(store);
  if (alias !== null && !insertAlias.get({ alias, deviceId: device.id })) return false;
  const inserted = statements.insertDevice.get({
    id: device.id,
    acquiredDay: device.acquiredDay,
    acquiredAt: device.acquiredAt,
    creativeId: device.creativeId ?? '',
    // With its alias, so that its row tells everything about it: see `new-devices.ts`.
    description: JSON.stringify(alias === null ? device.description : { ...device.description, alias }),
    attribution: device.attribution,
  });
  return inserted !== undefined;
}

export function readDevice(store: ObjectStore, id: string): StoredDevice | null {
  const row = store.select().from(devices).where(eq(devices.id, id)).get();
  if (!row) return null;
  const { creativeId, description, ...rest } = row;
  const open = findById(store, id)?.device.creditOpen;
  const counted = findCounted(store, new Map([[id, row.acquiredDay]])).found.get(id);
  const { alias: _, ...described } = JSON.parse(description);
  const [, , activeDays = '', activeAges = '', paidDays = ''] = counted?.facts ?? [];
  return {
    ...rest,
    ...{ activeDays, activeAges, paidDays },
    creativeId: creativeId || null,
    ...(open ? { creditOpen: true as const } : {}),
    description: described,
    revenue: counted?.history.revenue ?? null,
    milestones: firstTimes(counted?.history.steps ?? null),
  };
}

/** Adds the aliases of devices whose rows were restored. Call it in a transaction. */
export function insertAliasesOf(store: ObjectStore, ids: Iterable<string>): void {
  for (const parameter of toParameters(ids)) {
    store.run(sql`INSERT INTO ${aliases} SELECT ${devices.description} ->> 'alias', ${devices.id}
      FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value
      WHERE ${devices.description} ->> 'alias' IS NOT NULL ON CONFLICT DO NOTHING`);
  }
}

/** Adds the aliases of all devices, unless another device has them. Call it in a transaction. */
export function insertAllAliases(store: ObjectStore): void {
  store.run(sql`INSERT INTO ${aliases} SELECT ${devices.description} ->> 'alias', ${devices.id} FROM ${devices}
    WHERE ${devices.description} ->> 'alias' IS NOT NULL ORDER BY ${devices.id} ON CONFLICT DO NOTHING`);
}

/** Deletes what identifies a device: see `anonymiseCounted`. Returns whether the device existed. No run may be in progress: see `RunScheduler.betweenRuns`. Call it in a transaction. */
export function deleteDevice(store: ObjectStore, id: string): boolean {
  const found = findById(store, id);
  if (found) anonymiseCounted(store, id, found.device.acquiredDay);
  store.delete(aliases).where(eq(aliases.deviceId, id)).run();
  store.delete(devices).where(eq(devices.id, id)).run();
  return found !== null;
}
