import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import * as z from 'zod';
import { type Database, database, skanPostbacks } from '#db';
import {
  type AppContext,
  atMostDays,
  commaSeparated,
  countryFilter,
  currencyCode,
  dayText,
  repeatable,
  requiredText,
  wholeNumber,
} from '#http';
import { type CsvCell, csvHeaders, toCsv } from '#lib/encoding/csv';
import { iso } from '#lib/time';
import { readRateBook } from '#money';
import type { ApplicationRow } from '#teams';
import type { SkanFigures } from './answers.ts';
import { GROUPS, SKAN_GROUPS, type SkanGroup } from './groups.ts';
import { readSchema, type SchemaVersion } from './schema.ts';
import { type Rates, RowSums, SKAN_METRICS, type SummedPostback } from './sums.ts';

const { applicationId, test, day, receivedAt, sequence, fine, coarse, country } = skanPostbacks;

const MAX_ROWS = 1_000;
const MAX_SPAN_DAYS = 1_100;
const groupFault = `must be one or two of ${SKAN_GROUPS.join(', ')}`;

/** Query of `GET /v1/reports/skan`. Days are those on which postbacks arrived. */
export const SkanQuery = z
  .object({
    application_id: requiredText(128),
    from: dayText(),
    to: dayText(),
    group_by: z
      .string()
      .default('day')
      .transform((text) => [...new Set(text.split(',').map((part) => part.trim()))])
      .pipe(z.array(z.enum(SKAN_GROUPS, groupFault)).min(1, groupFault).max(2, groupFault))
      .meta(commaSeparated(SKAN_GROUPS, { maxItems: 2, default: ['day'] })),
    network: repeatable(requiredText(255)),
    source_identifier: repeatable(requiredText(16)),
    country: repeatable(countryFilter()),
    currency: currencyCode().optional(),
    limit: wholeNumber(1, MAX_ROWS).default(MAX_ROWS),
    format: z.enum(['json', 'csv'], { error: 'must be json or csv' }).default('json'),
  })
  .superRefine(atMostDays(MAX_SPAN_DAYS));
export type SkanQuery = z.infer<typeof SkanQuery>;

/** Postbacks that differ in nothing that the report tells apart. */
type CountedPostback = SummedPostback & {
  key: string | null;
  /** The place of the schema's version; -1 before the first. */
  version: number;
};

const amongTexts = (column: SQLWrapper, texts: readonly string[] | undefined) =>
  texts && texts.length > 0
    ? sql`AND ${column} IN (SELECT value FROM json_each(${JSON.stringify(texts)}))`
    : sql``;

/** The rows of a period, by the index of arrival, which leaves room for any time zone. */
function selected(application: ApplicationRow, query: SkanQuery): SQL {
  const [first, last] = [Date.parse(query.from) - 86_400_000, Date.parse(query.to) + 2 * 86_400_000];
  return sql`FROM ${skanPostbacks} WHERE ${applicationId} = ${application.id} AND ${test} = 0
    AND ${receivedAt} BETWEEN ${first} AND ${last} AND ${day} BETWEEN ${query.from} AND ${query.to}
    ${amongTexts(skanPostbacks.network, query.network)}
    ${amongTexts(skanPostbacks.sourceIdentifier, query.source_identifier)}
    ${amongTexts(country, query.country)}`;
}

/** The rows to show, by days, latest first, or by the number of postbacks; and how many there are. */
async function rankKeys(db: Database, rows: SQL, key: SQL, { group_by, limit }: SkanQuery) {
  const byDay = group_by[0] === 'day' ? sql`key ->> 0 DESC,` : sql``;
  const ranked = await db.all<{ key: string; total: number }>(
    sql`SELECT ${key} AS key, count(*) OVER () AS total ${rows} GROUP BY 1 ORDER BY ${byDay} count(*) DESC, key LIMIT ${limit}`,
  );
  return { keys: ranked.map((row) => row.key), total: ranked[0]?.total ?? 0 };
}

/** The place of the version that applies on a postback's day. */
const versionSql = (versions: readonly SchemaVersion[]): SQL => {
  if (versions.length === 0) return sql`-1`;
  const cases = versions
    .map(({ valid_from }, place) => sql`WHEN ${day} >= ${valid_from} THEN ${sql.raw(String(place))}`)
    .toReversed();
  return sql`CASE ${sql.join(cases, sql` `)} ELSE -1 END`;
};

