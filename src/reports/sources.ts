import { and, between, type Column, eq, getTableColumns, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import {
  ALL_METRICS,
  type Amount,
  type Count,
  isMoney,
  MEASURES,
  type Metric,
  OF_ACQUIRED,
  OF_SPEND,
  type RollupTable,
  sumOf,
} from '#catalogue';
import { cohortRevenue, costs, named, rollupAds, rollupCustom, rollupDaily, rollupItems } from '#db';
import { type DimensionName, rollupOf } from './dimensions.ts';
import { costCondition, rollupCondition } from './filters.ts';
import { type AmountSql, plus, wholeAmount } from './money.ts';
import type { ReportFilters } from './query.ts';

// Where SQL reads the sums of the performance report, for all creatives together: what happened, what was spent, and what acquired devices have earned since.

/** A dimension's value in a source (null or empty text if there is none), and the stored columns that it reads. */
type Grouping = {
  /** Names the columns without their table, because it is also read from sums of the rows. */
  value: SQL;
  reads: readonly Column[];
};

export type Source = {
  /** Events (`rollup`), spend (`costs`), or the lifetime revenue of devices acquired in the period (`acquired`). */
  kind: 'rollup' | 'costs' | 'acquired';
  table: SQLiteTable;
  applicationId: Column;
  day: Column;
  rateDay: Column;
  /** Empty text in a source without amounts. */
  currency: SQLWrapper;
  /** The condition of the filters on its rows. */
  condition: (applicationId: string, filters: ReportFilters) => SQL | undefined;
  /**
   * The dimensions that it has and SQL can group by. Creatives, segments and hours are not among them: `readBlockSums` adds up figures by
   * these, and `costsSql` the spend of creatives.
   */
  groupings: Partial<Record<DimensionName, Grouping>>;
  /** The columns behind the sums. */
  counts: Partial<Record<Count, SQLWrapper>>;
  amounts: Partial<Record<Amount, AmountSql>>;
};

const byColumn = (column: Column): Grouping => ({ value: named(column), reads: [column] });

/** The groupings by time. A week is named by its Monday, a month like `2026-11`. */
const byTime = (day: Column): Source['groupings'] => ({
  day: byColumn(day),
  week: { value: sql`date(${named(day)}, 'weekday 0', '-6 days')`, reads: [day] },
  month: { value: sql`substr(${named(day)}, 1, 7)`, reads: [day] },
});

const ofAttributed = (creativeId: Column, value: SQLWrapper) => sql`iif(${creativeId} <> '', ${value}, 0)`;

type Rollup = typeof rollupDaily | typeof rollupAds | typeof rollupItems | typeof rollupCustom;

/** The sums of a rollup's measures, whose columns the schema derives from the catalogue, too. */
function sumsOf(name: RollupTable, table: Rollup): Pick<Source, 'counts' | 'amounts'> {
  const columns: Readonly<Record<string, Column>> = getTableColumns(table);
  const columnOf = (measure: string): Column => {
    const column = columns[sumOf(measure)];
    if (!column) throw new Error(`${name} has no column for ${measure}`);
    return column;
  };
  const measures: readonly string[] = MEASURES[name];
  const amountOf = (measure: string) => ({ high: columnOf(`${measure}_high`), low: columnOf(measure) });
  return {
    counts: Object.fromEntries(
      measures.filter((one) => !isMoney(one)).map((one) => [sumOf(one), columnOf(one)]),
    ),
    amounts: Object.fromEntries(measures.filter(isMoney).map((one) => [sumOf(one), amountOf(one)])),
  };
}

const rollup = (name: RollupTable, table: Rollup) => ({
  kind: 'rollup' as const,
  table,
  applicationId: table.applicationId,
  day: table.day,
  rateDay: table.day,
  condition: (_: string, filters: ReportFilters) => rollupCondition(table.creativeId, filters),
  ...sumsOf(name, table),
});

export const ADS: Source = {
  ...rollup('rollup_ads', rollupAds),
  currency: rollupAds.currency,
  groupings: {
    ...byTime(rollupAds.day),
    source: byColumn(rollupAds.source),
    media_source: byColumn(rollupAds.mediaSource),
    placement: byColumn(rollupAds.placement),
    currency: byColumn(rollupAds.currency),
  },
};

const DAILY = rollup('rollup_daily', rollupDaily);

const ROLLUPS: Partial<Record<RollupTable, Source>> = {
  rollup_daily: {
    ...DAILY,
    currency: rollupDaily.currency,
    groupings: { ...byTime(rollupDaily.day), currency: byColumn(rollupDaily.currency) },
    counts: {
      ...DAILY.counts,
      attributedInstalls: ofAttributed(rollupDaily.creativeId, rollupDaily.installs),
    },
  },
  rollup_ads: ADS,
  rollup_items: {
    ...rollup('rollup_items', rollupItems),
    currency: rollupItems.currency,
    groupings: {
      ...byTime(rollupItems.day),
      item: byColumn(rollupItems.itemId),
      currency: byColumn(rollupItems.currency),
    },
  },
  rollup_custom: {
    ...rollup('rollup_custom', rollupCustom),
    currency: sql`''`,
    groupings: { ...byTime(rollupCustom.day), event_name: byColumn(rollupCustom.eventName) },
  },
};

export const COSTS: Source = {
  kind: 'costs',
  table: costs,
  applicationId: costs.applicationId,
  day: costs.day,
  rateDay: costs.day,
  currency: costs.currency,
  condition: costCondition,
  groupings: { ...byTime(costs.day), currency: byColumn(costs.currency) },
  counts: {},
  amounts: { spend: wholeAmount(costs.amount) },
};

/** What a row of `cohort_revenue` has earned. */
export const EARNED = plus(
  { high: cohortRevenue.adRevenueHigh, low: cohortRevenue.adRevenue },
  { high: cohortRevenue.purchaseRevenueHigh, low: cohortRevenue.purchaseRevenue },
);

export const ACQUIRED: Source = {
  kind: 'acquired',
  table: cohortRevenue,
  applicationId: cohortRevenue.applicationId,
  day: cohortRevenue.acquiredDay,
  rateDay: cohortRevenue.day,
  currency: cohortRevenue.currency,
  condition: (_, filters) => rollupCondition(cohortRevenue.creativeId, filters),
  groupings: byTime(cohortRevenue.acquiredDay),
  counts: {},
  amounts: {
    acquiredRevenue: EARNED,
    attributedRevenue: {
      high: ofAttributed(cohortRevenue.creativeId, EARNED.high),
      low: ofAttributed(cohortRevenue.creativeId, EARNED.low),
    },
  },
};

/** The rows that a report reads: those of an application's days, up to and including `to`. */
export type Period = { applicationId: string; from: string; to: string; filters: ReportFilters };

/** `FROM` and `WHERE` for a source's rows. `end` replaces the last day. */
export function rowsIn(
  { table, applicationId, day, condition }: Pick<Source, 'table' | 'applicationId' | 'day' | 'condition'>,
  asked: Period,
  end: SQLWrapper | string = asked.to,
): SQL {
  const own = and(
    eq(applicationId, asked.applicationId),
    between(day, asked.from, end),
    condition(asked.applicationId, asked.filters),
  );
  return sql`FROM ${table} WHERE ${own}`;
}

/** One source with the columns that a report groups it by. */
export type Part = {
  source: Source;
  columns: readonly SQL[];
  /** The stored columns that `columns` use. */
  reads: readonly Column[];
};

/**
 * The sources that these metrics need in a report that SQL adds up, with the columns of the groupings. Sources that lack one of the
 * groupings are left out.
 */
export function sourcesOf(names: readonly DimensionName[], metrics: readonly Metric[] = ALL_METRICS): Part[] {
  const needs = (some: readonly Metric[]) => some.some((metric) => metrics.includes(metric));
  const sources = [
    ROLLUPS[rollupOf(names) ?? 'rollup_daily'],
    ...(needs(OF_SPEND) ? [COSTS] : []),
    ...(needs(OF_ACQUIRED) ? [ACQUIRED] : []),
  ];
  return sources.flatMap((source): Part[] => {
    const groupings = names.map((name) => source?.groupings[name]).filter((found) => found !== undefined);
    if (!source || groupings.length < names.length) return [];
    return [
      {
        source,
        columns: groupings.map(({ value }) => value),
        reads: [...new Set(groupings.flatMap(({ reads }) => reads))],
      },
    ];
  });
}

/** The sources of the totals, which do not depend on the groupings. */
export const totalSources = (metrics: readonly Metric[] = ALL_METRICS): Part[] => sourcesOf([], metrics);
