import { and, asc, count, desc, eq, gte, lte, not, type SQL, sql, sum } from 'drizzle-orm';
import type * as z from 'zod';
import { COST_DIMENSIONS, ofDimensions, shownValue } from '#catalogue';
import { costs, type Database, isAmong } from '#db';
import {
  afterKeyCursor,
  keyCursor,
  listQuery,
  oneOf,
  optionalDay,
  optionalText,
  pageOf,
  requiredText,
  toKeyCursor,
} from '#http';
import { nameForms } from '#lib/input/name-forms';
import { amountField } from '#lib/money';
import { iso } from '#lib/time';
import type { ApplicationRow } from '#teams';
import type { CostsPage, CostTotals } from './answers.ts';
import { keyOf, ROW_COLUMNS } from './cost-key.ts';
import { areKnown } from './names.ts';

/** `?from=&to=`, both inclusive and optional. */
export const dayRange = { from: optionalDay(), to: optionalDay() };

/** Query of `GET /v1/costs`. */
export const CostsQuery = listQuery.extend({
  application_id: requiredText(128),
  ...dayRange,
  campaign: optionalText(255),
  unmatched: oneOf(['true', 'false']).default('false'),
  order: oneOf(['oldest', 'newest']).default('oldest'),
  cursor: keyCursor(),
});
export type CostsQuery = z.infer<typeof CostsQuery>;

const knownNames = (db: Database, { id }: Pick<ApplicationRow, 'id'>) =>
  areKnown(db, id, { campaign: costs.campaign, adset: costs.adset, creative: costs.creative });

type Matching = Pick<CostsQuery, 'from' | 'to' | 'campaign' | 'unmatched'>;

/** The condition on the rows that a query asks for, of all its pages. */
const matching = (db: Database, application: Pick<ApplicationRow, 'id'>, query: Matching) =>
  and(
    eq(costs.applicationId, application.id),
    query.from === undefined ? undefined : gte(costs.day, query.from),
    query.to === undefined ? undefined : lte(costs.day, query.to),
    query.campaign === undefined ? undefined : isAmong(costs.campaign, nameForms(query.campaign)),
    query.unmatched === 'true' ? not(knownNames(db, application)) : undefined,
  );

/** The totals of all rows that a query asks for, whatever page is shown. Amounts are by currency; counts are null if no row states any. */
export async function sumCosts(
  db: Database,
  application: Pick<ApplicationRow, 'id'>,
  query: Matching,
): Promise<CostTotals> {
  // In two parts, so that no sum exceeds 64 bits.
  const part = (of: SQL) => sql<string>`CAST(sum(${of}) AS TEXT)`;
  const sums = await db
    .select({
      currency: costs.currency,
      high: part(sql`${costs.amount} / 1000000000000`),
      low: part(sql`${costs.amount} % 1000000000000`),
      rows: count(),
      impressions: sum(costs.impressions).mapWith(Number),
      clicks: sum(costs.clicks).mapWith(Number),
    })
    .from(costs)
    .where(matching(db, application, query))
    .groupBy(costs.currency);
  const together = (name: 'impressions' | 'clicks') => {
    const known = sums.flatMap((own) => own[name] ?? []);
    return known.length === 0 ? null : known.reduce((total, own) => total + own, 0);
  };
  return {
    rows: sums.reduce((total, own) => total + own.rows, 0),
    amounts: sums.map(({ currency, high, low }) => ({
      currency,
      ...amountField('amount', BigInt(high) * 1_000_000_000_000n + BigInt(low)),
    })),
    impressions: together('impressions'),
    clicks: together('clicks'),
  };
}

/**
 * One page of an application's costs, sorted by day (oldest or newest first), then by name and dimensions. Each row says whether the application has these
 * names. Throws `invalid_request` for an invalid cursor.
 */
export async function listCosts(
  db: Database,
  application: ApplicationRow,
  query: CostsQuery,
): Promise<CostsPage> {
  const { day } = costs;
  const isKnown = knownNames(db, application);
  const byDay = query.order === 'newest' ? desc(day) : asc(day);
  const read = (limit: number) =>
    db
      .select({
        row: costs,
        nanos: sql<string>`CAST(${costs.amount} AS TEXT)`.as('nanos'),
        matched: sql<number>`${isKnown}`.as('matched'),
      })
      .from(costs)
      .where(
        and(
          matching(db, application, query),
          afterKeyCursor(query.cursor, ROW_COLUMNS, query.order === 'newest'),
        ),
      )
      .orderBy(byDay, ...ROW_COLUMNS.slice(1).map((column) => asc(column)))
      .limit(limit);
  const page = await pageOf(query.limit, read, ({ row }) =>
    toKeyCursor([...keyOf({ ...row, date: row.day }), row.connectorId]),
  );
  return {
    ...page,
    data: page.data.map(({ row, nanos, matched }) => ({
      date: row.day,
      campaign: row.campaign,
      adset: row.adset || null,
      creative: row.creative || null,
      ...ofDimensions(COST_DIMENSIONS, (name) => shownValue(name, row[name]) || null),
      currency: row.currency,
      ...amountField('amount', BigInt(nanos)),
      impressions: row.impressions,
      clicks: row.clicks,
      matched: matched === 1,
      connector_id: row.connectorId || null,
      updated_at: iso(row.updatedAt),
    })),
  };
}