/** When the last postback, and the last test, of an application arrived. */
async function lastArrivals(db: Database, id: string) {
  const last = (isTest: 0 | 1) =>
    sql`(SELECT max(${receivedAt}) FROM ${skanPostbacks} WHERE ${applicationId} = ${id} AND ${test} = ${sql.raw(String(isTest))})`;
  const [row] = await db.all<{ real: number | null; test: number | null }>(
    sql`SELECT ${last(0)} AS real, ${last(1)} AS test`,
  );
  const shown = (at: number | null | undefined) => (at ? iso(at) : null);
  return { last_postback_at: shown(row?.real), last_test_postback_at: shown(row?.test) };
}

/**
 * The report of SKAdNetwork and AdAttributionKit: counts of postbacks, and the revenue that the application's schema estimates from their
 * values. Beyond `limit` rows, the rest is in one row. Estimates are converted with the latest rates on or before the last day.
 */
export async function reportSkan(
  d1: D1Database,
  application: ApplicationRow,
  query: SkanQuery,
): Promise<SkanFigures> {
  const db = database(d1);
  const rows = selected(application, query);
  const key = sql`json_array(${sql.join(
    query.group_by.map((group) => GROUPS[group]),
    sql`, `,
  )})`;
  const [{ versions }, { keys, total }, arrivals] = await Promise.all([
    readSchema(db, application.id),
    rankKeys(db, rows, key, query),
    lastArrivals(db, application.id),
  ]);
  const shown = sql`CASE WHEN ${key} IN (SELECT value FROM json_each(${JSON.stringify(keys)})) THEN ${key} END`;
  const counted = await db.all<CountedPostback>(
    sql`SELECT ${shown} AS key, ${versionSql(versions)} AS version, ${sequence} AS sequence, ${fine} AS fine, ${coarse} AS coarse,
        ${skanPostbacks.conversion} AS conversion, ${skanPostbacks.didWin} AS "didWin", count(*) AS count,
        sum(${skanPostbacks.conflicts} > 0) AS conflicts
      ${rows} GROUP BY 1, 2, 3, 4, 5, 6, 7`,
  );
  const currency = query.currency ?? application.currency;
  const currencies = new Set([currency, ...versions.map((version) => version.currency)]);
  const book = await readRateBook(d1, application.teamId, currencies, query.to, query.to);
  const rates: Rates = { book, currency, day: query.to };
  const byKey = new Map<string | null, RowSums>(keys.map((one) => [one, new RowSums()]));
  const totals = new RowSums();
  for (const row of counted) {
    const sums = byKey.get(row.key) ?? new RowSums();
    byKey.set(row.key, sums);
    for (const each of [sums, totals]) each.add(row, versions[row.version] ?? null, rates);
  }
  const data = [...byKey].map(([one, sums]) => ({ ...namesOf(one, query.group_by), ...sums.show() }));
  return {
    data: query.group_by[0] === 'day' ? data.toSorted(byFirstDay) : data,
    totals: totals.show(),
    total_rows: total,
    currency,
    timezone: application.timezone,
    ...arrivals,
  };
}

type GroupNames = Pick<SkanFigures['data'][number], SkanGroup | 'is_other'>;

function namesOf(key: string | null, groups: readonly SkanGroup[]): GroupNames {
  const values: (string | number | null)[] = key === null ? [] : JSON.parse(key);
  const names = Object.fromEntries(groups.map((group, place) => [group, values[place] ?? null]));
  return key === null ? { ...names, is_other: true } : names;
}

/** Days in order, and the row of the rest at the end. */
const byFirstDay = (left: GroupNames, right: GroupNames): number =>
  String(left.day ?? '~').localeCompare(String(right.day ?? '~'), 'en');

/** Answers a report's rows as a CSV file, and its other fields as headers. Ranges and lists have columns of their own, or are JSON. */
export function answerSkanCsv(
  c: Pick<AppContext, 'body'>,
  { data, timezone, currency, total_rows }: SkanFigures,
  { name }: { name: string },
  { group_by, from, to }: SkanQuery,
): Response {
  const flat = data.map(
    ({ revenue_estimated, events, unconverted, ...row }): Record<string, CsvCell> => ({
      ...row,
      revenue_estimated_low: revenue_estimated?.low,
      revenue_estimated_high: revenue_estimated?.high,
      events: JSON.stringify(events),
      unconverted: unconverted && JSON.stringify(unconverted),
    }),
  );
  const revenue = ['revenue_estimated_low', 'revenue_estimated_high', 'events', 'unconverted'];
  const other = data.some(({ is_other }) => is_other) ? ['is_other'] : [];
  return c.body(toCsv([...group_by, ...SKAN_METRICS, ...revenue, ...other], flat), 200, {
    ...csvHeaders(['skan', name, from, to]),
    ...{ 'X-Timezone': timezone, 'X-Currency': currency, 'X-Total-Rows': String(total_rows) },
  });
}
