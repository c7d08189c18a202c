import { readRuns } from '#lib/collections/day-set';
import { EMPTY_SAMPLE, joinSamples } from '#lib/statistics/compare';
import { daysBetween } from '#lib/time';
import { type Earned, REVENUE_DAYS, readRevenue, type StoredRevenue } from '#rollup';
import type { NetTerms, OutcomesAnswer, OutcomesQuestion } from '../api-questions.ts';
import { queryCounters } from '../query-counters.ts';
import type { CounterBindings, ShardedApplication } from '../shards.ts';
import type { ObjectStore } from '../store.ts';
import { devicesOf } from './cohort-devices.ts';

const NANOS = 1e9;

/** See `CounterApi.outcomes`. Reads the row of every device in the cohort, but none of their events. */
export async function countOutcomes(store: ObjectStore, question: OutcomesQuestion): Promise<OutcomesAnswer> {
  const { cohort, filter, today, rates, net } = question;
  const days: OutcomesAnswer['days'] = question.days.map((day) => ({
    day,
    eligible: 0,
    active: 0,
    payers: 0,
    revenue: REVENUE_DAYS.includes(day) ? EMPTY_SAMPLE : null,
    unconverted: {},
  }));
  let size = 0;
  for await (const page of devicesOf(store, cohort, filter)) {
    for (const device of page) {
      // Its install was not counted yet.
      if (device.activeAges === '') continue;
      size++;
      const ages = readRuns(device.activeAges);
      const firstPaid = readRuns(device.paidDays)[0]?.[0] ?? Number.POSITIVE_INFINITY;
      const { earned, unrated } = earnedBy(device.revenue, rates, net);
      const over = daysBetween(device.acquiredDay, today);
      for (const own of days) {
        if (own.day >= over) continue;
        own.eligible++;
        if (ages.some(([first, last]) => first <= own.day && own.day <= last)) own.active++;
        if (firstPaid <= own.day) own.payers++;
        if (own.revenue) {
          const bands = REVENUE_DAYS.indexOf(own.day) + 1;
          const mean = sumOf(earned.slice(0, bands));
          for (const [currency, amounts] of unrated) {
            addTo(own.unconverted, currency, sumOf(amounts.slice(0, bands)));
          }
          own.revenue = joinSamples(own.revenue, { size: 1, mean, squares: 0 });
        }
      }
    }
  }
  return { size, days };
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

function addTo(sums: Record<string, number>, currency: string, amount: number): void {
  if (amount !== 0) sums[currency] = (sums[currency] ?? 0) + amount;
}

/** In nanos. */
export type Earnings = Earned['bands'][number];

/** What a device earned, in nanos. Refunds may be of another currency than their purchase, so it may be below 0. */
export function earnedOf({ ad, purchase, returned }: Earnings, net: NetTerms | null): number {
  if (net === null) return ad + purchase;
  return ad + (purchase - returned) * (1 - net.storeFeeBasisPoints / 10_000);
}

/** By age band: what a device earned in units of the reporting currency, and the nanos of each currency without a rate. */
function earnedBy(stored: StoredRevenue, rates: Record<string, number>, net: NetTerms | null) {
  const noBands = () => [...REVENUE_DAYS, Number.POSITIVE_INFINITY].map(() => 0);
  const earned = noBands();
  const unrated = new Map<string, number[]>();
  for (const { currency, bands } of readRevenue(stored)) {
    const rate = rates[currency];
    const own = rate === undefined ? noBands() : earned;
    if (rate === undefined) unrated.set(currency, own);
    for (const [band, sums] of bands.entries()) {
      // A band without revenue is a hole in the array.
      if (!sums) continue;
      const nanos = earnedOf(sums, net);
      own[band] = (own[band] ?? 0) + (rate === undefined ? nanos : (nanos / NANOS) * rate);
    }
  }
  return { earned, unrated };
}

/** Asks all counters of an application and merges their answers. */
export async function askOutcomes(
  env: CounterBindings,
  application: ShardedApplication,
  question: OutcomesQuestion,
): Promise<OutcomesAnswer> {
  const answers = await queryCounters(env, application, (counter) => counter.outcomes(question));
  return answers.reduce((left, right) => ({
    size: left.size + right.size,
    days: left.days.map((own, index) => {
      const other = right.days[index];
      if (!other) return own;
      const unconverted = { ...own.unconverted };
      for (const [currency, amount] of Object.entries(other.unconverted)) {
        addTo(unconverted, currency, amount);
      }
      return {
        day: own.day,
        eligible: own.eligible + other.eligible,
        active: own.active + other.active,
        payers: own.payers + other.payers,
        revenue: own.revenue && other.revenue && joinSamples(own.revenue, other.revenue),
        unconverted,
      };
    }),
  }));
}
