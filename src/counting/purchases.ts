import { PART_OF } from '#lib/calendar';
import { daysBetween } from '#lib/time';
import { readRevenue } from '#rollup';
import { type CohortDevice, devicesOf } from './cohort-devices.ts';
import { keyFor } from './funnel.ts';
import { type Bindings, queryCounters, type Sharded } from './query-counters.ts';
import type { PurchasesAnswer, PurchasesQuestion } from './questions.ts';
import { readRuns } from './runs.ts';
import type { Store } from './store.ts';

const NANOS = 1e9;
/** Mean values are distinguished to 1 %: their logarithms are put into bins of this width. */
const VALUE_BIN = 0.01;
/** Days are rounded to at most this many; beyond that, nothing is rounded further. */
const MAX_ROUNDED_DAYS = 512;

type History = { x: number; lastAt: number; age: number; devices: number; means: number };
type Group = Omit<PurchasesAnswer[number], 'histories' | 'spending' | 'unconverted'> & {
  unconverted: Set<string>;
  histories: Map<string, History>;
  spending: Map<string, { x: number; mean: number; devices: number }>;
};

/** See `CounterApi.purchases`. Reads the row of every device in the cohort, but none of their events. */
export async function countPurchases(store: Store, question: PurchasesQuestion): Promise<PurchasesAnswer> {
  const { cohort, filter, groupBy, cohortBy, today, rates, maxHistories } = question;
  const groups = new Map<string, Group>();
  const keyOf = keyFor(groupBy);
  for await (const page of devicesOf(store, cohort, filter)) {
    for (const device of page) {
      // Its install was not counted yet.
      if (device.activeAges === '') continue;
      const names = { cohort: PART_OF[cohortBy](device.acquiredDay), key: keyOf(device) };
      const name = `${names.cohort}/${names.key}`;
      let group = groups.get(name);
      if (!group) {
        group = { ...names, ...emptyGroup() };
        groups.set(name, group);
      }
      addDevice(group, device, today, rates);
    }
  }
  const all = [...groups.values()];
  const count = () => all.reduce((sum, { histories }) => sum + histories.size, 0);
  for (let days = 2; count() > maxHistories && days <= MAX_ROUNDED_DAYS; days *= 2) {
    for (const group of all) group.histories = roundHistories(group.histories, days);
  }
  return all.map(({ unconverted, histories, spending, ...group }) => ({
    ...group,
    unconverted: [...unconverted],
    histories: Float64Array.from(
      [...histories.values()].flatMap(({ x, lastAt, age, devices, means }) => [
        x,
        lastAt,
        age,
        devices,
        means,
      ]),
    ),
    spending: Float64Array.from([...spending.values()].flatMap(({ x, mean, devices }) => [x, mean, devices])),
  }));
}

const emptyGroup = () => ({
  size: 0,
  payers: 0,
  revenue: 0,
  unconverted: new Set<string>(),
  histories: new Map(),
  spending: new Map(),
});

function addDevice(
  group: Group,
  device: CohortDevice,
  today: string,
  rates: PurchasesQuestion['rates'],
): void {
  const { days: x, last } = paidDaysOf(device.paidDays);
  let revenue = 0;
  for (const { currency, bands } of x > 0 ? readRevenue(device.revenue) : []) {
    const nanos = bands.reduce((sum, { purchase }) => sum + purchase, 0);
    const rate = rates[currency];
    if (nanos === 0) continue;
    if (rate === undefined) group.unconverted.add(currency);
    else revenue += (nanos / NANOS) * rate;
  }
  const mean = x > 0 ? revenue / x : 0;
  group.size++;
  if (x > 0) group.payers++;
  group.revenue += revenue;
  // A day counts from its middle, so that a purchase on the first or last day is neither at 0 nor in the future.
  const age = Math.max(last, daysBetween(device.acquiredDay, today)) + 0.5;
  const history = { x, lastAt: x > 0 ? last + 0.5 : 0, age, devices: 1, means: mean };
  addHistory(group.histories, history);
  if (mean === 0) return;
  const bin = Math.round(Math.log(mean) / VALUE_BIN);
  const key = `${x}/${bin}`;
  const known = group.spending.get(key);
  if (known) known.devices++;
  else group.spending.set(key, { x, mean: Math.exp(bin * VALUE_BIN), devices: 1 });
}

/** The number of days with a purchase, and the last of them. Anything before the acquisition counts as day 0. */
function paidDaysOf(text: string): { days: number; last: number } {
  let [days, last] = [0, 0];
  let isEarly = false;
  for (const [from, to] of readRuns(text)) {
    if (from < 0) isEarly = true;
    if (to < 0) continue;
    if (from <= 0) isEarly = false;
    days += to - Math.max(0, from) + 1;
    last = to;
  }
  return { days: days + (isEarly ? 1 : 0), last };
}

function addHistory(histories: Map<string, History>, own: History): void {
  const key = `${own.x}/${own.lastAt}/${own.age}`;
  const known = histories.get(key);
  if (!known) {
    histories.set(key, own);
    return;
  }
  known.devices += own.devices;
  known.means += own.means;
}

function roundHistories(histories: ReadonlyMap<string, History>, days: number): Map<string, History> {
  const rounded = new Map<string, History>();
  const round = (time: number) => Math.floor(time / days) * days + days / 2;
  for (const own of histories.values()) {
    addHistory(rounded, { ...own, lastAt: own.x > 0 ? round(own.lastAt) : 0, age: round(own.age) });
  }
  return rounded;
}

/** Over all counters of an application. */
const MAX_HISTORIES = 10_000;

/** Asks all counters of an application; a group may be in the answers of several. */
export async function askPurchases(
  env: Bindings,
  application: Sharded,
  question: Omit<PurchasesQuestion, 'maxHistories'>,
): Promise<PurchasesAnswer> {
  const maxHistories = Math.floor(MAX_HISTORIES / application.shards);
  const answers = await queryCounters<PurchasesAnswer>(
    env,
    application,
    async (counter) => await counter.purchases({ ...question, maxHistories }),
  );
  return answers.flat();
}
