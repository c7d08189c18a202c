import * as z from 'zod';
import { currencyCode } from '#http';
import { daysOf } from '#lib/calendar';
import { dayIn } from '#lib/time';
import {
  DIMENSIONS,
  type Dimension,
  type DimensionName,
  givenBy,
  isDimension,
  ROLLUP,
  rollupOf,
  type Shown,
} from './dimensions.ts';
import { type MetricValues, metricsOf } from './metrics.ts';
import { converterFor, type Unconverted } from './money.ts';
import { readCreativeNames } from './names.ts';
import { checkPeriod, listOf, period, type Reported } from './query.ts';
import { Adder, COSTS, readSums, type Source, type SumRow, sourcesOf, TOTAL_SOURCES } from './sums.ts';

const groupError = `must be one or two of ${Object.keys(DIMENSIONS).join(', ')}`;

export const PerformanceQuery = z
  .object({
    ...period,
    group_by: z
      .string()
      .default('day')
      .transform(listOf)
      .pipe(
        z
          .array(z.custom<DimensionName>((name) => typeof name === 'string' && isDimension(name), groupError))
          .min(1, groupError)
          .max(2, groupError),
      )
      .refine((names) => rollupOf(names) !== undefined, 'names two groupings that no event has both of'),
    currency: currencyCode().optional(),
  })
  .superRefine(checkPeriod);
export type PerformanceQuery = z.infer<typeof PerformanceQuery>;

export type PerformanceRow = Record<string, string | number | null>;

export type PerformanceReport = {
  data: PerformanceRow[];
  totals: MetricValues;
  currency: string;
  timezone: string;
  unconverted: Unconverted;
};

/**
 * The performance report: what the days `from` to `to` brought, in one row a group and in total.
 * `now` is epoch milliseconds; days that have not begun count for no mean.
 */
export async function reportPerformance(
  db: D1Database,
  application: Reported,
  query: PerformanceQuery,
  now: number,
): Promise<PerformanceReport> {
  const { group_by: names, from, to } = query;
  const reporting = query.currency ?? application.currency;
  const parts = sourcesOf(names);
  // A table that is read for the groups is not read again for the totals.
  const others = TOTAL_SOURCES.filter(({ source }) => parts.every((part) => part.source !== source));
  const asked = { applicationId: application.id, teamId: application.teamId, from, to, reporting };
  const read = await readSums(db, [...parts, ...others], asked);
  const grouped = read.slice(0, parts.length);
  const amounts = read.flatMap(({ rows }) => rows.flatMap((row) => row.amounts));
  const converter = await converterFor(db, application, reporting, amounts);

  const gives = givenBy(names, ROLLUP[rollupOf(names) ?? 'daily']);
  const shownOf = await groupNamer(
    db,
    application.id,
    names,
    grouped.flatMap(({ rows }) => rows),
  );
  const groups = new Map<string, { shown: Shown; adder: Adder }>();
  for (const { source, rows } of grouped) {
    for (const row of rows) {
      const shown = hasPart(row, names) ? shownOf(row, source) : null;
      if (!shown) continue;
      const key = JSON.stringify(shown);
      const group = groups.get(key) ?? { shown, adder: new Adder() };
      group.adder.add(row, converter, false);
      groups.set(key, group);
    }
  }
  const total = new Adder();
  for (const { source, rows } of read) {
    if (TOTAL_SOURCES.every((part) => part.source !== source)) continue;
    for (const row of rows) total.add(row, converter, true);
  }

  const today = dayIn(application.timezone, now);
  const days = daysOf(from, to < today ? to : today);
  const daysIn = countDays(days, names);
  return {
    data: [...groups.values()].sort(byKeys).map(({ shown, adder }) => ({
      ...shown,
      ...metricsOf(adder.sums(), daysIn(shown), gives),
    })),
    totals: metricsOf(total.sums(), days.length, ROLLUP.daily.gives),
    currency: reporting,
    timezone: application.timezone,
    unconverted: converter.unconverted(),
  };
}

function byKeys(left: { shown: Shown }, right: { shown: Shown }): number {
  for (const name of Object.keys(left.shown)) {
    const [before, after] = [left.shown[name] ?? '', right.shown[name] ?? ''];
    if (before !== after) return before < after ? -1 : 1;
  }
  return 0;
}

/** Says which group a row belongs to, null for none. */
async function groupNamer(
  db: D1Database,
  applicationId: string,
  names: readonly DimensionName[],
  rows: readonly SumRow[],
) {
  const dimensions: Dimension[] = names.map((name) => DIMENSIONS[name]);
  const position = dimensions.findIndex(({ column }) => column === 'creative_id');
  const creatives = await readCreativeNames(
    db,
    applicationId,
    position < 0 ? [] : rows.map((row) => row.keys[position] ?? ''),
  );
  return (row: SumRow, source: Source): Shown | null => {
    const parts = dimensions.map(({ show, showCost }, index) => {
      const value = row.keys[index] || null;
      return source === COSTS && showCost ? showCost(value) : show(value, creatives);
    });
    return parts.every((part) => part !== null) ? Object.assign({}, ...parts) : null;
  };
}

/** What has no currency is no group by currency, and requests alone are no group by network. */
function hasPart(row: SumRow, names: readonly DimensionName[]): boolean {
  if (names.includes('currency') && row.keys[names.indexOf('currency')] === '') return false;
  return !(names.includes('media_source') && row.counts.impressions === 0);
}

/** How many of the days a group stands for: those of its day, week or month, else all. */
function countDays(days: readonly string[], names: readonly DimensionName[]) {
  const spans = names.filter((name) => name === 'day' || name === 'week' || name === 'month');
  if (spans.length === 0) return () => days.length;
  const shownOf = (day: string): Shown =>
    Object.assign({}, ...spans.map((name) => DIMENSIONS[name].show(day)));
  const keyOf = (shown: Shown) => JSON.stringify(spans.map((name) => shown[name]));
  const counts = new Map<string, number>();
  for (const day of days) {
    const key = keyOf(shownOf(day));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (shown: Shown) => counts.get(keyOf(shown)) ?? 0;
}
