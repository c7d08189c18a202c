import { PART_OF } from '#lib/calendar';
import { readRuns } from '#lib/collections/day-set';
import { daysBetween } from '#lib/time';
import { REVENUE_DAYS, readRevenue } from '#rollup';
import type { PurchasesAnswer, PurchasesQuestion } from '../api-questions.ts';
import { queryCounters } from '../query-counters.ts';
import type { CounterBindings, ShardedApplication } from '../shards.ts';
import type { ObjectStore } from '../store.ts';
import { Cells } from './cells.ts';
import { type CohortDevice, devicesOf } from './cohort-devices.ts';
import { keyFor, largestGroups } from './largest-groups.ts';
import { type Earnings, earnedOf } from './outcomes.ts';

const NANOS = 1e9;
/** Mean values are distinguished to 1 %: their logarithms are put into bins of this width. */
const VALUE_BIN = 0.01;
/** Days are rounded to at most this many; beyond that, nothing is rounded further. */
const MAX_ROUNDED_DAYS = 512;
/** Between two roundings there may be this many times as many cells. */
const SLACK = 4;

const TABLES = ['histories', 'spending', 'firsts', 'waiting', 'ages'] as const;
type TableName = (typeof TABLES)[number];
/** Amounts are whole billionths until they are answered: their sums don't depend on the order of devices, on which the fit would depend too. */
type PurchaseGroup = Pick<PurchasesAnswer[number], 'cohort' | 'key'> & ReturnType<typeof emptyGroup>;

/** See `CounterApi.purchases`. Reads the row of every device in the cohort, but none of their events. */
export async function countPurchases(
  store: ObjectStore,
  question: PurchasesQuestion,
): Promise<PurchasesAnswer> {
  const { cohort, filter, groupBy, cohortBy, maxCells } = question;
  const groups = new Map<string, PurchaseGroup>();
  const keyOf = keyFor(groupBy);
  const hasRow = await largestGroups(store, question);
  let days = 1;
  const isOver = (limit: number) =>
    [...groups.values()].reduce((sum, group) => sum + cellsOf(group), 0) > limit && days < MAX_ROUNDED_DAYS;
  const round = () => {
    days *= 2;
    for (const group of groups.values()) roundCells(group, days);
  };
  for await (const page of devicesOf(store, cohort, filter)) {
    for (const device of page) {
      // Its install was not counted yet.
      if (device.activeAges === '') continue;
      const part = PART_OF[cohortBy](device.acquiredDay);
      const ownKey = keyOf(device);
      const key = hasRow(part, ownKey) ? ownKey : null;
      const names = key === null ? { cohort: '', key } : { cohort: part, key };
      const name = JSON.stringify([names.cohort, key]);
      let group = groups.get(name);
      if (!group) {
        group = { ...names, ...emptyGroup() };
        groups.set(name, group);
      }
      addDevice(group, device, question);
    }
    while (isOver(SLACK * maxCells)) round();
  }
  while (isOver(maxCells)) round();
  return [...groups.values()].map((group) => toAnswer(group, question));
}

function toAnswer(
  { revenue, active, firstValues, earnings, ...group }: PurchaseGroup,
  { rates, net }: PurchasesQuestion,
): PurchasesAnswer[number] {
  const currencies = [...revenue].sort(([left], [right]) => (left < right ? -1 : 1));
  const total = (of: (earned: Earnings) => number) =>
    currencies.reduce((sum, [currency, earned]) => sum + (of(earned) / NANOS) * (rates[currency] ?? 0), 0);
  return {
    ...group,
    purchaseRevenue: total(({ purchase }) => purchase),
    adRevenue: total(({ ad }) => ad),
    returnedRevenue: total(({ returned }) => returned),
    unconverted: Object.fromEntries(
      currencies.flatMap(([currency, earned]) =>
        rates[currency] === undefined ? [[currency, earnedOf(earned, net)]] : [],
      ),
    ),
    active: Float64Array.from(active, (count) => count ?? 0),
    histories: group.histories.toArray([1, NANOS]),
    spending: group.spending.toArray([1, NANOS]),
    firsts: group.firsts.toArray([1]),
    waiting: group.waiting.toArray([1]),
    ages: group.ages.toArray([1]),
    firstValues: {
      count: firstValues.count,
      sum: firstValues.sum / NANOS,
      squares: firstValues.squares / NANOS ** 2,
    },
    earnings: {
      ...earnings,
      a: earnings.a / NANOS,
      na: earnings.na / NANOS,
      aa: earnings.aa / NANOS ** 2,
    },
  };
}

const emptyGroup = () => ({
  ...{ size: 0, payers: 0 },
  ...{ unvaluedFirsts: 0, unvaluedRepeats: 0, unvaluedDays: 0 },
  firstValues: { count: 0, sum: 0, squares: 0 },
  earnings: { n: 0, a: 0, nn: 0, na: 0, aa: 0 },
  revenue: new Map<string, Earnings>(),
  active: [] as number[],
  ...(Object.fromEntries(TABLES.map((name) => [name, new Cells()])) as Record<TableName, Cells>),
});

const cellsOf = (group: PurchaseGroup) => TABLES.reduce((sum, name) => sum + group[name].size, 0);

