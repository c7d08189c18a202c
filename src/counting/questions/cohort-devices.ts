import { attributionOf, isSegmentDimension } from '#catalogue';
import { dayFromNumber } from '#lib/time';
import type { DeviceHistory } from '#rollup';
import type { Cohort, DeviceFilter } from '../api-questions.ts';
import { type DeviceDay, deviceDaysOf, readFacts, readPage } from '../devices/device-pages.ts';
import { columnOfDimension, type DeviceFactsRow, historyOf } from '../devices/device-row.ts';
import type { ObjectStore } from '../store.ts';

/** The number of devices after which the object does other work. */
const DEVICES_PER_STEP = 2_000;

/** What questions use of a device. Nothing is known of devices for which nothing was counted. */
export type CohortFacts = {
  id: string;
  acquiredDay: string;
  /** Empty for an organic device. */
  creativeId: string;
  /** The row itself, which has the segment: see `columnOfDimension`. */
  row: DeviceFactsRow;
  activeDays: string;
  activeAges: string;
  paidDays: string;
  adTotals: string | null;
  purchaseTotals: string | null;
};

export type CohortDevice = CohortFacts & DeviceHistory;

function toFacts(acquiredDay: string, row: DeviceFactsRow): CohortFacts {
  const [id, creativeId, activeDays, activeAges, paidDays, adTotals, purchaseTotals] = row;
  return { id, acquiredDay, creativeId, row, activeDays, activeAges, paidDays, adTotals, purchaseTotals };
}

/** Whether a device matches a filter. */
function matcherOf({ creativeIds, segment = {}, attribution }: DeviceFilter) {
  const creatives = creativeIds && new Set(creativeIds);
  const wanted = Object.entries(segment).flatMap(([name, values]) =>
    isSegmentDimension(name) ? [{ at: columnOfDimension(name), values: new Set<unknown>(values) }] : [],
  );
  return (row: DeviceFactsRow): boolean => {
    const creativeId = row[1];
    if (attribution && attributionOf(creativeId) !== attribution) return false;
    return (creatives?.has(creativeId) ?? true) && wanted.every(({ at, values }) => values.has(row[at]));
  };
}

/** What is read of the devices of a page, and the number of devices that it has. */
type ReadPage<Device> = (
  day: DeviceDay,
  page: number,
  acquiredDay: string,
) => { wanted: Device[]; all: number };

/**
 * The devices of a cohort, in portions. Between these the object can do other work, so a large cohort does not hold up events. The answer
 * may or may not include changes from that work, but has no device twice.
 */
async function* inPortions<Device>(
  store: ObjectStore,
  cohort: Cohort,
  read: ReadPage<Device>,
): AsyncGenerator<Device[]> {
  let [portion, devices]: [Device[], number] = [[], 0];
  // Pages that are added meanwhile are read together with the one that their devices come from: see `readPage`.
  for (const day of deviceDaysOf(store, cohort)) {
    const acquiredDay = dayFromNumber(day.day);
    for (let page = 0; page < day.pages; page++) {
      const { wanted, all } = read(day, page, acquiredDay);
      for (const device of wanted) portion.push(device);
      devices += all;
      if (devices < DEVICES_PER_STEP) continue;
      yield portion;
      [portion, devices] = [[], 0];
      await scheduler.wait(0);
    }
  }
  if (portion.length > 0) yield portion;
}

/** The devices of a cohort that match a filter, without their histories. See `inPortions`. */
export function factsOf(
  store: ObjectStore,
  cohort: Cohort,
  filter: DeviceFilter,
): AsyncGenerator<CohortFacts[]> {
  const isWanted = matcherOf(filter);
  return inPortions(store, cohort, (day, page, acquiredDay) => {
    const rows = readFacts(store, day, page);
    return { wanted: rows.filter(isWanted).map((row) => toFacts(acquiredDay, row)), all: rows.length };
  });
}

/** The devices of a cohort that match a filter, with their histories. See `inPortions`. */
export function devicesOf(
  store: ObjectStore,
  cohort: Cohort,
  filter: DeviceFilter,
): AsyncGenerator<CohortDevice[]> {
  const isWanted = matcherOf(filter);
  return inPortions(store, cohort, (day, page, acquiredDay) => {
    const { facts, histories } = readPage(store, day, page);
    const wanted = facts.flatMap((row, index): CohortDevice[] =>
      isWanted(row) ? [{ ...toFacts(acquiredDay, row), ...historyOf(histories[index]) }] : [],
    );
    return { wanted, all: facts.length };
  });
}
