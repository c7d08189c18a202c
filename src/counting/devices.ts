import { eq, type SQL, sql } from 'drizzle-orm';
import { named } from '#db';
import { type DeviceState, firstTimes } from '#rollup';
import type { DeviceIdentity, NewDevice, StoredDevice } from './api.ts';
import { aliases, devices } from './schema.ts';
import { type Store, toParameters } from './store.ts';
import { type DeviceTotals, readTotals, writeTotals } from './totals.ts';

/** What a run needs to know of a device. */
export type CountedDevice = {
  /** As it is stored. */
  state: DeviceState;
  ad: DeviceTotals | null;
  purchase: DeviceTotals | null;
  totalsChanged: boolean;
  /** Its days with a purchase are others than those that are stored. */
  paidChanged: boolean;
};

type Row = [
  id: string,
  acquiredDay: string,
  test: number,
  country: string | null,
  os: string | null,
  appVersion: string | null,
  activeDays: string,
  activeAges: string,
  paidDays: string,
  steps: string,
  revenue: string,
  adTotals: string | null,
  purchaseTotals: string | null,
];

/** The devices of these ids that are known; erased ones are not. */
export function loadDevices(store: Store, applicationId: string, ids: Iterable<string>): CountedDevice[] {
  const found: CountedDevice[] = [];
  for (const parameter of toParameters(ids)) {
    const rows =
      store.values<Row>(sql`SELECT ${devices.id}, ${devices.acquiredDay}, ${devices.description} ->> 'test',
        ${devices.description} ->> 'country', ${devices.description} ->> 'os', ${devices.description} ->> 'appVersion', ${devices.activeDays},
        ${devices.activeAges}, ${devices.paidDays}, ${devices.steps}, ${devices.revenue},
        ${devices.adTotals}, ${devices.purchaseTotals}
      FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
    for (const [id, acquiredDay, test, country, os, appVersion, ...counted] of rows) {
      const [activeDays, activeAges, paidDays, steps, revenue, ad, purchase] = counted;
      found.push({
        state: {
          applicationId,
          acquiredDay,
          id,
          test: test === 1,
          segment: { country: country ?? '', os: os ?? '', appVersion: appVersion ?? '' },
          activeDays,
          activeAges,
          paidDays,
          steps,
          revenue,
        },
        ad: readTotals(ad),
        purchase: readTotals(purchase),
        totalsChanged: false,
        paidChanged: false,
      });
    }
  }
  return found;
}

const toRow = ({ state, ad, purchase }: CountedDevice) => [
  state.id,
  state.activeDays,
  state.activeAges,
  state.paidDays,
  state.steps,
  state.revenue,
  writeTotals(ad),
  writeTotals(purchase),
];

export function saveDevices(store: Store, changed: Iterable<CountedDevice>): void {
  const paying: CountedDevice[] = [];
  const others = function* () {
    for (const device of changed) {
      if (device.paidChanged) paying.push(device);
      else yield toRow(device);
    }
  };
  updateDevices(store, others(), sql``);
  // To set `paid_days` writes the index `devices_that_paid` too, even where it stays what it is.
  updateDevices(store, paying.map(toRow), sql`${named(devices.paidDays)} = changed.value ->> 3,`);
}

function updateDevices(store: Store, rows: Iterable<ReturnType<typeof toRow>>, paid: SQL): void {
  const { activeDays, activeAges, steps, revenue, adTotals, purchaseTotals } = devices;
  for (const parameter of toParameters(rows)) {
    store.run(sql`UPDATE ${devices} SET ${named(activeDays)} = changed.value ->> 1, ${named(activeAges)} = changed.value ->> 2,
        ${paid} ${named(steps)} = changed.value ->> 4, ${named(revenue)} = changed.value ->> 5,
        ${named(adTotals)} = changed.value ->> 6, ${named(purchaseTotals)} = changed.value ->> 7
      FROM json_each(${parameter}) AS changed WHERE ${devices.id} = changed.value ->> 0`);
  }
}

const identity = { id: devices.id, acquiredDay: devices.acquiredDay, creativeId: devices.creativeId };
type IdentityRow = { id: string; acquiredDay: string; creativeId: string };
const toIdentity = (row: IdentityRow): DeviceIdentity => ({ ...row, creativeId: row.creativeId || null });

export function findByAlias(store: Store, alias: string): DeviceIdentity | null {
  const row = store
    .select(identity)
    .from(aliases)
    .innerJoin(devices, eq(devices.id, aliases.deviceId))
    .where(eq(aliases.alias, alias))
    .get();
  return row ? toIdentity(row) : null;
}

export function findById(store: Store, id: string): DeviceIdentity | null {
  const row = store.select(identity).from(devices).where(eq(devices.id, id)).get();
  return row ? toIdentity(row) : null;
}

/** The click that a device is credited to; null for an organic one and one of a deep link. */
export function creditedClick(store: Store, id: string): string | null {
  const clickId = sql<string | null>`${devices.attribution} ->> 'click_id'`;
  return store.select({ clickId }).from(devices).where(eq(devices.id, id)).get()?.clickId ?? null;
}

export function insertDevice(store: Store, alias: string | null, device: NewDevice): void {
  store
    .insert(devices)
    .values({
      id: device.id,
      acquiredDay: device.acquiredDay,
      acquiredAt: device.acquiredAt,
      creativeId: device.creativeId ?? '',
      description: JSON.stringify(device.description),
      attribution: device.attribution,
    })
    .run();
  if (alias !== null) store.insert(aliases).values({ alias, deviceId: device.id }).run();
}

export function readDevice(store: Store, id: string): StoredDevice | null {
  const row = store.select().from(devices).where(eq(devices.id, id)).get();
  if (!row) return null;
  const {
    creativeId,
    description,
    steps,
    revenue: _,
    adTotals: _ad,
    purchaseTotals: _purchase,
    ...rest
  } = row;
  return {
    ...rest,
    creativeId: creativeId || null,
    description: JSON.parse(description),
    milestones: firstTimes(steps),
  };
}

/** Whether there was such a device. */
export function deleteDevice(store: Store, id: string): boolean {
  const found = findById(store, id) !== null;
  store.delete(aliases).where(eq(aliases.deviceId, id)).run();
  store.delete(devices).where(eq(devices.id, id)).run();
  return found;
}
