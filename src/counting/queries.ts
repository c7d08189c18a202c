import { sql } from 'drizzle-orm';
import { daysBetween } from '#lib/time';
import type { ClientTotals, Cohort, Payers } from './api.ts';
import { readRuns } from './runs.ts';
import { devices } from './schema.ts';
import type { Store } from './store.ts';
import { joinLimbs, MIXED } from './totals.ts';

const MAX_GAPS = 200;

type TotalsRow = [
  currency: string,
  devices: number,
  gaps: number,
  countedHigh: number,
  countedLow: number,
  clientHigh: number,
  clientLow: number,
];

const KINDS = [
  ['ad', devices.adTotals],
  ['purchase', devices.purchaseTotals],
] as const;

/** See `CounterApi.clientTotals`. Reads the row of every device of the cohort, none of their events. */
export function clientTotals(store: Store, { from, to }: Cohort): ClientTotals {
  const answer: ClientTotals = { totals: [], gaps: [] };
  for (const [kind, column] of KINDS) {
    const ofCohort = sql`${devices.acquiredDay} BETWEEN ${from} AND ${to} AND ${column} ->> 5 IS NOT NULL`;
    const rows = store.values<TotalsRow>(sql`
      SELECT ${column} ->> 1 AS currency, count(*), sum(${column} ->> 2), sum(${column} ->> 3), sum(${column} ->> 4),
        sum(${column} ->> 5), sum(${column} ->> 6)
      FROM ${devices} WHERE ${ofCohort} GROUP BY 1`);
    for (const [currency, count, gaps, countedHigh, countedLow, clientHigh, clientLow] of rows) {
      const isMixed = currency === MIXED;
      answer.totals.push({
        kind,
        currency: isMixed ? null : currency,
        devices: count,
        devicesWithGap: gaps,
        client: isMixed ? null : `${joinLimbs(clientHigh, clientLow)}`,
        counted: isMixed ? null : `${joinLimbs(countedHigh, countedLow)}`,
      });
    }
    const gaps = store.values<[string, string, number, number, number, number]>(sql`
      SELECT ${devices.id}, ${column} ->> 1, ${column} ->> 3, ${column} ->> 4, ${column} ->> 5, ${column} ->> 6
      FROM ${devices} WHERE ${ofCohort} AND ${column} ->> 2 = 1
      ORDER BY abs((${column} ->> 5) - (${column} ->> 3)) DESC, abs((${column} ->> 6) - (${column} ->> 4)) DESC, ${devices.id}
      LIMIT ${MAX_GAPS}`);
    for (const [deviceId, currency, countedHigh, countedLow, clientHigh, clientLow] of gaps) {
      answer.gaps.push({
        deviceId,
        kind,
        currency,
        client: `${joinLimbs(clientHigh, clientLow)}`,
        counted: `${joinLimbs(countedHigh, countedLow)}`,
      });
    }
  }
  return { ...answer, gaps: largestGaps(answer.gaps) };
}

type Gap = ClientTotals['gaps'][number];
const byName = (left: Gap, right: Gap) =>
  `${left.deviceId}/${left.kind}` < `${right.deviceId}/${right.kind}` ? -1 : 1;

/** The largest gaps of several counters' or kinds', at most 200; equal ones in the order of their devices. */
export function largestGaps(gaps: ClientTotals['gaps']): ClientTotals['gaps'] {
  const size = ({ client, counted }: ClientTotals['gaps'][number]) => {
    const gap = BigInt(client) - BigInt(counted);
    return gap < 0n ? -gap : gap;
  };
  return gaps
    .map((gap) => ({ gap, size: size(gap) }))
    .sort((left, right) =>
      left.size === right.size ? byName(left.gap, right.gap) : left.size < right.size ? 1 : -1,
    )
    .slice(0, MAX_GAPS)
    .map(({ gap }) => gap);
}

/** See `CounterApi.payers`. Reads the row of every device that ever paid, by an index. */
export function payers(store: Store, periods: readonly Cohort[]): Payers {
  const latest = periods.reduce((day, { to }) => (to > day ? to : day), '');
  const paying = store.values<[string, string, string]>(sql`
    SELECT ${devices.acquiredDay}, ${devices.creativeId}, ${devices.paidDays} FROM ${devices}
    WHERE paid_days <> '' AND ${devices.acquiredDay} <= ${latest}`);
  const counts = periods.map(() => new Map<string, number>());
  for (const [acquiredDay, creativeId, paidDays] of paying) {
    const runs = readRuns(paidDays);
    for (const [index, { from, to }] of periods.entries()) {
      const [first, last] = [daysBetween(acquiredDay, from), daysBetween(acquiredDay, to)];
      if (!runs.some((run) => run[0] <= last && run[1] >= first)) continue;
      const own = counts[index];
      own?.set(creativeId, (own.get(creativeId) ?? 0) + 1);
    }
  }
  return counts.flatMap((own, period) =>
    [...own].map(([creativeId, count]) => ({ period, creativeId, devices: count })),
  );
}
