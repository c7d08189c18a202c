import { EMPTY_SAMPLE, joinSamples } from '#lib/statistics/compare';
import { daysBetween } from '#lib/time';
import { REVENUE_DAYS, readRevenue } from '#rollup';
import { devicesOf } from './cohort-devices.ts';
import { type Bindings, queryCounters, type Sharded } from './query-counters.ts';
import type { OutcomesAnswer, OutcomesQuestion } from './questions.ts';
import { readRuns } from './runs.ts';
import type { Store } from './store.ts';

const NANOS = 1e9;

/** See `CounterApi.outcomes`. Reads the row of every device in the cohort, but none of their events. */
export async function countOutcomes(store: Store, question: OutcomesQuestion): Promise<OutcomesAnswer> {
  const { cohort, filter, today, rates } = question;
  const days: OutcomesAnswer['days'] = question.days.map((day) => ({
    day,
    eligible: 0,
    active: 0,
    payers: 0,
    revenue: REVENUE_DAYS.includes(day) ? EMPTY_SAMPLE : null,
  }));
  const unconverted = new Set<string>();
  let size = 0;
  for await (const page of devicesOf(store, cohort, filter)) {
    for (const device of page) {
      // Its install was not counted yet.
      if (device.activeAges === '') continue;
      size++;
      const ages = readRuns(device.activeAges);
      const firstPaid = readRuns(device.paidDays)[0]?.[0] ?? Number.POSITIVE_INFINITY;
      const earned = earnedBy(device.revenue, rates, unconverted);
      const over = daysBetween(device.acquiredDay, today);
      for (const own of days) {
        if (own.day >= over) continue;
        own.eligible++;
        if (ages.some(([first, last]) => first <= own.day && own.day <= last)) own.active++;
        if (firstPaid <= own.day) own.payers++;
        if (own.revenue) {
          const mean = earned
            .slice(0, REVENUE_DAYS.indexOf(own.day) + 1)
            .reduce((sum, band) => sum + band, 0);
          own.revenue = joinSamples(own.revenue, { size: 1, mean, squares: 0 });
        }
      }
    }
  }
  return { size, days, unconverted: [...unconverted] };
}

/** By age band, in units of the reporting currency. */
function earnedBy(text: string, rates: Record<string, number>, unconverted: Set<string>): number[] {
  const earned = [...REVENUE_DAYS, Number.POSITIVE_INFINITY].map(() => 0);
  for (const { currency, bands } of readRevenue(text)) {
    const rate = rates[currency];
    if (rate === undefined) {
      unconverted.add(currency);
      continue;
    }
    for (const [band, sums] of bands.entries()) {
      // A band without revenue is a hole in the array.
      if (sums) earned[band] = (earned[band] ?? 0) + ((sums.ad + sums.purchase) / NANOS) * rate;
    }
  }
  return earned;
}

/** Asks all counters of an application and merges their answers. */
export async function askOutcomes(
  env: Bindings,
  application: Sharded,
  question: OutcomesQuestion,
): Promise<OutcomesAnswer> {
  const answers = await queryCounters<OutcomesAnswer>(
    env,
    application,
    async (counter) => await counter.outcomes(question),
  );
  return answers.reduce((left, right) => ({
    size: left.size + right.size,
    days: left.days.map((own, index) => {
      const other = right.days[index];
      if (!other) return own;
      return {
        day: own.day,
        eligible: own.eligible + other.eligible,
        active: own.active + other.active,
        payers: own.payers + other.payers,
        revenue: own.revenue && other.revenue && joinSamples(own.revenue, other.revenue),
      };
    }),
    unconverted: [...new Set([...left.unconverted, ...right.unconverted])],
  }));
}
