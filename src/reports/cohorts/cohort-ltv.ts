import * as z from 'zod';
import { type Basis, basisOf } from '#catalogue';
import { currencyCode } from '#http';
import { amountField } from '#lib/money';
import { dayIn } from '#lib/time';
import type { CubeStores } from '#rollup';
import { deviceGroupBy } from '../device-groups.ts';
import { knowsSpendIn } from '../dimensions.ts';
import { hasCosts } from '../engine/cost-scan.ts';
import { DayRates, END_OF_TIME } from '../engine/day-rates.ts';
import { readUnallocatedSpend } from '../engine/unallocated-spend.ts';
import { ALL_PLACED, readUnplacedCosts } from '../engine/unplaced-costs.ts';
import { unconvertedField, unconvertedOf } from '../engine/unrated.ts';
import { checkPeriod, cohortPeriod, filtersOf, netOrGross, type Reported } from '../query.ts';
import { CohortRevenue, RevenueReader } from './cohort-revenue.ts';
import { isOneCohort, ONE_COHORT, rowsOf, tableOf, withoutKey } from './cohort-rows.ts';
import { type CohortQuestion, namesOf, readCohorts } from './cohort-scan.ts';

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
 * whose day is over count, and only the costs of the days on which they were acquired. `totals` are all devices of the period.
 */
export async function reportLtv(stores: CubeStores, application: Reported, query: LtvQuery, now: number) {
  const today = dayIn(application.timezone, now);
  const reporting = query.currency ?? application.currency;
  const basis = basisOf(query.attribution);
  const asked = { ...query, filters: filtersOf(query), today, reporting, basis };
  const read = await readRows(stores, application, asked);
  const { rows, total_rows, unconverted } = read;
  const [totals] = isOneCohort(asked)
    ? rows
    : (await readRows(stores, application, { ...asked, ...ONE_COHORT })).rows;
  const period = { ...asked, applicationId: application.id };
  return {
    data: rows.map(({ key, ...figures }) => ({ ...key, ...figures })),
    total_rows,
    totals: totals
      ? withoutKey(totals)
      : { size: 0, payback_day: null, days: tableOf(query.days, () => NO_DEVICES) },
    currency: reporting,
    basis,
    net: query.net,
    timezone: application.timezone,
    unconverted,
    ...(knowsSpendIn(asked.filters) && hasCosts(namesOf(asked))
      ? await readUnallocatedSpend(stores.DB, period)
      : {}),
  };
}

const NO_DEVICES = { eligible: 0, complete: true, revenue: 0, ltv: null, roas: null };

async function readRows(
  stores: CubeStores,
  application: Reported,
  asked: CohortQuestion & Pick<LtvQuery, 'net'> & { reporting: string; basis: Basis },
) {
  const { reporting } = asked;
  const cohorts = await readCohorts(stores, application.id, asked);
  const rates = new DayRates(stores.DB, {
    teamId: application.teamId,
    reporting,
    from: asked.from,
    // Devices earn revenue on any later day.
    to: END_OF_TIME,
  });
  const net = asked.net ? application : null;
  const names = namesOf(asked);
  const hasSpend = hasCosts(names) && knowsSpendIn(asked.filters);
  const value = new CohortRevenue(cohorts.ranked.length + 1, cohorts.places.numbers, rates);
  // Of the devices that spend is compared with.
  const compared =
    hasSpend && asked.basis === 'paid'
      ? new CohortRevenue(cohorts.ranked.length + 1, cohorts.places.numbers, rates)
      : value;
  const reader = new RevenueReader(cohorts.places, rates, [
    { to: value, of: 'all', net },
    ...(compared === value ? [] : [{ to: compared, of: 'attributed' as const, net }]),
  ]);
  const scan = { ...asked, applicationId: application.id, names };
  await reader.scan(stores, scan, hasSpend);
  const costs = hasSpend ? await readUnplacedCosts(stores.DB, scan) : ALL_PLACED;
  const { activity, places } = cohorts;
  const { numbers } = places;
  const rows = rowsOf(cohorts, asked).map(({ key, values, row }) => {
    const { spend: unstated } =
      names.length === 0 ? costs.ofTotals : values ? costs.ofRow(values) : costs.ofRest;
    const knowsSpend = hasSpend && unstated.length === 0;
    const size = activity.sizes[row] ?? 0;
    const eligible = activity.eligibleByAge(row);
    const curves = {
      ltv: value.curvesOf(row, eligible, false).ltv,
      roas: compared.curvesOf(row, eligible, knowsSpend).roas,
    };
    const dayOf = (number: number) => ({
      eligible: eligible[number] ?? 0,
      complete: eligible[number] === size,
      ...amountField('revenue', value.revenue.of(row, numbers.indexOf(number))),
      ltv: curves.ltv[number] ?? null,
      roas: knowsSpend ? (curves.roas[number] ?? null) : null,
      ...(eligible[number] ? unconvertedField(value.unconvertedOf(row, numbers.indexOf(number))) : {}),
    });
    const isPaidBack = (roas: number | null, age: number) =>
      roas !== null && roas >= 1 && (eligible[age] ?? 0) * 2 >= size;
    const payback = knowsSpend ? curves.roas.findIndex(isPaidBack) : -1;
    return {
      key,
      size,
      payback_day: payback < 0 ? null : payback,
      ...(unstated.length > 0 ? { unstated: [...unstated] } : {}),
      days: tableOf(asked.days, dayOf),
    };
  });
  return { rows, total_rows: cohorts.total, unconverted: unconvertedOf(value.unconverted) };
}
