import { or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { findValuesByName } from '#catalogue';
import { commaList, containsSql, database, isAmong } from '#db';
import { CURRENCIES } from '#lib/currencies';
import { containsText } from '#lib/search';
import { daysBetween } from '#lib/time';
import { readRateBook } from '#money';
import { type DimensionName, isNamed, isTime } from './dimensions.ts';
import type { AmountSql } from './money.ts';
import type { Reported, ReportFilters } from './query.ts';
import { type Part, type Period, rowsIn } from './sources.ts';

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

/** Whether a group is wanted, besides being large enough. Same conditions as in `searchSql`. */
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
    return containsText(text ?? '', q) || findValuesByName(name, q).includes(value ?? '');
  });
}

/** SQL for the key of a group: a JSON array of its values, null for none. The text does not depend on the source. */
export const keySql = (columns: readonly SQLWrapper[]): SQL =>
  // The result of a JSON function would be embedded as JSON. As text it is quoted like any other value.
  sql`json_array(${commaList(columns.map((column) => sql`nullif((${column}) || '', '')`))})`;

/** The values of a key. */
export const keyValues = (key: string): (string | null)[] => JSON.parse(key);

/** The part with the group's key as its only column. With a `cut`, groups without a row of their own share the key `REST`. */
export function keyedPart(part: Part, names: readonly DimensionName[], cut: Cut | null): Part {
  const key = keySql(part.columns);
  const shown = cut ? sql`iif(${key} IN (SELECT value FROM json_each(${cut.kept})), ${key}, ${REST})` : key;
  const condition = noGroupSql(part, names);
  const column = condition ? sql`CASE WHEN ${condition} THEN ${NO_GROUP} ELSE ${shown} END` : shown;
  return { ...part, columns: [column] };
}

/** SQL that finds rows without a group: in groupings by currency, those without one. */
function noGroupSql({ columns }: Part, names: readonly DimensionName[]): SQL | undefined {
  const column = columns[names.indexOf('currency')];
  return column && sql`(${column}) = ''`;
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
  const ranking = rankingSql(parts, names, { ...asked, applicationId: application.id, rates });
  return cutAfter(await database(db).all<RankedGroup>(ranking), limit, isFiltered);
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

/** What a ranking is made by: `rates` are those of `readApproximateRates`. */
export type Ranked = Period & Wanted & { rates: Record<string, number> };

/**
 * SQL for the keys of the largest groups, one more than `limit`, with the number of all that match. Lifetime revenue does not affect the
 * ranking: every acquired device counts as an install already.
 */
export function rankingSql(parts: readonly Part[], names: readonly DimensionName[], asked: Ranked): SQL {
  const ranked = parts
    .filter(({ source }) => source.kind !== 'acquired')
    .map((part) => weightsSql(part, names, asked));
  const order = [
    ...names.flatMap((name, index) => (isTime(name) ? [sql`${keyValue(index)} DESC`] : [])),
    sql`sum(revenue) DESC`,
    sql`sum(impressions) DESC`,
    sql`sum(counts) DESC`,
    sql`sum(spend) DESC`,
  ];
  // Requests are made before a network is known, so requests alone do not make a group by network.
  const shown = names.includes('media_source') ? sql`sum(impressions) > 0` : sql`true`;
  return sql`WITH rates AS MATERIALIZED (${ratesSql(asked)}),
    weights AS (${sql.join(ranked, sql` UNION ALL `)})
    SELECT key, count(*) OVER () AS total FROM weights
    WHERE ${searchSql(names, asked.q)}
    GROUP BY key HAVING ${shown} ORDER BY ${commaList(order)}, key LIMIT ${asked.limit + 1}`;
}

/** SQL for the rate of each currency. */
export const ratesSql = ({ rates }: Pick<Ranked, 'rates'>): SQL =>
  sql`SELECT key AS currency, value AS rate FROM json_each(${JSON.stringify(rates)})`;

/** SQL for one of a key's values. The index is part of the text, because D1 binds numbers as floating-point, and `->>` needs an integer. */
const keyValue = (index: number): SQL => sql`key ->> ${index}`.inlineParams();

/** SQL for whether one of a key's values, or its display name, contains a text. Times are not searched. */
export function searchSql(names: readonly DimensionName[], q = ''): SQL {
  if (q === '') return sql`true`;
  const found = names.flatMap((name, index) => {
    if (isTime(name)) return [];
    const value = keyValue(index);
    return [containsSql(value, q), isAmong(sql`coalesce(${value}, '')`, findValuesByName(name, q))];
  });
  return or(...found) ?? sql`false`;
}

/** An amount as a floating-point number: exact enough for ranking, and it cannot overflow. */
export const approximateSql = ({ high, low }: AmountSql): SQL =>
  sql`(CAST(${high} AS REAL) * 1e12 + (${low}))`;

/** SQL for what the groups of one source are ranked by. Rows are summed by their stored columns before their keys are built. */
function weightsSql(part: Part, names: readonly DimensionName[], asked: Period): SQL {
  const { source } = part;
  const noGroup = noGroupSql(part, names);
  const sum = (columns: SQLWrapper[]) =>
    sql`sum(${columns.length > 0 ? sql.join(columns, sql` + `) : sql`0`})`;
  const amounts = sum(Object.values(source.amounts).map(approximateSql));
  // Attributed installs are already counted as installs.
  const { impressions = sql`0`, attributedInstalls: _, ...counts } = source.counts;
  const worth = sql`coalesce(sum(amounts) * rates.rate, 0)`;
  const [revenue, spend] = source.kind === 'costs' ? [sql`0`, worth] : [worth, sql`0`];
  const currency = sql.identifier('currency');
  const stored = part.reads.filter((column) => column !== source.currency);
  return sql`SELECT key, ${revenue} AS revenue, ${spend} AS spend,
      sum(impressions) AS impressions, sum(counts) AS counts
    FROM (SELECT ${keySql(part.columns)} AS key, currency, amounts, impressions, counts
      FROM (SELECT ${commaList([...stored, sql`${source.currency} AS ${currency}`])}, ${amounts} AS amounts,
          ${sum([impressions])} AS impressions, ${sum(Object.values(counts))} AS counts
        ${rowsIn(source, asked)} GROUP BY ${commaList([...stored, currency])})
      ${noGroup && sql`WHERE NOT (${noGroup})`})
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
