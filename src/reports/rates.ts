import { and, between, eq } from 'drizzle-orm';
import { cohortRevenue, type Database } from '#db';
import { readRateBook } from '#money';
import type { Reported } from './query.ts';

/**
 * What one unit of each currency, in which the devices of a cohort earned, is worth in `currency` on one day: by that day's rate,
 * else the latest earlier one. A currency without a rate is missing. Reports that ask for revenue device by device use one day for
 * all of it, so that a rate that changes looks like no difference between devices.
 */
export async function readRates(
  db: Database,
  d1: D1Database,
  application: Reported,
  { from, to, currency, day }: { from: string; to: string; currency: string; day: string },
): Promise<Record<string, number>> {
  const rows = await db
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
