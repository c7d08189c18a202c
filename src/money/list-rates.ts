import { and, asc, desc, eq, gte, inArray, lte } from 'drizzle-orm';
import type * as z from 'zod';
import { type Database, exchangeRates } from '#db';
import { afterKeyCursor, currencyCode, keyCursor, listQuery, pageOf, toKeyCursor } from '#http';
import type { RatesListed } from './answers.ts';
import { ownersFor, sourceOf } from './exchange-rates.ts';
import { dayRange } from './list-costs.ts';

/** Query of `GET /v1/exchange-rates`. */
export const RatesQuery = listQuery.extend({
  ...dayRange,
  currency: currencyCode().optional(),
  base: currencyCode().optional(),
  cursor: keyCursor(),
});
export type RatesQuery = z.infer<typeof RatesQuery>;

/** One page of the rates that convert a team's amounts, its own and those that all teams share, newest day first. */
export async function listRates(db: Database, teamId: string, query: RatesQuery): Promise<RatesListed> {
  const { day, currency, base, teamId: owner } = exchangeRates;
  const read = (limit: number) =>
    db
      .select()
      .from(exchangeRates)
      .where(
        and(
          inArray(owner, ownersFor(teamId)),
          query.from === undefined ? undefined : gte(day, query.from),
          query.to === undefined ? undefined : lte(day, query.to),
          query.currency === undefined ? undefined : eq(currency, query.currency),
          query.base === undefined ? undefined : eq(base, query.base),
          afterKeyCursor(query.cursor, [day, currency, base, owner], true),
        ),
      )
      .orderBy(desc(day), asc(currency), asc(base), asc(owner))
      .limit(limit);
  const page = await pageOf(query.limit, read, (row) =>
    toKeyCursor([row.day, row.currency, row.base, row.teamId]),
  );
  return {
    ...page,
    data: page.data.map((row) => ({
      date: row.day,
      currency: row.currency,
      base: row.base,
      rate: rateOf(row),
      units: row.units,
      worth: row.worth,
      source: sourceOf(row.teamId),
    })),
  };
}

/** The value of one unit of the currency in the base, as the nearest number; `units` and `worth` are exact. */
const rateOf = ({ units, worth }: { units: string; worth: string }) => Number(worth) / Number(units);
