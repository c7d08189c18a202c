import { dayFromNumber } from '#lib/time';
import { type DeviceFactsRow, deviceDaysOf, type HistoryRow, readFacts, readPage } from './device-pages.ts';
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

/** The devices of a cohort that match a filter, without their histories. Reads all of them at once. */
export function* factsOf(store: Store, cohort: Cohort, filter: DeviceFilter): Generator<CohortFacts> {
  const isWanted = matcherOf(filter);
  for (const day of deviceDaysOf(store, cohort)) {
    const acquiredDay = dayFromNumber(day.day);
    for (let page = 0; page < day.pages; page++) {
      for (const row of readFacts(store, day, page)) if (isWanted(row)) yield toFacts(acquiredDay, row);
    }
  }
}

/**
 * The devices of a cohort that match a filter, in portions. Between these the object can do other work, so a large cohort does not hold up
 * events. The answer may or may not include changes from that work, but has no device twice.
 */
export async function* devicesOf(
  store: Store,
  cohort: Cohort,
  filter: DeviceFilter,
): AsyncGenerator<CohortDevice[]> {
  const isWanted = matcherOf(filter);
  let [portion, read]: [CohortDevice[], number] = [[], 0];
  // Pages that are added meanwhile are read together with the one that their devices come from: see `readPage`.
  for (const day of deviceDaysOf(store, cohort)) {
    const acquiredDay = dayFromNumber(day.day);
    for (let page = 0; page < day.pages; page++) {
      const { facts, histories } = readPage(store, day, page);
      for (const [index, row] of facts.entries()) {
        const [steps, revenue]: HistoryRow = histories[index] ?? ['', ''];
        if (isWanted(row)) portion.push({ ...toFacts(acquiredDay, row), steps, revenue });
      }
      read += facts.length;
      if (read < DEVICES_PER_STEP) continue;
      yield portion;
      [portion, read] = [[], 0];
      await scheduler.wait(0);
    }
  }
  if (portion.length > 0) yield portion;
}
