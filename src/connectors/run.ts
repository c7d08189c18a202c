import { and, asc, eq, exists, lte, sql } from 'drizzle-orm';
import { applications, connectors, database, reportedAdRevenue, retryTransient } from '#db';
import { settingsOf } from '#env';
import { decryptText } from '#lib/crypto';
import { logWarning } from '#lib/log';
import { addDays, DAY_MS } from '#lib/time';
import type { ConnectorRow } from './connectors.ts';
import { type Fetch, PLATFORMS, type Platform } from './platforms.ts';
import type { NetworkSums } from './report-file.ts';

const HOUR_MS = 3_600_000;
/** The days that a connector reads when it is new; a platform may keep no more than 14. */
const FIRST_DAYS = 7;
/** Per run of the cron. Each downloads a file per day. */
const RUNS_AT_ONCE = 5;
const MAX_ERROR = 300;

const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);

/** The days (UTC) to read: those that are complete and may have changed since the last success. */
export function daysToRead(platform: Platform, lastSuccessAt: number | null, now: number): string[] {
  const latest = isoDay(now - platform.readyHour * HOUR_MS - DAY_MS);
  const missed =
    lastSuccessAt === null ? FIRST_DAYS : Math.ceil((now - lastSuccessAt) / DAY_MS) + platform.revisedDays;
  const count = Math.min(FIRST_DAYS, Math.max(platform.revisedDays, missed));
  return Array.from({ length: count }, (_, index) => addDays(latest, index + 1 - count));
}

/** The next time that another day is complete. */
function nextReady({ readyHour }: Platform, now: number): number {
  const today = Date.parse(isoDay(now)) + readyHour * HOUR_MS;
  return today > now ? today : today + DAY_MS;
}

/** `PLATFORMS` of a kind that this release knows. */
const platformOf = (kind: string): Platform | undefined =>
  Object.hasOwn(PLATFORMS, kind) ? PLATFORMS[kind as keyof typeof PLATFORMS] : undefined;

async function readDays(
  env: Env,
  row: ConnectorRow,
  platform: Platform,
  days: readonly string[],
  fetcher: Fetch,
) {
  const text = await decryptText(settingsOf(env).KEY_ENCRYPTION_SECRET, row.credentials);
  if (text === null)
    throw new Error('the credentials were encrypted under another secret; add the connector again');
  const request = { settings: row.settings, credentials: JSON.parse(text) as Record<string, string> };
  const read: { day: string; sums: NetworkSums }[] = [];
  for (const day of days) read.push({ day, sums: await platform.read({ ...request, day }, fetcher) });
  return read;
}

/**
 * Fetches a connector's days and replaces what is stored of them, all or none: nothing of a failed run is kept. Returns why it failed, and
 * null for a success. Idempotent. Does not throw for what a platform answers; throws if the database cannot be written.
 */
export async function runConnector(
  env: Env,
  row: ConnectorRow,
  now: number,
  fetcher: Fetch = (url, init) => fetch(url, init),
): Promise<string | null> {
  const db = database(env.DB);
  const own = eq(connectors.id, row.id);
  const platform = platformOf(row.kind);
  const finish = (set: Partial<ConnectorRow>) =>
    db
      .update(connectors)
      .set({ lastRunAt: now, ...set })
      .where(own);
  if (!platform) return `this release knows no connector ${row.kind}`;
  const days = daysToRead(platform, row.lastSuccessAt, now);
  let read: Awaited<ReturnType<typeof readDays>>;
  try {
    read = await readDays(env, row, platform, days, fetcher);
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR);
    logWarning(`connector ${row.id} failed`, reason, { application_id: row.applicationId });
    await retryTransient(() => finish({ lastError: reason, nextRunAt: now + HOUR_MS }));
    return reason;
  }
  const values = read.flatMap(({ day, sums }) =>
    [...sums].map(([network, { impressions, nanos }]) => [day, network, impressions, nanos.toString()]),
  );
  const { applicationId, connectorId, day } = reportedAdRevenue;
  await retryTransient(() =>
    db.batch([
      db
        .delete(reportedAdRevenue)
        .where(
          and(
            eq(applicationId, row.applicationId),
            eq(connectorId, row.id),
            sql`${day} IN (SELECT value FROM json_each(${JSON.stringify(days)}))`,
          ),
        ),
      // A connector that was deleted meanwhile leaves nothing.
      db.insert(reportedAdRevenue).select(
        db
          .select({
            applicationId: sql<string>`${row.applicationId}`.as('application_id'),
            connectorId: sql<string>`${row.id}`.as('connector_id'),
            day: sql<string>`value ->> 0`.as('day'),
            network: sql<string>`value ->> 1`.as('network'),
            impressions: sql<number>`value ->> 2`.as('impressions'),
            revenue: sql<number>`CAST(value ->> 3 AS INTEGER)`.as('revenue'),
          })
          .from(sql`json_each(${JSON.stringify(values)})`)
          .where(exists(db.select({ id: connectors.id }).from(connectors).where(own))),
      ),
      finish({ lastError: null, lastSuccessAt: now, nextRunAt: nextReady(platform, now) }),
    ]),
  );
  return null;
}

/** Runs the connectors that are due, the longest due first. */
export async function runDueConnectors(env: Env, now: number): Promise<void> {
  const db = database(env.DB);
  const due = await db
    .select({ connector: connectors })
    .from(connectors)
    .innerJoin(applications, eq(applications.id, connectors.applicationId))
    .where(lte(connectors.nextRunAt, now))
    .orderBy(asc(connectors.nextRunAt))
    .limit(RUNS_AT_ONCE);
  for (const { connector } of due) {
    // The next minute's run does not start it again. If this one is cut off, it is tried again in an hour.
    await db
      .update(connectors)
      .set({ nextRunAt: now + HOUR_MS })
      .where(eq(connectors.id, connector.id));
    await runConnector(env, connector, now);
  }
}
