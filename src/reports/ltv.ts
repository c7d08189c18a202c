import { type SQL, sql } from 'drizzle-orm';
import * as z from 'zod';
import { cohortRevenue, database } from '#db';
import { currencyCode } from '#http';
import { dayIn } from '#lib/time';
import { scanBlocks } from './block-scan.ts';
import { CohortRevenue, type RevenueRow } from './cohort-revenue.ts';
import { cohortScan, type ReadCohorts, readCohorts } from './cohort-scan.ts';
import { type CohortQuestion, knowsSpend, needsCohortBlocks } from './cohorts.ts';
import { scanCosts } from './cost-scan.ts';
import { DayRates, END_OF_TIME } from './day-rates.ts';
import { deviceGroupBy, isOfCreatives } from './device-groups.ts';
import { lifetimeValueOf } from './metrics.ts';
import { microsSql, rateDaySql, readMicros, unconvertedOf } from './money.ts';
import { checkPeriod, cohortPeriod, filtersOf, type Reported } from './query.ts';
import { daysOf, rowsOf } from './retention.ts';
import { ACQUIRED, EARNED, type Period, rowsIn } from './sources.ts';

export const LtvQuery = z
  .object({ ...cohortPeriod, group_by: deviceGroupBy, currency: currencyCode().optional() })
  .superRefine(checkPeriod);
export type LtvQuery = z.infer<typeof LtvQuery>;

/**
 * The lifetime-value report: for each cohort, the revenue by day N per device and relative to spend. Only devices whose day N is over
 * count, and only the costs of the days on which they were acquired.
 */
export async function reportLtv(db: D1Database, application: Reported, query: LtvQuery, now: number) {
  const today = dayIn(application.timezone, now);
  const reporting = query.currency ?? application.currency;
  const asked = { ...query, filters: filtersOf(query), today };
  const cohorts = await readCohorts(db, application.id, asked);
  const rates = new DayRates(db, {
    teamId: application.teamId,
    reporting,
    from: query.from,
    // Devices earn revenue on any later day.
    to: END_OF_TIME,
  });
  const value = await readValue(db, application.id, { ...asked, reporting }, { cohorts, rates });
  const hasSpend = knowsSpend(asked);
  const { numbers } = cohorts.cells;
  const data = rowsOf(cohorts, asked).map(({ key, row }) => {
    const size = cohorts.sizes[row] ?? 0;
    const dayOf = (number: number) =>
      lifetimeValueOf({
        size,
        eligible: cohorts.details.of(row, number).eligible,
        revenue: value.revenue.of(row, numbers.indexOf(number)),
        spend: hasSpend ? value.spend.of(row, numbers.indexOf(number)) : null,
      });
    return { ...key, size, days: daysOf(query.days, dayOf) };
  });
  return {
    data,
    total_rows: cohorts.cut?.total ?? data.length,
    currency: reporting,
    timezone: application.timezone,
    unconverted: unconvertedOf(rates.missing),
  };
}

/**
 * SQL for the revenue of all creatives together, by the days of acquisition and of its rate. Revenue after the last of `days` is left out.
 */
export function revenueSql(days: readonly number[], asked: Period & { reporting: string }): SQL {
  const { acquiredDay, day, currency } = cohortRevenue;
  const age = sql`julianday(${day}) - julianday(${acquiredDay})`;
  return sql`SELECT ${acquiredDay} AS acquiredDay, ${rateDaySql(currency, day, asked.reporting)} AS rateDay,
      ${currency} AS currency, ${firstDayFrom(age, days)} AS asked, ${microsSql(EARNED)} AS micros
    ${rowsIn(ACQUIRED, asked)}
    GROUP BY 1, 2, 3, 4 HAVING asked IS NOT NULL`;
}

/** SQL for the smallest of these day numbers that is at least `age`; null if there is none. There may be more of them than parameters. */
function firstDayFrom(age: SQL, days: readonly number[]): SQL {
  const sorted = [...days].sort((left, right) => left - right);
  const cases = sorted.map((day) => sql`WHEN ${age} <= ${day} THEN ${day}`);
  return sql`CASE ${sql.join(cases, sql` `)} END`.inlineParams();
}

async function addRevenue(
  db: D1Database,
  applicationId: string,
  asked: CohortQuestion & { reporting: string },
  value: CohortRevenue,
): Promise<void> {
  const query = revenueSql(asked.days, { ...asked, applicationId });
  const rows = await database(db).all<RevenueRow & { micros: string }>(query);
  await value.addRevenue(rows.map((row) => ({ ...row, micros: readMicros(row.micros) })));
}

/** Reads what the devices of the cohorts have earned and, if it is known, what was spent on them. */
async function readValue(
  db: D1Database,
  applicationId: string,
  asked: CohortQuestion & { reporting: string },
  { cohorts, rates }: { cohorts: ReadCohorts; rates: DayRates },
): Promise<CohortRevenue> {
  const { group_by: group } = asked;
  const value = new CohortRevenue(cohorts.cells, rates, cohorts.sizes.length);
  if (needsCohortBlocks(asked)) {
    const scan = cohortScan(applicationId, 'cohort_revenue', asked);
    for await (const chunk of scanBlocks(db, scan)) await value.read(chunk);
  } else await addRevenue(db, applicationId, asked, value);
  if (!knowsSpend(asked)) return value;
  const names = ['day' as const, ...(group && isOfCreatives(group) ? [group] : [])];
  for await (const chunk of scanCosts(db, { ...asked, applicationId, names })) await value.read(chunk);
  return value;
}
