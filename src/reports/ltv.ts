import * as z from 'zod';
import { currencyCode } from '#http';
import { daysOf } from '#lib/calendar';
import { dayIn, daysBetween } from '#lib/time';
import { type Parts, partsToMicros } from '#money';
import { sumColumnsOf } from '#rollup';
import { cutCohorts } from './cohort-cut.ts';
import { getOrMake, scanCohorts } from './cohort-segments.ts';
import {
  type CohortRows,
  cohortKeys,
  cohortRows,
  firstDayFrom,
  intoCohorts,
  knowsSpend,
  needsCohortSegments,
} from './cohorts.ts';
import type { Cut } from './cut.ts';
import { deviceGroupBy } from './device-groups.ts';
import { bindFiltered, costConditions } from './filters.ts';
import { microsOf } from './group-table.ts';
import { isOver, lifetimeValueOf } from './metrics.ts';
import {
  type AmountRow,
  type Converter,
  converterFor,
  microsSql,
  rateDaySql,
  readMicros,
  wholeAmount,
} from './money.ts';
import { checkPeriod, cohortPeriod, filtersOf, type Reported, type ReportFilters } from './query.ts';
import { EARNED } from './sources.ts';

export const LtvQuery = z
  .object({ ...cohortPeriod, group_by: deviceGroupBy, currency: currencyCode().optional() })
  .superRefine(checkPeriod);
export type LtvQuery = z.infer<typeof LtvQuery>;

type Labelled = { acquiredDay: string; label: string };
type SizeRow = Labelled & { size: number };
/** `day` is the first of the requested day numbers that the revenue counts for. */
type RevenueRow = Labelled & AmountRow & { day: number; micros: string };
type SpendRow = Labelled & AmountRow & { micros: string };
type Part =
  | ({ kind: 'size' } & SizeRow)
  | ({ kind: 'revenue' } & RevenueRow)
  | ({ kind: 'spend' } & SpendRow);

/** `label` is SQL over the acquisition day and the columns `reads`. */
export function sizeSql(label: string, reads: readonly string[], { table, conditions }: CohortRows): string {
  const stored = ['acquired_day', ...reads].join(', ');
  return `SELECT acquired_day AS acquiredDay, ${label} AS label, sum(size) AS size
    FROM (SELECT ${stored}, sum(active_devices) AS size FROM ${table}
      WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3 AND age = 0${conditions} GROUP BY ${stored})
    GROUP BY acquired_day, label`;
}

/** ?4 is the reporting currency. Revenue after the last of `days` is left out. `label` is SQL over the acquisition day and `reads`. */
export function revenueSql(
  label: string,
  reads: readonly string[],
  days: readonly number[],
  { table, conditions }: CohortRows,
): string {
  const stored = ['acquired_day', ...reads, 'currency', 'rateDay', 'asked'].join(', ');
  const age = 'julianday(day) - julianday(acquired_day)';
  return `SELECT acquired_day AS acquiredDay, ${label} AS label, rateDay, currency, asked AS day,
      ${microsSql({ high: 'high', low: 'low' })} AS micros
    FROM (SELECT acquired_day${reads.map((column) => `, ${column}`).join('')}, currency, sum(${EARNED.high}) AS high, sum(${EARNED.low}) AS low,
        ${rateDaySql('currency', 'day', '?4')} AS rateDay, ${firstDayFrom(age, days)} AS asked
      FROM ${table} WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3${conditions} GROUP BY ${stored})
    WHERE asked IS NOT NULL GROUP BY acquiredDay, label, currency, rateDay, asked`;
}

export const spendSql = (label: string, conditions = '') =>
  `SELECT day AS acquiredDay, ${label} AS label, currency, ${rateDaySql('currency', 'day', '?4')} AS rateDay,
     ${microsSql(wholeAmount('amount'))} AS micros
   FROM costs WHERE application_id = ?1 AND day BETWEEN ?2 AND ?3${conditions} GROUP BY day, label, currency`;

type Asked = { query: LtvQuery; filters: ReportFilters; reporting: string; cut: Cut | null };
type ValueRows = { sized: SizeRow[]; revenues: RevenueRow[]; spends: SpendRow[] };

async function readValue(
  db: D1Database,
  applicationId: string,
  { query, filters, reporting, cut }: Asked,
): Promise<ValueRows> {
  const { acquired, cost, reads } = cohortKeys(query, cut ? '?5' : undefined);
  const asked = [applicationId, query.from, query.to];
  // The list of kept cohorts is the fifth parameter of every statement, even of those with fewer than four others.
  const bound = (sql: string, values: readonly string[]) =>
    bindFiltered(db, sql, cut ? [...values, ''].slice(0, 4).concat(cut.kept) : values, filters);
  const activity = cohortRows('cohort_activity', query, filters);
  const revenue = cohortRows('cohort_revenue', query, filters);
  const [sizes, revenues, spends] = await db.batch<unknown>([
    bound(sizeSql(acquired, reads, activity), asked),
    bound(revenueSql(acquired, reads, query.days, revenue), [...asked, reporting]),
    bound(spendSql(cost, costConditions(filters)), [...asked, reporting]),
  ]);
  return {
    sized: (sizes?.results ?? []) as SizeRow[],
    revenues: (revenues?.results ?? []) as RevenueRow[],
    spends: (spends?.results ?? []) as SpendRow[],
  };
}

