import { sql } from 'drizzle-orm';
import { type DeviceEvent, kindOf, type Segment } from '#catalogue';
import { named } from '#db';
import { type DeviceFacts, type DeviceHistory, type Journal, RunningDevice } from '#rollup';
import { devices, preparedWrites } from './schema.ts';
import { type Store, toParameters } from './store.ts';
import { addToTotals, type DeviceTotals, readTotals, writeTotals } from './totals.ts';

type Row = [
  id: string,
  acquiredDay: string,
  test: number | null,
  country: string | null,
  os: string | null,
  appVersion: string | null,
  activeDays: string,
  activeAges: string,
  paidDays: string,
  adTotals: string | null,
  purchaseTotals: string | null,
];

/** A stored device, without its history. */
type LoadedDevice = DeviceFacts & { totals: { ad: string | null; purchase: string | null } };

/** Values that many devices share, stored only once. */
export class Shared {
  private readonly days = new Map<string, string>();
  private readonly segments = new Map<string, Segment>();

  day(day: string): string {
    const known = this.days.get(day) ?? day;
    this.days.set(day, known);
    return known;
  }

  segment(country: string, os: string, appVersion: string): Segment {
    const name = `${country}\0${os}\0${appVersion}`;
    const known = this.segments.get(name) ?? { country, os, appVersion };
    this.segments.set(name, known);
    return known;
  }
}

/** Iterates over the known devices with these ids. Erased ones are left out. */
export function* loadDevices(
  store: Store,
  applicationId: string,
  ids: Iterable<string>,
  shared: Shared,
): Generator<LoadedDevice> {
  for (const parameter of toParameters(ids)) {
    const rows =
      store.values<Row>(sql`SELECT ${devices.id}, ${devices.acquiredDay}, ${devices.description} ->> 'test',
        ${devices.description} ->> 'country', ${devices.description} ->> 'os', ${devices.description} ->> 'appVersion', ${devices.activeDays},
        ${devices.activeAges}, ${devices.paidDays}, ${devices.adTotals}, ${devices.purchaseTotals}
      FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
    for (const [id, acquiredDay, test, country, os, appVersion, ...counted] of rows) {
      const [activeDays, activeAges, paidDays, ad, purchase] = counted;
      yield {
        ...{ applicationId, acquiredDay: shared.day(acquiredDay), id, test: test === 1 },
        segment: shared.segment(country ?? '', os ?? '', appVersion ?? ''),
        ...{ activeDays, activeAges, paidDays },
        totals: { ad, purchase },
      };
    }
  }
}

/** The histories of devices, by id. */
export function readHistories(store: Store, ids: Iterable<string>): Map<string, DeviceHistory> {
  const found = new Map<string, DeviceHistory>();
  for (const parameter of toParameters(ids)) {
    const rows = store.values<[id: string, steps: string, revenue: string]>(sql`
      SELECT ${devices.id}, ${devices.steps}, ${devices.revenue}
      FROM json_each(${parameter}) AS wanted CROSS JOIN ${devices} ON ${devices.id} = wanted.value`);
    for (const [id, steps, revenue] of rows) found.set(id, { steps, revenue });
  }
  return found;
}

/** A device of a run, with its client's totals, which stay text until an event adds to them. */
export class CountedDevice extends RunningDevice {
  private ad: string | DeviceTotals | null;
  private purchase: string | DeviceTotals | null;
  private hasNewTotals = false;

  constructor(loaded: LoadedDevice, journal: Journal) {
    super(loaded, journal);
    this.ad = loaded.totals.ad;
    this.purchase = loaded.totals.purchase;
  }

  /** Compares a counted event with the running total that the client sent with it. Throws if the stored totals cannot be parsed. */
  addToTotals(event: DeviceEvent): void {
    const { clientTotal } = kindOf(event);
    if (!clientTotal) return;
    const before = this[clientTotal.of];
    const totals = typeof before === 'string' ? readTotals(before) : before;
    this[clientTotal.of] = addToTotals(totals, event, clientTotal);
    this.hasNewTotals = true;
  }

  /** The values to store, given the `history` so far, in the order of `updateDevices`; null if nothing changed. Throws like `toState`. */
  toRow(history: DeviceHistory): ChangedRow | null {
    const { state, isChanged } = this.toState(history);
    if (!isChanged && !this.hasNewTotals) return null;
    const { id, activeDays, activeAges, paidDays, steps, revenue } = state;
    return [id, activeDays, activeAges, paidDays, steps, revenue, toText(this.ad), toText(this.purchase)];
  }
}

const toText = (totals: string | DeviceTotals | null) =>
  totals === null || typeof totals === 'string' ? totals : writeTotals(totals);

export type ChangedRow = [
  id: string,
  activeDays: string,
  activeAges: string,
  paidDays: string,
  steps: string,
  revenue: string,
  ad: string | null,
  purchase: string | null,
];

/**
 * Writes a prepared part, a JSON array of `ChangedRow`s. `payers`: whether their days with a purchase changed. Setting `paid_days` also writes the
 * index `devices_that_paid`, even if the value is unchanged.
 */
export function updateDevices(store: Store, part: number, payers: boolean): void {
  const { activeDays, activeAges, paidDays, steps, revenue, adTotals, purchaseTotals } = devices;
  const paid = payers ? sql`${named(paidDays)} = changed.value ->> 3,` : sql``;
  const rows = sql`(SELECT ${preparedWrites.payload} FROM ${preparedWrites} WHERE ${preparedWrites.part} = ${part})`;
  store.run(sql`UPDATE ${devices} SET ${named(activeDays)} = changed.value ->> 1, ${named(activeAges)} = changed.value ->> 2,
      ${paid} ${named(steps)} = changed.value ->> 4, ${named(revenue)} = changed.value ->> 5,
      ${named(adTotals)} = changed.value ->> 6, ${named(purchaseTotals)} = changed.value ->> 7
    FROM json_each(${rows}) AS changed WHERE ${devices.id} = changed.value ->> 0`);
}
