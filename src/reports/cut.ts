import { findValuesByName } from '#catalogue';
import { CURRENCIES } from '#lib/currencies';
import { daysBetween } from '#lib/time';
import { readRateBook } from '#money';
import { DIMENSIONS, type DimensionName, isNamed, isTime } from './dimensions.ts';
import { bindFiltered } from './filters.ts';
import type { AmountSql } from './money.ts';
import type { Reported, ReportFilters } from './query.ts';
import type { Part } from './sources.ts';

// However many names clients send, a report has at most `limit` rows and one more, `other`, that sums up the rest. The database first
// ranks the groups to decide which have a row of their own, and then returns the sums with all other groups already merged.

/** The limit for the list of kept groups, which is one parameter. D1 accepts 2 MB, and a character takes at most 4 bytes. */
const MAX_KEPT_CHARACTERS = 400_000;

/** The name of the group in the row that sums up the rest. */
export const OTHER = 'other';

/** The keys of groups without a row of their own, and of rows that belong to no group. Neither is JSON. */
export const REST = '';
export const NO_GROUP = '-';

/** The groups that have a row of their own. */
export type Cut = {
  /** Their keys, largest first, as a JSON array. */
  kept: string;
  /** The first group that the limit cut off; null if there is none. In a report by time, all older groups are cut off too. */
  firstCut: string | null;
  /** The number of groups that match the query. */
  total: number;
};

/** Which groups are wanted, besides being large enough. */
export type Wanted = {
  limit: number;
  /** Only groups with this text in one of their names. */
  q?: string | undefined;
};

/** Like SQLite's `lower`, which only converts ASCII letters. */
const lower = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Whether a group is wanted, besides being large enough. Same conditions as in `rankingSql`. */
export function matches(
  values: readonly (string | null)[],
  names: readonly DimensionName[],
  { q = '' }: Pick<Wanted, 'q'>,
): boolean {
  if (q === '') return true;
  return values.some((value, index) => {
    const name = names[index];
    if (name === undefined || isTime(name)) return false;
    const text: string | null = value !== null && isNamed(name) ? JSON.parse(value)[1] : value;
    return lower(text ?? '').includes(lower(q)) || findValuesByName(name, q).includes(value ?? '');
  });
}

/** SQL for the key of a group: a JSON array of its values, null for none. The text does not depend on the source. */
export const keySql = (columns: readonly string[]) =>
  // The result of a JSON function would be embedded as JSON. As text it is quoted like any other value.
  `json_array(${columns.map((column) => `nullif((${column}) || '', '')`).join(', ')})`;

/** SQL for the key, or `REST` if it is not in the JSON list `kept`. */
export const cutKeySql = (key: string, kept: string) =>
  `iif(${key} IN (SELECT value FROM json_each(${kept})), ${key}, '${REST}')`;

/** The values of a key. */
export const keyValues = (key: string): (string | null)[] => JSON.parse(key);

/** The part with the group's key as its only column. With a `cut`, groups without a row of their own share the key `REST`. */
export function keyedPart(part: Part, names: readonly DimensionName[], cut: Cut | null): Part {
  const key = keySql(part.columns);
  const shown = cut ? cutKeySql(key, '?7') : key;
  const condition = noGroupSql(part, names);
  const column = condition ? `CASE WHEN ${condition} THEN '${NO_GROUP}' ELSE ${shown} END` : shown;
  return { source: part.source, columns: [column], reads: part.reads, ...(cut ? { kept: cut.kept } : {}) };
}

/** SQL that finds rows without a group: in groupings by currency, those without one. */
function noGroupSql({ columns }: Part, names: readonly DimensionName[]): string {
  const [column] = columns.filter((_, index) => names[index] === 'currency');
  return column === undefined ? '' : `(${column}) = ''`;
}

/**
 * Ranks the groups of a report by time, latest first, then by revenue, impressions, other counts and spend. The key itself breaks
 * ties, so the order is stable. Revenue is compared at the rates of the last day (0 for a missing rate) and as floating-point numbers,
 * which affects only the order of rows, never a sum. Returns null if every group has a row.
 */
export async function rankGroups(
  db: D1Database,
  application: Reported,
  parts: readonly Part[],
  names: readonly DimensionName[],
  asked: { from: string; to: string; reporting: string; filters: ReportFilters } & Wanted,
): Promise<Cut | null> {
  const { from, to, reporting, limit, q = '' } = asked;
  const isFiltered = q !== '';
  if (!isFiltered && names.length === 1 && names.every(isTime) && daysBetween(from, to) < limit) return null;
  const rates = await readApproximateRates(db, application.teamId, reporting, to);
  const values = [application.id, from, to, JSON.stringify(rates), searchValue(q), limit + 1];
  const ranked = await bindFiltered(db, rankingSql(parts, names), values, asked.filters).all<RankedGroup>();
  return cutAfter(ranked.results, limit, isFiltered);
}

type RankedGroup = { key: string; total: number };

