import { and, between, eq } from 'drizzle-orm';
import { cohortRevenue, database } from '#db';
import { readRateBook } from '#money';
import type { Reported } from '../query.ts';

/**
 * The value in `currency` of one unit of each currency that a cohort's devices earned, on one day: by that day's rate, or else the latest earlier
 * one. Currencies without a rate are missing. Reports that compare revenue per device convert everything at the rates of a single day, so that a
 * change of rates does not look like a difference between devices.
 */
export async function readRates(
  d1: D1Database,
  application: Reported,
  { from, to, currency, day }: { from: string; to: string; currency: string; day: string },
): Promise<Record<string, number>> {
  const rows = await database(d1)
    .selectDistinct({ currency: cohortRevenue.currency })
    .from(cohortRevenue)
    .where(
      and(eq(cohortRevenue.applicationId, application.id), between(cohortRevenue.acquiredDay, from, to)),
    );
  const earned = new Set([currency, ...rows.map((row) => row.currency)]);
  const book = await readRateBook(d1, application.teamId, earned, day, day);
  return Object.fromEntries(
    [...earned].flatMap((code): [string, number][] => {
      const rate = book.rate(code, currency, day);
      return rate ? [[code, Number(rate.numerator) / Number(rate.denominator)]] : [];
    }),
  );
}
