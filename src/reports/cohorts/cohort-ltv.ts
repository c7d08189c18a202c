import * as z from 'zod';
import { currencyCode } from '#http';
import { amountField } from '#lib/money';
import { dayIn } from '#lib/time';
import type { CubeStores } from '#rollup';
import { deviceGroupBy } from '../device-groups.ts';
import { knowsSpendIn } from '../dimensions.ts';
import { hasCosts } from '../engine/cost-scan.ts';
import { DayRates, END_OF_TIME } from '../engine/day-rates.ts';
import { readUnallocatedSpend } from '../engine/unallocated-spend.ts';
import { unconvertedField, unconvertedOf } from '../engine/unrated.ts';
import { checkPeriod, cohortPeriod, filtersOf, netOrGross, type Reported } from '../query.ts';
import { CohortRevenue, RevenueReader } from './cohort-revenue.ts';
import { rowsOf, tableOf } from './cohort-rows.ts';
import { namesOf, readCohorts } from './cohort-scan.ts';

export const LtvQuery = z
  .object({
    ...cohortPeriod,
    group_by: deviceGroupBy,
    currency: currencyCode().optional(),
    net: netOrGross(),
  })
  .superRefine(checkPeriod);
export type LtvQuery = z.infer<typeof LtvQuery>;

/**
 * The lifetime-value report: for each cohort, the revenue by day N per device and relative to spend. For each day up to N, only the devices
 * whose day is over count, and only the costs of the days on which they were acquired.
 */
export async function reportLtv(stores: CubeStores, application: Reported, query: LtvQuery, now: number) {
  const today = dayIn(application.timezone, now);
  const reporting = query.currency ?? application.currency;
  const asked = { ...query, filters: filtersOf(query), today };
  const cohorts = await readCohorts(stores, application.id, asked);
  const rates = new DayRates(stores.DB, {
    teamId: application.teamId,
    reporting,
    from: query.from,
    // Devices earn revenue on any later day.
    to: END_OF_TIME,
  });
  const net = query.net ? application : null;
  const names = namesOf(asked);
  const hasSpend = hasCosts(names) && knowsSpendIn(asked.filters);
  const value = new CohortRevenue(cohorts.ranked.length + 1, cohorts.places.numbers, rates);
  const reader = new RevenueReader(cohorts.places, rates, [{ to: value, of: 'all', net }]);
  const scan = { ...asked, applicationId: application.id, names, reporting };
  await reader.scan(stores, scan, hasSpend);
  const { activity, places } = cohorts;
  const { numbers } = places;
  const data = rowsOf(cohorts, asked).map(({ key, row }) => {
    const size = activity.sizes[row] ?? 0;
    const eligible = activity.eligibleByAge(row);
    const curves = value.curvesOf(row, eligible, hasSpend);
    const dayOf = (number: number) => ({
      eligible: eligible[number] ?? 0,
      complete: eligible[number] === size,
      ...amountField('revenue', value.revenue.of(row, numbers.indexOf(number))),
      ltv: curves.ltv[number] ?? null,
      roas: curves.roas[number] ?? null,
      ...(eligible[number] ? unconvertedField(value.unconvertedOf(row, numbers.indexOf(number))) : {}),
    });
    const isPaidBack = (roas: number | null, age: number) =>
      roas !== null && roas >= 1 && (eligible[age] ?? 0) * 2 >= size;
    const payback = hasSpend ? curves.roas.findIndex(isPaidBack) : -1;
    return {
      ...key,
      size,
      payback_day: payback < 0 ? null : payback,
      days: tableOf(query.days, dayOf),
    };
  });
  return {
    data,
    total_rows: cohorts.total,
    currency: reporting,
    net: query.net,
    timezone: application.timezone,
    unconverted: unconvertedOf(value.unconverted),
    ...(hasSpend ? await readUnallocatedSpend(stores.DB, scan) : {}),
  };
}