/** The cut after the first `limit` ranked groups. With `isFiltered`, `other` also contains the groups that do not match. */
export function cutAfter(ranked: readonly RankedGroup[], limit: number, isFiltered: boolean): Cut | null {
  const total = ranked[0]?.total ?? 0;
  let room = MAX_KEPT_CHARACTERS;
  const kept = ranked.slice(0, limit).filter(({ key }) => {
    room -= JSON.stringify(key).length;
    return room > 0;
  });
  if (!isFiltered && kept.length === total) return null;
  const firstCut = kept.length < total ? (ranked[kept.length]?.key ?? null) : null;
  return { kept: JSON.stringify(kept.map(({ key }) => key)), firstCut, total };
}

/**
 * ?1 is the application, ?2 to ?3 the days, ?4 the rate of each currency, ?5 the search as `searchValue` makes it, and ?6
 * the number of groups. Lifetime revenue does not affect the ranking: every acquired device counts as an install
 * already.
 */
export function rankingSql(parts: readonly Part[], names: readonly DimensionName[]): string {
  const ranked = parts
    .filter(({ source }) => source.kind !== 'acquired')
    .map((part) => weightsSql(part, names));
  const times = names.flatMap((name, index) => (isTime(name) ? [`key ->> ${index} DESC`] : []));
  // Requests are made before a network is known, so requests alone do not make a group by network.
  const shown = names.includes('media_source') ? 'sum(impressions) > 0' : 'true';
  const order = [
    ...times,
    'sum(revenue) DESC',
    'sum(impressions) DESC',
    'sum(counts) DESC',
    'sum(spend) DESC',
  ];
  return `WITH rates AS MATERIALIZED (SELECT key AS currency, value AS rate FROM json_each(?4)),
    weights AS (${ranked.join(' UNION ALL ')})
    SELECT key, count(*) OVER () AS total FROM weights
    WHERE ${searchSql(names, '?5')}
    GROUP BY key HAVING ${shown} ORDER BY ${order.join(', ')}, key LIMIT ?6`;
}

/** A search as the parameter of `searchSql`. Empty text matches everything. */
export function searchValue(q: string): string {
  if (q === '') return '{}';
  const called = Object.keys(DIMENSIONS).map((name) => [name, findValuesByName(name as DimensionName, q)]);
  return JSON.stringify({ text: q, ...Object.fromEntries(called) });
}

/** SQL for whether one of a key's values, or its display name, contains a text. Times are not searched. */
export function searchSql(names: readonly DimensionName[], parameter: string): string {
  const found = names.flatMap((name, index) => {
    if (isTime(name)) return [];
    const value = `key ->> ${index}`;
    return [
      `instr(lower(${value}), lower(${parameter} ->> 'text')) > 0`,
      `coalesce(${value}, '') IN (SELECT value FROM json_each(${parameter}, '$.${name}'))`,
    ];
  });
  return `(${parameter} ->> 'text' IS NULL OR ${found.join(' OR ') || 'false'})`;
}

/** An amount as a floating-point number: exact enough for ranking, and it cannot overflow. */
export const approximateSql = ({ high, low }: AmountSql) => `(CAST(${high} AS REAL) * 1e12 + (${low}))`;

/** SQL for what the groups of one source are ranked by. Rows are summed by their stored columns before any name is looked up. */
function weightsSql(part: Part, names: readonly DimensionName[]): string {
  const { source, reads } = part;
  const noGroup = noGroupSql(part, names);
  const sum = (columns: string[]) => `sum(${columns.join(' + ') || '0'})`;
  const amounts = sum(Object.values(source.amounts).map(approximateSql));
  // Attributed installs are already counted as installs.
  const { impressions = '0', attributedInstalls: _, ...counts } = source.counts;
  const worth = 'coalesce(sum(amounts) * rates.rate, 0)';
  const isCosts = source.kind === 'costs';
  const stored = reads.filter((column) => column !== 'currency');
  return `SELECT key, ${isCosts ? `0 AS revenue, ${worth} AS spend` : `${worth} AS revenue, 0 AS spend`},
      sum(impressions) AS impressions, sum(counts) AS counts
    FROM (SELECT ${keySql(part.columns)} AS key, currency, amounts, impressions, counts
      FROM (SELECT ${[...stored, `${source.currency} AS currency`].join(', ')}, ${amounts} AS amounts,
          ${sum([impressions])} AS impressions, ${sum(Object.values(counts))} AS counts
        FROM ${source.table} WHERE application_id = ?1 AND ${source.day} BETWEEN ?2 AND ?3
        ${source.conditions} GROUP BY ${[...stored, 'currency'].join(', ')})
      ${noGroup ? `WHERE NOT (${noGroup})` : ''})
    LEFT JOIN rates USING (currency) GROUP BY key, currency`;
}

/** The approximate value in `reporting` of one unit of each currency on a day. Currencies without a rate are missing. */
export async function readApproximateRates(db: D1Database, teamId: string, reporting: string, day: string) {
  const book = await readRateBook(db, teamId, CURRENCIES, day, day);
  const rates = [...CURRENCIES].map((currency) => {
    const rate = book.rate(currency, reporting, day);
    return [currency, rate ? Number(rate.numerator) / Number(rate.denominator) : 0] as const;
  });
  return Object.fromEntries(rates.filter(([, rate]) => Number.isFinite(rate) && rate > 0));
}
