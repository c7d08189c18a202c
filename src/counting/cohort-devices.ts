import { dayFromNumber } from '#lib/time';
import {
  type DeviceDay,
  type DeviceFactsRow,
  deviceDaysOf,
  type HistoryRow,
  readFacts,
  readPage,
} from './device-pages.ts';
import type { Cohort, DeviceFilter } from './questions.ts';
import type { Store } from './store.ts';

/** The number of devices after which the object does other work. */
const DEVICES_PER_STEP = 2_000;

/** What questions use of a device. Nothing is known of devices for which nothing was counted. */
export type CohortFacts = {
  id: string;
  acquiredDay: string;
  /** Empty for an organic device. */
  creativeId: string;
  /** Empty if unknown. */
  country: string;
  os: string;
  appVersion: string;
  activeAges: string;
  paidDays: string;
  adTotals: string | null;
  purchaseTotals: string | null;
};

export type CohortDevice = CohortFacts & { steps: string; revenue: string };

function toFacts(acquiredDay: string, row: DeviceFactsRow): CohortFacts {
  const [id, creativeId, country, os, appVersion, , activeAges, paidDays, adTotals, purchaseTotals] = row;
  const described = { id, acquiredDay, creativeId, country, os, appVersion };
  return { ...described, activeAges, paidDays, adTotals, purchaseTotals };
}

/** Whether a device matches a filter. */
function matcherOf({ creativeIds, countries, oses, appVersions, attribution }: DeviceFilter) {
  const among = (values: readonly string[] | undefined) => {
    const set = values && new Set(values);
    return (value: string) => set?.has(value) ?? true;
  };
  const wanted = [among(creativeIds), among(countries), among(oses), among(appVersions)] as const;
  return ([, creativeId, country, os, appVersion]: DeviceFactsRow): boolean => {
    if (attribution === 'paid' && creativeId === '') return false;
    if (attribution === 'organic' && creativeId !== '') return false;
    return wanted[0](creativeId) && wanted[1](country) && wanted[2](os) && wanted[3](appVersion);
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
  store: Store,
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
export function factsOf(store: Store, cohort: Cohort, filter: DeviceFilter): AsyncGenerator<CohortFacts[]> {
  const isWanted = matcherOf(filter);
  return inPortions(store, cohort, (day, page, acquiredDay) => {
    const rows = readFacts(store, day, page);
    return { wanted: rows.filter(isWanted).map((row) => toFacts(acquiredDay, row)), all: rows.length };
  });
}

/** The devices of a cohort that match a filter, with their histories. See `inPortions`. */
export function devicesOf(
  store: Store,
  cohort: Cohort,
  filter: DeviceFilter,
): AsyncGenerator<CohortDevice[]> {
  const isWanted = matcherOf(filter);
  return inPortions(store, cohort, (day, page, acquiredDay) => {
    const { facts, histories } = readPage(store, day, page);
    const wanted = facts.flatMap((row, index): CohortDevice[] => {
      const [steps, revenue]: HistoryRow = histories[index] ?? ['', ''];
      return isWanted(row) ? [{ ...toFacts(acquiredDay, row), steps, revenue }] : [];
    });
    return { wanted, all: facts.length };
  });
}
