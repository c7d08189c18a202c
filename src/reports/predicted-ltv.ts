import * as z from 'zod';
import { askPurchases, type PurchasesAnswer } from '#counting';
import { database } from '#db';
import { currencyCode } from '#http';
import { daysOf, PART_OF } from '#lib/calendar';
import { type Prediction, predictRevenue } from '#lib/statistics/predict-revenue';
import { dayIn } from '#lib/time';
import type { CohortKey } from './cohorts.ts';
import { counterGroup, deviceGroupBy, labelGroups, otherColumns } from './device-groups.ts';
import { deviceFilterOf } from './payers.ts';
import { checkPeriod, cohortPeriod, filtersOf, period, type Reported } from './query.ts';
import { readRates } from './rates.ts';

const MAX_HORIZON_DAYS = 1_095;
const horizonError = `must be a whole number of days from 1 to ${MAX_HORIZON_DAYS}`;
const MAX_FITS = 50;
const limitError = `must be a whole number from 1 to ${MAX_FITS}`;

export const PredictedLtvQuery = z
  .object({
    ...period,
    cohort: cohortPeriod.cohort,
    group_by: deviceGroupBy,
    horizon_days: z.coerce
      .number({ error: horizonError })
      .int(horizonError)
      .min(1, horizonError)
      .max(MAX_HORIZON_DAYS, horizonError)
      .default(90),
    limit: z.coerce
      .number({ error: limitError })
      .int(limitError)
      .min(1, limitError)
      .max(MAX_FITS, limitError)
      .default(20),
    currency: currencyCode().optional(),
  })
  .superRefine(checkPeriod);
export type PredictedLtvQuery = z.infer<typeof PredictedLtvQuery>;

/** The columns of the report's table. */
export const PREDICTED_LTV_COLUMNS = [
  ...['cohort_from', 'cohort_to', 'size', 'payers', 'revenue', 'predicted_purchases'],
  ...['predicted_revenue', 'predicted_revenue_low', 'predicted_revenue_high'],
  ...['predicted_ltv', 'predicted_ltv_low', 'predicted_ltv_high', 'reason'],
];

/** With less data than this, a prediction would be a guess. */
const MIN_PAYERS = 50;
const MIN_REPEAT_PAYERS = 20;
const MIN_DAYS = 7;

/** Why there is no prediction. */
export const REASONS = {
  too_young: `No device was acquired ${MIN_DAYS} days ago or earlier.`,
  too_few_payers: `Fewer than ${MIN_PAYERS} devices have purchased.`,
  too_few_repeat_payers: `Fewer than ${MIN_REPEAT_PAYERS} devices have purchased on more than one day.`,
  unconverted_amounts: 'Some purchases are in a currency without an exchange rate.',
  no_fit: 'The model does not describe these purchases.',
} as const;
type Reason = keyof typeof REASONS;

type Cohort = { columns: CohortKey; parts: PurchasesAnswer };

/**
 * Predicts the purchases of each cohort's devices in the next `horizon_days` days: BG/NBD models how often, Gamma-Gamma how much, fitted to the
 * purchases so far, starting at the acquisition. Purchases on one day count as one. Ad revenue is not predicted. With too little data, the
 * prediction is null and a reason is given.
 */
