import { and, between, eq, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { type Database, reportedAdRevenue } from '#db';
import { daysOf } from '#lib/calendar';
import type { Fetch } from '#lib/input/fetch';
import type { ConnectorRow } from './connector-row.ts';
import type { Platform } from './platforms.ts';
import type { Replacement } from './replacement.ts';
import type { NetworkSums } from './report-file.ts';
import type { Window } from './windows.ts';

const total = (sums: Iterable<bigint>) => [...sums].reduce((left, right) => left + right, 0n);

/** Reads a platform's report of some days, and prepares to replace what is stored of them. Throws with what the platform says is wrong. */
export async function readAdRevenue(
  db: Database,
  platform: Platform,
  row: ConnectorRow,
  { from, to }: Window,
  { credentials, fetcher, when }: { credentials: Record<string, string>; fetcher: Fetch; when: SQL },
): Promise<Replacement> {
  const { applicationId, connectorId, day, revenue } = reportedAdRevenue;
  const own = and(eq(applicationId, row.applicationId), eq(connectorId, row.id), between(day, from, to));
  const days = daysOf(from, to);
  const read: { day: string; sums: NetworkSums }[] = [];
  for (const one of days) {
    const sums = await platform.read({ settings: row.settings, credentials, day: one }, fetcher);
    read.push({ day: one, sums });
  }
  const stored = await db
    .select({ day, nanos: sql<string>`CAST(sum(${revenue}) AS TEXT)` })
    .from(reportedAdRevenue)
    .where(own)
    .groupBy(day);
  const before = new Map(stored.map((one) => [one.day, BigInt(one.nanos)]));
  const after = new Map(
    read.map((one) => [one.day, total([...one.sums.values()].map(({ nanos }) => nanos))]),
  );
  const values = read.flatMap((one) =>
    [...one.sums].map(([name, { impressions, nanos }]) => [one.day, name, impressions, nanos.toString()]),
  );
  return {
    statements: (): BatchItem<'sqlite'>[] => [
      db.delete(reportedAdRevenue).where(own),
      // In the order of the table's columns.
      db.insert(reportedAdRevenue).select(
        sql`SELECT ${row.applicationId}, ${row.id}, value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS INTEGER)
          FROM json_each(${JSON.stringify(values)}) WHERE ${when}`,
      ),
    ],
    change: {
      ...{ from, to, days: days.length, rows: values.length },
      changedDays: days.filter((one) => (before.get(one) ?? 0n) !== (after.get(one) ?? 0n)).length,
      before: [{ currency: 'usd', nanos: `${total(before.values())}` }],
      after: [{ currency: 'usd', nanos: `${total(after.values())}` }],
    },
    account: { currency: 'usd', timezone: 'UTC' },
    expiresAt: null,
  };
}
