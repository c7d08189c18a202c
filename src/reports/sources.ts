import {
  ALL_METRICS,
  isMoney,
  MEASURES,
  type Metric,
  OF_ACQUIRED,
  OF_SPEND,
  type RollupTable,
} from '#catalogue';
import { type Amount, type Count, sumOf } from './adder.ts';
import { DIMENSIONS, type Dimension, type DimensionName, rollupOf, type SourceKind } from './dimensions.ts';
import { costConditions, rollupConditions } from './filters.ts';
import { type AmountSql, plus, storedAmount, wholeAmount } from './money.ts';
import type { ReportFilters } from './query.ts';

// Where SQL reads the sums of the performance report, for all creatives together: what happened, what was spent, and what acquired devices have earned since.

export type Source = {
  kind: SourceKind;
  /** The table's name, with an alias if it has one. */
  table: string;
  /** More conditions on its rows, each preceded by `AND`. */
  conditions: string;
  day: string;
  rateDay: string;
  currency: string;
  /** The columns behind the sums. */
  counts: Partial<Record<Count, string>>;
  amounts: Partial<Record<Amount, AmountSql>>;
};

const ofAttributed = (column: string) => `iif(creative_id <> '', ${column}, 0)`;

function rollupSource(table: RollupTable): Source {
  const measures: readonly string[] = MEASURES[table];
  const counts = measures.filter((measure) => !isMoney(measure)).map((measure) => [sumOf(measure), measure]);
  const attributed = measures.includes('installs') ? [['attributedInstalls', ofAttributed('installs')]] : [];
  return {
    kind: 'rollup',
    table,
    conditions: '',
    day: 'day',
    rateDay: 'day',
    currency: table === 'rollup_custom' ? "''" : 'currency',
    counts: Object.fromEntries([...counts, ...attributed]),
    amounts: Object.fromEntries(
      measures.filter(isMoney).map((measure) => [sumOf(measure), storedAmount(measure)]),
    ),
  };
}

export const COSTS: Source = {
  kind: 'costs',
  table: 'costs',
  conditions: '',
  day: 'day',
  rateDay: 'day',
  currency: 'currency',
  counts: {},
  amounts: { spend: wholeAmount('amount') },
};
export const EARNED = plus(storedAmount('ad_revenue'), storedAmount('purchase_revenue'));
const ACQUIRED: Source = {
  kind: 'acquired',
  table: 'cohort_revenue',
  conditions: '',
  day: 'acquired_day',
  rateDay: 'day',
  currency: 'currency',
  counts: {},
  amounts: {
    acquiredRevenue: EARNED,
    attributedRevenue: { high: ofAttributed(EARNED.high), low: ofAttributed(EARNED.low) },
  },
};

/** One source with the columns that a report groups it by. */
export type Part = {
  source: Source;
  columns: readonly string[];
  /** The stored columns that `columns` use. */
  reads: readonly string[];
  /** The parameter ?7 of `columns`: the keys of the groups that have a row of their own, as a JSON array. */
  kept?: string;
};

/** A source with the conditions of the filters. */
const narrowed = (source: Source, filters: ReportFilters): Source => ({
  ...source,
  conditions: source.kind === 'costs' ? costConditions(filters) : rollupConditions(filters),
});

/**
 * The sources that these metrics need in a report that SQL adds up, with the columns of the groupings. Sources that lack one of the
 * groupings are left out.
 */
export function sourcesOf(
  names: readonly DimensionName[],
  filters: ReportFilters = {},
  metrics: readonly Metric[] = ALL_METRICS,
): Part[] {
  const needs = (some: readonly Metric[]) => some.some((metric) => metrics.includes(metric));
  const sources = [
    rollupSource(rollupOf(names) ?? 'rollup_daily'),
    ...(needs(OF_SPEND) ? [COSTS] : []),
    ...(needs(OF_ACQUIRED) ? [ACQUIRED] : []),
  ];
  const dimensions: Dimension[] = names.map((name) => DIMENSIONS[name]);
  return sources.flatMap((source): Part[] => {
    const expressions = dimensions.map((dimension) => dimension.of[source.kind]);
    const known = expressions.filter((expression) => expression !== undefined);
    if (known.length < expressions.length) return [];
    const reads = [...new Set(known.flatMap(({ reads: columns }) => columns))];
    return [{ source: narrowed(source, filters), columns: known.map(({ sql }) => sql), reads }];
  });
}

/** The sources of the totals, which do not depend on the groupings. */
export const totalSources = (filters: ReportFilters = {}, metrics: readonly Metric[] = ALL_METRICS): Part[] =>
  sourcesOf([], filters, metrics);