export async function reportPredictedLtv(
  env: Env,
  application: Reported,
  query: PredictedLtvQuery,
  now: number,
) {
  const { from, to, cohort, group_by: group, horizon_days, limit } = query;
  const db = database(env.DB);
  const today = dayIn(application.timezone, now);
  const currency = query.currency ?? application.currency;
  const rates = await readRates(db, env.DB, application, { from, to, currency, day: today });
  const answer = await askPurchases(env, application, {
    cohort: { from, to },
    filter: await deviceFilterOf(env.DB, application.id, filtersOf(query)),
    groupBy: counterGroup(group),
    cohortBy: cohort,
    today,
    rates,
  });
  const bounds = boundsOf(daysOf(from, to), cohort);
  const cohorts: (Cohort & { from: string; size: number })[] = [];
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
  const shown: Cohort[] = cohorts
    .slice(0, limit)
    .sort((left, right) => Number(fromOf(left) > fromOf(right)) - Number(fromOf(left) < fromOf(right)));
  const rest = cohorts.slice(limit).flatMap(({ parts }) => parts);
  if (rest.length > 0) {
    shown.push({
      columns: { cohort_from: from, cohort_to: to, ...(group ? otherColumns(group) : { is_other: true }) },
      parts: rest,
    });
  }
  return {
    data: shown.map(({ columns, parts }) => ({ ...columns, ...predictCohort(parts, horizon_days) })),
    total_rows: cohorts.length,
    horizon_days,
    currency,
    rate_day: today,
    timezone: application.timezone,
  };
}

const fromOf = ({ columns }: Cohort) => String(columns.cohort_from);
const sizeOf = (parts: PurchasesAnswer) => parts.reduce((sum, { size }) => sum + size, 0);

function boundsOf(days: readonly string[], cohort: PredictedLtvQuery['cohort']) {
  const bounds = new Map<string, { cohort_from: string; cohort_to: string }>();
  for (const day of days) {
    const part = PART_OF[cohort](day);
    bounds.set(part, { cohort_from: bounds.get(part)?.cohort_from ?? day, cohort_to: day });
  }
  return bounds;
}

/** The row of one cohort, without the columns that name it. */
function predictCohort(parts: PurchasesAnswer, horizonDays: number) {
  const size = sizeOf(parts);
  const payers = parts.reduce((sum, own) => sum + own.payers, 0);
  const isConverted = parts.every(({ unconverted }) => unconverted.length === 0);
  const revenue = isConverted ? parts.reduce((sum, own) => sum + own.revenue, 0) : null;
  const found = predict(parts, payers, isConverted, horizonDays);
  const prediction = typeof found === 'string' ? null : found;
  const perDevice = (ahead: number | undefined) =>
    ahead === undefined || revenue === null ? null : (revenue + ahead) / size;
  return {
    size,
    payers,
    revenue,
    predicted_purchases: prediction?.purchases ?? null,
    predicted_revenue: prediction?.revenue ?? null,
    predicted_revenue_low: prediction?.low ?? null,
    predicted_revenue_high: prediction?.high ?? null,
    predicted_ltv: perDevice(prediction?.revenue),
    predicted_ltv_low: perDevice(prediction?.low),
    predicted_ltv_high: perDevice(prediction?.high),
    reason: typeof found === 'string' ? found : null,
  };
}

function predict(
  parts: PurchasesAnswer,
  payers: number,
  isConverted: boolean,
  horizonDays: number,
): Prediction | Reason {
  const histories = parts.flatMap((part) =>
    rowsOf(part.histories, 5).map(([x = 0, lastAt = 0, age = 0, count = 0, means = 0]) => ({
      x,
      lastAt,
      age,
      count,
      means,
    })),
  );
  const spending = parts.flatMap((part) =>
    rowsOf(part.spending, 3).map(([x = 0, mean = 0, count = 0]) => ({ x, mean, count })),
  );
  if (!histories.some(({ age }) => age > MIN_DAYS)) return 'too_young';
  if (payers < MIN_PAYERS) return 'too_few_payers';
  const repeat = histories.reduce((sum, { x, count }) => sum + (x > 1 ? count : 0), 0);
  if (repeat < MIN_REPEAT_PAYERS) return 'too_few_repeat_payers';
  if (!isConverted) return 'unconverted_amounts';
  if (spending.length === 0) return 'no_fit';
  return predictRevenue(histories, spending, horizonDays) ?? 'no_fit';
}

function rowsOf(numbers: Float64Array, width: number): number[][] {
  return Array.from({ length: numbers.length / width }, (_, row) => [
    ...numbers.subarray(row * width, (row + 1) * width),
  ]);
}
