import { type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { type Database, database, exchangeRates, jsonValues } from '#db';
import { CURRENCY_FAULT, currencyCode, dayText } from '#http';
import { isCurrencyOfAnyDay } from '#lib/currencies';
import { parseDecimal, toDecimal } from '#lib/decimal';
import { fixedRates } from './fixed-rates.ts';
import { FURTHER_RANKS_DAYS_OLDER, type Rate, RateBook, type RateSource } from './rate-book.ts';

const rateError = 'must be a number above 0, or its decimal text with at most 15 digits before the point';

const rateText = z
  .union([z.number(), z.string().trim()], { error: rateError })
  .transform((value) => (typeof value === 'number' ? toDecimal(value) : value))
  .refine((text) => parseDecimal(text) !== null, rateError);

/** Body of `PUT /v1/exchange-rates`: the value of one unit of each currency in `base`. */
export const ExchangeRates = z
  .object({
    date: dayText(),
    base: currencyCode(),
    rates: z.record(z.string().trim().toLowerCase(), rateText, { error: 'must be an object of rates' }),
  })
  .superRefine(({ base, rates }, ctx) => {
    const codes = Object.keys(rates);
    const fault = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    if (codes.length === 0) fault(['rates'], 'must have at least one rate');
    for (const code of codes) {
      if (!isCurrencyOfAnyDay(code)) fault(['rates', code], CURRENCY_FAULT);
      if (code === base) fault(['rates', code], 'must not be the base currency');
    }
  });
export type ExchangeRates = z.infer<typeof ExchangeRates>;

/** A rate without its source, which its owner in the table tells. */
export type NewRate = Omit<Rate, 'source'>;

/** The owners of the rates that all teams share. No team has such an id. */
const SHARED = { reference: '', further: '*' } as const;

/** Whose rates convert a team's amounts. */
export const ownersFor = (teamId: string): string[] => [...Object.values(SHARED), teamId];

export function sourceOf(owner: string): RateSource {
  if (owner === SHARED.reference) return 'reference';
  return owner === SHARED.further ? 'further' : 'team';
}

/** The statement that stores rates. A rate with the same day, base and currency is overwritten. Idempotent. */
function saveStatement(
  db: Database,
  owner: string,
  rates: readonly NewRate[],
  now: number,
  where = sql`true`,
) {
  const { currency, base, day, units, worth } = exchangeRates;
  return db
    .insert(exchangeRates)
    .select(
      sql`SELECT ${owner}, ${jsonValues([currency, base, day, units, worth])}, ${now}
        FROM json_each(${JSON.stringify(rates)}) WHERE ${where}`,
    )
    .onConflictDoUpdate({
      target: [exchangeRates.teamId, currency, base, day],
      set: {
        units: sql`excluded.units`,
        worth: sql`excluded.worth`,
        updatedAt: sql`excluded.updated_at`,
      },
      setWhere: sql`${units} <> excluded.units OR ${worth} <> excluded.worth`,
    });
}

/** Stores a team's own rates and returns how many. Idempotent. */
export async function saveRates(caller: Caller, upload: ExchangeRates): Promise<number> {
  const { db, team, now } = caller;
  const { date, base } = upload;
  const rates = Object.entries(upload.rates).map(([currency, worth]) => ({
    currency,
    base,
    day: date,
    units: '1',
    worth,
  }));
  await db.batch([
    saveStatement(db, team.id, rates, now),
    auditStatement(caller, 'exchange_rates.uploaded', `${rates.length} rates in ${base} of ${date}`),
  ]);
  return rates.length;
}

const known = alias(exchangeRates, 'known');

/** All other further rates would rank behind a reference rate. */
const lacksReference = sql`NOT EXISTS (
  SELECT 1 FROM ${exchangeRates} AS known WHERE ${known.teamId} = ${SHARED.reference}
    AND ${known.currency} = value ->> 'currency' AND ${known.base} = value ->> 'base'
    AND ${known.day} BETWEEN date(value ->> 'day', ${`-${FURTHER_RANKS_DAYS_OLDER} days`}) AND value ->> 'day')`;

/** Stores rates that all teams share: the further ones only of currencies that the reference rates do not have. Idempotent. */
export async function saveSharedRates(
  d1: D1Database,
  source: keyof typeof SHARED,
  rates: readonly NewRate[],
  now: number,
): Promise<void> {
  const where = source === 'further' ? lacksReference : sql`true`;
  await saveStatement(database(d1), SHARED[source], rates, now, where).run();
}

const rate = alias(exchangeRates, 'rate');
const earlier = alias(exchangeRates, 'earlier');

/** The rates of currencies in every base, from the latest one on or before `from` until `to`. */
export function selectRates(teamId: string, currencies: readonly string[], from: string, to: string): SQL {
  const series = { teamId: sql`series.team_id`, currency: sql`series.currency`, base: sql`series.base` };
  const { teamId: owner, currency, base } = exchangeRates;
  const owners = ownersFor(teamId);
  // CROSS JOIN fixes the join order: each series has few rates on the requested days.
  return sql`
    SELECT ${rate.currency}, ${rate.base}, ${rate.day}, ${rate.units}, ${rate.worth}, ${rate.teamId} AS owner
    FROM (SELECT DISTINCT ${owner}, ${currency}, ${base}
          FROM json_each(${JSON.stringify(currencies)}) AS wanted CROSS JOIN ${exchangeRates}
            ON ${owner} IN ${owners} AND ${currency} = wanted.value) AS series
    CROSS JOIN ${exchangeRates} AS rate
      ON ${rate.teamId} = ${series.teamId} AND ${rate.currency} = ${series.currency} AND ${rate.base} = ${series.base}
     AND ${rate.day} BETWEEN coalesce((SELECT max(${earlier.day}) FROM ${exchangeRates} AS earlier
          WHERE ${earlier.teamId} = ${series.teamId} AND ${earlier.currency} = ${series.currency}
            AND ${earlier.base} = ${series.base} AND ${earlier.day} <= ${from}), ${from}) AND ${to}`;
}

/**
 * The rates of these currencies for the days `from` to `to`: the team's own and those that all teams share.
 * Queries nothing if there is nothing to convert.
 */
export async function readRateBook(
  d1: D1Database,
  teamId: string,
  currencies: ReadonlySet<string>,
  from: string,
  to: string,
): Promise<RateBook> {
  if (currencies.size < 2) return new RateBook([]);
  const rows = await database(d1).all<NewRate & { owner: string }>(
    selectRates(teamId, [...currencies], from, to),
  );
  return new RateBook([
    ...rows.map(({ owner, ...row }) => ({ ...row, source: sourceOf(owner) })),
    ...fixedRates(currencies),
  ]);
}
