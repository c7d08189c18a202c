import { and, between, eq, sql } from 'drizzle-orm';
import * as z from 'zod';
import { type Database, database, reportedAdRevenue } from '#db';
import { atMostDays, dayText, requiredText } from '#http';
import { amountField, toNanos } from '#lib/money';
import { MAX_ROWS, PerformanceQuery, reportPerformance } from '#reports';
import type { ApplicationRow } from '#teams';
import type { Reconciliation } from './answers.ts';
import { demandOf } from './report-file.ts';

/** A report of events has at most 1,000 rows: enough for 32 networks a day. */
export const MAX_DAYS = 31;
/** Reports of mediation platforms are in US dollars. */
const CURRENCY = 'usd';

/** Query of `GET /v1/reports/ad-revenue`. */
export const ReconciliationQuery = z
  .object({ application_id: requiredText(128), from: dayText(), to: dayText() })
  .superRefine(atMostDays(MAX_DAYS));
type ReconciliationQuery = z.infer<typeof ReconciliationQuery>;

type ImpressionRevenue = { impressions: number; nanos: bigint };
type RevenueOrigin = 'arrived' | 'reported';

/** What platforms reported, by day and network, of all connectors. */
async function readReported(db: Database, applicationId: string, { from, to }: ReconciliationQuery) {
  const { day, network, impressions, revenue } = reportedAdRevenue;
  return db
    .select({
      day,
      network,
      impressions: sql<number>`sum(${impressions})`,
      nanos: sql<string>`CAST(sum(${revenue}) AS TEXT)`,
    })
    .from(reportedAdRevenue)
    .where(and(eq(reportedAdRevenue.applicationId, applicationId), between(day, from, to)))
    .groupBy(day, network);
}

/** What arrived with events, by day and network. */
async function readArrived(
  env: Env,
  application: ApplicationRow,
  { from, to }: ReconciliationQuery,
  now: number,
) {
  const asked = PerformanceQuery.parse({
    ...{ application_id: application.id, from, to, currency: CURRENCY },
    ...{ group_by: 'day,media_source', metrics: 'impressions,ad_revenue', limit: String(MAX_ROWS) },
  });
  const report = await reportPerformance(env, application, asked, now);
  return report.data.map((row) => ({
    day: String(row.day ?? ''),
    network: demandOf(String(row.media_source ?? '')),
    impressions: Number(row.impressions),
    nanos: toNanos(Number(row.ad_revenue)),
  }));
}

type ReconciledRevenue = Record<RevenueOrigin, ImpressionRevenue>;
const NONE: ReconciledRevenue = {
  arrived: { impressions: 0, nanos: 0n },
  reported: { impressions: 0, nanos: 0n },
};

const plus = <Row extends ReconciledRevenue>(
  row: Row,
  side: RevenueOrigin,
  { impressions, nanos }: ImpressionRevenue,
): Row => ({
  ...row,
  [side]: { impressions: row[side].impressions + impressions, nanos: row[side].nanos + nanos },
});

function shown({ arrived, reported }: ReconciledRevenue) {
  return {
    impressions_arrived: arrived.impressions,
    impressions_reported: reported.impressions,
    impressions_difference: arrived.impressions - reported.impressions,
    ...amountField('revenue_arrived', arrived.nanos),
    ...amountField('revenue_reported', reported.nanos),
    ...amountField('revenue_difference', arrived.nanos - reported.nanos),
  };
}

/**
 * What arrived of ad impressions beside what mediation platforms report, by day and network, in US dollars. Platforms count days in UTC, the
 * service in the application's time zone. The caller has checked that the application belongs to the team.
 */
export async function reconcileAdRevenue(
  env: Env,
  application: ApplicationRow,
  query: ReconciliationQuery,
  now: number,
): Promise<Omit<Reconciliation, 'counted_through' | 'uncounted'>> {
  const [reported, arrived] = await Promise.all([
    readReported(database(env.DB), application.id, query),
    readArrived(env, application, query, now),
  ]);
  const rows = new Map<string, { day: string; network: string } & ReconciledRevenue>();
  const networks = new Map<string, ReconciledRevenue>();
  let totals = NONE;
  const add = (side: RevenueOrigin, day: string, network: string, sums: ImpressionRevenue) => {
    const key = `${day} ${network}`;
    const row = rows.get(key) ?? { day, network, ...NONE };
    rows.set(key, plus(row, side, sums));
    networks.set(network, plus(networks.get(network) ?? NONE, side, sums));
    totals = plus(totals, side, sums);
  };
  for (const { day, network, ...sums } of arrived) add('arrived', day, network, sums);
  for (const { day, network, impressions, nanos } of reported) {
    add('reported', day, network, { impressions, nanos: BigInt(nanos) });
  }
  const data = [...rows.values()]
    .sort((left, right) =>
      left.day === right.day ? (left.network < right.network ? -1 : 1) : left.day < right.day ? -1 : 1,
    )
    .map(({ day, network, ...sums }) => ({ day, network, ...shown(sums) }));
  const byNetwork = [...networks]
    .sort(([, left], [, right]) => Number(right.reported.nanos - left.reported.nanos))
    .map(([network, sums]) => ({ network, ...shown(sums) }));
  return {
    data,
    networks: byNetwork,
    totals: shown(totals),
    currency: CURRENCY,
    timezone: application.timezone,
  };
}
