import { eq, sql } from 'drizzle-orm';
import { firstTimes } from '#rollup';
import type { DeviceIdentity, NewDevice, StoredDevice } from './api.ts';
import { findCounted } from './device-pages.ts';
import { removeCounted } from './page-writer.ts';
import { aliases, devices } from './schema.ts';
import { perStore, type Store, toParameters } from './store.ts';

const identity = { id: devices.id, acquiredDay: devices.acquiredDay, creativeId: devices.creativeId };
type IdentityRow = { id: string; acquiredDay: string; creativeId: string };
const toIdentity = (row: IdentityRow): DeviceIdentity => ({ ...row, creativeId: row.creativeId || null });

const { placeholder } = sql;

const statementsOf = perStore((store) => ({
  findByAlias: store
    .select(identity)
    .from(aliases)
    .innerJoin(devices, eq(devices.id, aliases.deviceId))
    .where(eq(aliases.alias, placeholder('alias')))
    .prepare(),
  findById: store
    .select(identity)
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
    .prepare(),
  insertAlias: store
    .insert(aliases)
    .values({ alias: placeholder('alias'), deviceId: placeholder('deviceId') })
    .prepare(),
}));

export function findByAlias(store: Store, alias: string): DeviceIdentity | null {
  const row = statementsOf(store).findByAlias.get({ alias });
  return row ? toIdentity(row) : null;
}

export function findById(store: Store, id: string): DeviceIdentity | null {
  const row = statementsOf(store).findById.get({ id });
  return row ? toIdentity(row) : null;
}

/** Which of these devices exist, without erased ones, and whether each is an editor's or a debug build's. */
export function findKnown(store: Store, ids: Iterable<string>): Map<string, { test: boolean }> {
  const known = new Map<string, { test: boolean }>();
  for (const parameter of toParameters(ids)) {
    const rows = store.values<[id: string, test: number | null]>(sql`
      SELECT ${devices.id}, ${devices.description} ->> 'test'
      FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
    for (const [id, test] of rows) known.set(id, { test: test === 1 });
  }
  return known;
}

/** The click that a device is credited with; null if it is organic or came through a deep link. */
export function creditedClick(store: Store, id: string): string | null {
  const clickId = sql<string | null>`${devices.attribution} ->> 'click_id'`;
  return store.select({ clickId }).from(devices).where(eq(devices.id, id)).get()?.clickId ?? null;
}

export function insertDevice(store: Store, alias: string | null, device: NewDevice): void {
  const { insertAlias, ...statements } = statementsOf(store);
  statements.insertDevice.run({
    id: device.id,
    acquiredDay: device.acquiredDay,
    acquiredAt: device.acquiredAt,
    creativeId: device.creativeId ?? '',
    description: JSON.stringify(device.description),
    attribution: device.attribution,
  });
  if (alias !== null) insertAlias.run({ alias, deviceId: device.id });
}

export function readDevice(store: Store, id: string): StoredDevice | null {
  const row = store.select().from(devices).where(eq(devices.id, id)).get();
  if (!row) return null;
  const { creativeId, description, ...rest } = row;
  const counted = findCounted(store, new Map([[id, row.acquiredDay]])).found.get(id);
  const [, , , , , activeDays = '', activeAges = '', paidDays = ''] = counted?.facts ?? [];
  return {
    ...rest,
    ...{ activeDays, activeAges, paidDays },
    creativeId: creativeId || null,
    description: JSON.parse(description),
    milestones: firstTimes(counted?.history.steps ?? ''),
  };
}

/** Returns whether the device existed. No run may be in progress: see `Settler.betweenRuns`. Call it in a transaction. */
export function deleteDevice(store: Store, id: string): boolean {
  const found = findById(store, id);
  if (found) removeCounted(store, id, found.acquiredDay);
  store.delete(aliases).where(eq(aliases.deviceId, id)).run();
  store.delete(devices).where(eq(devices.id, id)).run();
  return found !== null;
}
