import * as z from 'zod';
import { askPurchases, type PurchasesAnswer } from '#counting';
import { database } from '#db';
import { currencyCode, optionalDay, wholeNumber } from '#http';
import { priorsFrom } from '#lib/statistics/priors';
import { dayIn } from '#lib/time';
import { counterGroup, deviceGroupBy, labelGroups } from '../device-groups.ts';
import { otherColumns } from '../dimensions.ts';
import { deviceFilterOf } from '../payers.ts';
import { checkPeriod, cohortPeriod, filtersOf, netOrGross, period, type Reported } from '../query.ts';
import { boundsWithin, type CohortKey } from './cohort-rows.ts';
import { predictCohort, purchasesOf } from './predict-cohort.ts';
import { readRates } from './rates.ts';

const MAX_HORIZON_DAYS = 1_095;
const MAX_FITS = 50;

export const PredictedLtvQuery = z
  .object({
    ...period,
    cohort: cohortPeriod.cohort,
    group_by: deviceGroupBy,
    horizon_days: wholeNumber(1, MAX_HORIZON_DAYS, 'a whole number of days').default(90),
    limit: wholeNumber(1, MAX_FITS).default(20),
    currency: currencyCode().optional(),
    net: netOrGross(),
    as_of: optionalDay(),
  })
  .superRefine(checkPeriod)
  .refine(({ as_of, from }) => as_of === undefined || as_of >= from, {
    path: ['as_of'],
    error: 'must not be before from',
  });
export type PredictedLtvQuery = z.infer<typeof PredictedLtvQuery>;

type CohortPurchases = { columns: CohortKey; parts: PurchasesAnswer };

/**
 * Predicts what each cohort's devices will bring in the next `horizon_days` days, from purchases and from ads: see `predictCohort`. With
 * `as_of`, everything is as if that day were today: nothing later is used, the exchange rates included. With too little data, a prediction is
 * null and a reason is given. Groups beyond those that the counters count for themselves are in the row `other`.
 */
export async function reportPredictedLtv(
  env: Env,
  application: Reported,
  query: PredictedLtvQuery,
  now: number,
) {
  const { from, cohort, group_by: group, horizon_days, limit } = query;
  const db = database(env.DB);
  const present = dayIn(application.timezone, now);
  const today = query.as_of !== undefined && query.as_of < present ? query.as_of : present;
  const to = query.to < today ? query.to : today;
  const currency = query.currency ?? application.currency;
  const rates = await readRates(env.DB, application, { from, to, currency, day: today });
  const net = query.net ? { storeFeeBasisPoints: application.storeFeeBasisPoints } : null;
  const answer = await askPurchases(env, application, {
    cohort: { from, to },
    filter: await deviceFilterOf(env.DB, application.id, filtersOf(query)),
    groupBy: counterGroup(group),
    cohortBy: cohort,
    today,
    isPast: today < present,
    rates,
    net,
  });
  const bounds = boundsWithin(cohort, { from, to });
  const cohorts: (CohortPurchases & { from: string; size: number })[] = [];
  for (const [part, own] of Map.groupBy(answer, (one) => one.cohort)) {
    const bound = bounds.get(part) ?? { cohort_from: from, cohort_to: to };
    for (const { columns, parts } of await labelGroups(db, application.id, group, own)) {
      cohorts.push({
        columns: { ...bound, ...columns },
        parts,
        from: bound.cohort_from,
        size: sizeOf(parts),
      });
    }
  }
  // The latest cohorts, and the largest groups of each, in order of time.
  cohorts.sort((left, right) =>
    left.from === right.from ? right.size - left.size : left.from < right.from ? 1 : -1,
  );
  const shown: CohortPurchases[] = cohorts
    .slice(0, limit)
    .sort((left, right) => Number(left.from > right.from) - Number(left.from < right.from));
  const rest = [
    ...cohorts.slice(limit).flatMap(({ parts }) => parts),
    ...answer.filter(({ key }) => key === null),
  ];
  if (rest.length > 0) {
    shown.push({
      columns: { cohort_from: from, cohort_to: to, ...(group ? otherColumns(group) : { is_other: true }) },
      parts: rest,
    });
  }
  let known: ReturnType<typeof priorsFrom> | undefined;
  const priors = () => {
    if (known === undefined) known = priorsFrom(purchasesOf(answer));
    return known;
  };
  return {
    data: shown.map(({ columns, parts }) => ({
      ...columns,
      ...predictCohort(parts, horizon_days, net, priors),
    })),
    total_rows: cohorts.length,
    horizon_days,
    as_of: today,
    currency,
    net: query.net,
    rate_day: today,
    timezone: application.timezone,
  };
}

const sizeOf = (parts: PurchasesAnswer) => parts.reduce((sum, { size }) => sum + size, 0);