/** The rows of `sizeSql` and `revenueSql`, by segment. Segments have no spend. */
async function readSegmentedValue(
  db: D1Database,
  applicationId: string,
  { query, filters, reporting, cut }: Asked,
): Promise<ValueRows> {
  const scan = { applicationId, query, filters, cut };
  const sizes = new Map<string, Map<string, SizeRow>>();
  const activeAt = sumColumnsOf('cohort_activity').indexOf('active_devices');
  await scanCohorts<{ acquiredDay: string; rows: Map<string, SizeRow> }>(
    db,
    { ...scan, rollup: 'cohort_activity' },
    {
      placeOf: (key) => {
        const acquiredDay = key('acquired_day');
        return key('age') === '0'
          ? { acquiredDay, rows: getOrMake(sizes, acquiredDay, () => new Map<string, SizeRow>()) }
          : null;
      },
      add: ({ acquiredDay, rows }, label, sums) => {
        getOrMake(rows, label, () => ({ acquiredDay, label, size: 0 })).size += sums[activeAt] ?? 0;
      },
    },
  );
  type Earned = Omit<RevenueRow, 'label' | 'micros'>;
  const earned = new Map<string, { of: Earned; micros: Map<string, bigint> }>();
  const numbers = [...query.days].sort((left, right) => left - right);
  const columns = sumColumnsOf('cohort_revenue');
  const amountsAt = ['ad_revenue', 'purchase_revenue'].map((name) => columns.indexOf(name));
  await scanCohorts<{ of: Earned; micros: Map<string, bigint> }>(
    db,
    { ...scan, rollup: 'cohort_revenue' },
    {
      placeOf: (key) => {
        const [acquiredDay, earnedOn, currency] = [key('acquired_day'), key('day'), key('currency')];
        const age = daysBetween(acquiredDay, earnedOn);
        const day = numbers.find((number) => number >= age);
        if (day === undefined) return null;
        const rateDay = currency === reporting ? '' : earnedOn;
        return getOrMake(earned, [acquiredDay, currency, rateDay, day].join('/'), () => ({
          of: { acquiredDay, currency, rateDay, day },
          micros: new Map<string, bigint>(),
        }));
      },
      add: ({ micros }, label, sums) => {
        let added = 0n;
        for (const at of amountsAt) added += microsOf(sums[at] ?? 0, sums[at + 1] ?? 0);
        if (added !== 0n) micros.set(label, (micros.get(label) ?? 0n) + added);
      },
    },
  );
  return {
    sized: [...sizes.values()].flatMap((rows) => [...rows.values()]),
    revenues: [...earned.values()].flatMap(({ of, micros }) =>
      [...micros].map(([label, sum]) => ({ ...of, label, micros: `0/${sum}` })),
    ),
    spends: [],
  };
}

/**
 * The lifetime-value report: for each cohort, the revenue by day N per device and relative to spend. Only devices whose day N is over
 * count, and only the costs of the days on which they were acquired.
 */
export async function reportLtv(db: D1Database, application: Reported, query: LtvQuery, now: number) {
  const cut = await cutCohorts(db, application.id, query);
  const filters = filtersOf(query);
  const hasSpend = knowsSpend(query, filters);
  const reporting = query.currency ?? application.currency;
  const { sized, revenues, spends } = needsCohortSegments(query, filters)
    ? await readSegmentedValue(db, application.id, { query, filters, reporting, cut })
    : await readValue(db, application.id, { query, filters, reporting, cut });
  const today = dayIn(application.timezone, now);
  const first = Math.min(...query.days);
  const revenue = revenues.filter((row) => isOver(row.acquiredDay, row.day, today));
  const spend = spends.filter((row) => hasSpend && isOver(row.acquiredDay, first, today));
  const converter = await converterFor(db, application, reporting, [...revenue, ...spend]);
  for (const row of [...revenue, ...spend]) converter.convertOrList(readMicros(row.micros), row);
  const parts: Part[] = [
    ...sized.map((row) => ({ kind: 'size' as const, ...row })),
    ...revenue.map((row) => ({ kind: 'revenue' as const, ...row })),
    ...spend.map((row) => ({ kind: 'spend' as const, ...row })),
  ];
  const cohorts = intoCohorts(parts, daysOf(query.from, query.to), query);
  const data = cohorts
    .map(({ key, rows }) => {
      const size = rows.reduce((total, row) => total + (row.kind === 'size' ? row.size : 0), 0);
      const valueBy = (day: number) => {
        const { spend: spent, ...sums } = byDay(rows, day, today, converter);
        return lifetimeValueOf({ size, ...sums, spend: hasSpend ? spent : null });
      };
      return { ...key, size, days: Object.fromEntries(query.days.map((day) => [String(day), valueBy(day)])) };
    })
    .filter(({ size }) => size > 0);
  return {
    data,
    total_rows: cut?.total ?? data.length,
    currency: reporting,
    timezone: application.timezone,
    unconverted: converter.unconverted(),
  };
}

/** The revenue by a day of the devices whose day is over, and what acquiring them cost; null if part of it cannot be converted. */
function byDay(rows: readonly Part[], day: number, today: string, converter: Converter) {
  let eligible = 0;
  const sums: Record<'revenue' | 'spend', Parts | null> = { revenue: 0n, spend: 0n };
  for (const row of rows) {
    if (!isOver(row.acquiredDay, day, today)) continue;
    if (row.kind === 'size') eligible += row.size;
    else if (row.kind === 'spend' || row.day <= day) {
      const [sum, parts] = [sums[row.kind], converter.convert(readMicros(row.micros), row)];
      sums[row.kind] = sum === null || parts === null ? null : sum + parts;
    }
  }
  const micros = (parts: Parts | null) => (parts === null ? null : partsToMicros(parts));
  return { eligible, revenue: micros(sums.revenue), spend: micros(sums.spend) };
}