/** A day's band is stored only as a whole, so the revenue of a band that was not over on `today` is left out, unless `today` is the last known day. */
function addDevice(group: PurchaseGroup, device: CohortDevice, question: PurchasesQuestion): void {
  const { today, isPast, rates } = question;
  const age = Math.max(0, daysBetween(device.acquiredDay, today));
  const known = isPast ? (REVENUE_DAYS.findLast((day) => day <= age) ?? -1) : Number.POSITIVE_INFINITY;
  const paid = daysUntil(device.paidDays, isPast ? age : Number.POSITIVE_INFINITY);
  const bands = bandsOf(device, rates, known, group.revenue);
  group.size++;
  group.ages.add([age], [1]);
  addActivity(group, device, { age, known, isPast, ad: bands.reduce((sum, { ad }) => sum + ad, 0) });
  const [first] = paid;
  if (first === undefined) {
    group.waiting.add([age], [1]);
    return;
  }
  group.payers++;
  // The models would value purchases that cannot be converted at the mean of all others.
  if (bands.some(({ unrated }) => unrated > 0) && bands.every(({ purchase }) => purchase === 0)) return;
  group.firsts.add([first], [1]);
  // The purchases in one band have their mean value, as far as they are known.
  let [valued, value] = [0, 0];
  for (const { from, to, purchase } of bands) {
    const inside = paid.filter((day) => day >= from && day <= to).length;
    if (inside === 0) continue;
    const mean = Math.round(purchase / inside);
    const repeats = first >= from && first <= to ? inside - 1 : inside;
    valued += repeats;
    value += repeats * mean;
    if (repeats === inside) continue;
    group.firstValues.count++;
    group.firstValues.sum += mean;
    group.firstValues.squares += mean ** 2;
  }
  if (first > known) group.unvaluedFirsts++;
  group.unvaluedRepeats += paid.slice(1).filter((day) => day > known).length;
  const last = paid.at(-1) ?? first;
  const history = [paid.length - 1, last - first, Math.max(last, age) - first, valued];
  group.histories.add(history, [1, value]);
  const mean = valued === 0 ? 0 : Math.round(value / valued);
  if (mean === 0) return;
  group.spending.add([valued, Math.round(Math.log(mean / NANOS) / VALUE_BIN)], [1, mean]);
}

function addActivity(
  group: PurchaseGroup,
  device: CohortDevice,
  { age, known, isPast, ad }: { age: number; known: number; isPast: boolean; ad: number },
): void {
  let n = 0;
  for (const [from, to] of readRuns(device.activeAges)) {
    for (let day = Math.max(0, from); day <= to; day++) {
      if (isPast && day > age) break;
      if (day < age) group.active[day] = (group.active[day] ?? 0) + 1;
      if (day <= known) n++;
      else group.unvaluedDays++;
    }
  }
  const { earnings } = group;
  earnings.n += n;
  earnings.a += ad;
  earnings.nn += n * n;
  earnings.na += n * ad;
  earnings.aa += ad * ad;
}

/**
 * A device's known revenue by band, in billionths of the reporting currency, and the billionths of purchases that have no rate. The last band has
 * no end. What the device earned is added to the totals by currency, too.
 */
function bandsOf(
  device: CohortDevice,
  rates: Record<string, number>,
  known: number,
  totals: PurchaseGroup['revenue'],
): { from: number; to: number; ad: number; purchase: number; unrated: number }[] {
  const found = [...REVENUE_DAYS, Number.POSITIVE_INFINITY].map((to, band) => ({
    ...{ from: (REVENUE_DAYS[band - 1] ?? -1) + 1, to, ad: 0, purchase: 0, unrated: 0 },
  }));
  const bands = found.filter(({ to }) => to <= known);
  for (const { currency, bands: earned } of readRevenue(device.revenue)) {
    const rate = rates[currency];
    for (const [index, band] of bands.entries()) {
      const own = earned[index];
      if (!own) continue;
      const total = totals.get(currency) ?? { ad: 0, purchase: 0, returned: 0 };
      total.ad += own.ad;
      total.purchase += own.purchase;
      total.returned += own.returned;
      totals.set(currency, total);
      if (rate === undefined) {
        band.unrated += own.purchase;
        continue;
      }
      band.ad += Math.round(own.ad * rate);
      band.purchase += Math.round(own.purchase * rate);
    }
  }
  return bands;
}

/** The days with a purchase up to `last`, each once. Anything before the acquisition is on day 0. */
function daysUntil(text: string, last: number): number[] {
  const days = new Set<number>();
  for (const [from, to] of readRuns(text)) {
    for (let day = from; day <= to && day <= last; day++) days.add(Math.max(0, day));
  }
  return [...days].sort((left, right) => left - right);
}

/** Rounds times to the middle of so many days, and values in the same measure. Nothing is moved to or from day 0 of first purchases. */
function roundCells(group: PurchaseGroup, days: number): void {
  const round = (time: number) => Math.floor(time / days) * days + (days - 1) / 2;
  group.histories.rename(([x = 0, lastAt = 0, age = 0, valued = 0]) => [
    x,
    x > 0 ? Math.min(round(lastAt), round(age)) : 0,
    round(age),
    valued,
  ]);
  group.spending.rename(([x = 0, bin = 0]) => [x, Math.round(bin / days) * days]);
  group.firsts.rename(([day = 0]) => [day === 0 ? 0 : 1 + round(day - 1)]);
  for (const name of ['waiting', 'ages'] as const) group[name].rename(([age = 0]) => [round(age)]);
}

/** Over all counters of an application. */
const MAX_CELLS = 20_000;
/** Of one counter. All other groups are counted together. */
const MAX_GROUPS = 500;

/**
 * Asks all counters of an application; a group may be in the answers of several. Devices of groups without a row of their own are together in
 * groups with the key null.
 */
export async function askPurchases(
  env: CounterBindings,
  application: ShardedApplication,
  question: Omit<PurchasesQuestion, 'maxCells' | 'maxGroups'>,
): Promise<PurchasesAnswer> {
  const maxCells = Math.floor(MAX_CELLS / application.shards);
  const answers = await queryCounters(env, application, (counter) =>
    counter.purchases({ ...question, maxCells, maxGroups: MAX_GROUPS }),
  );
  return answers.flat();
}
