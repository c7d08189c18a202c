import { type Column, type SQL, sql } from 'drizzle-orm';
import { isAmong } from '#db';
import { daysBetween } from '#lib/time';
import type { ClientTotals, Cohort, DeviceFilter, PayerGrouping, Payers, PayersQuery } from './questions.ts';
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

/** See `CounterApi.clientTotals`. Reads the row of every device in the cohort, but none of their events. */
export function clientTotals(store: Store, { from, to }: Cohort, filter: DeviceFilter): ClientTotals {
  const answer: ClientTotals = { totals: [], gaps: [] };
  for (const [kind, column] of KINDS) {
    const ofCohort = sql`${devices.acquiredDay} BETWEEN ${from} AND ${to} AND ${column} ->> 5 IS NOT NULL ${ofFilter(filter)}`;
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

/** The 200 largest gaps over several counters or kinds; equal ones are ordered by device. */
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

/** A device filter as an SQL condition. */
export function ofFilter({ creativeIds, countries, oses, appVersions, attribution }: DeviceFilter): SQL {
  const among = (value: SQL | Column, values: readonly string[] | undefined) =>
    values ? sql`AND ${isAmong(sql`coalesce(${value}, '')`, values)}` : sql``;
  const paid = attribution === 'paid' ? sql`AND ${devices.creativeId} <> ''` : sql``;
  const organic = attribution === 'organic' ? sql`AND ${devices.creativeId} = ''` : sql``;
  return sql`${among(devices.creativeId, creativeIds)} ${among(DESCRIBED.country, countries)}
    ${among(DESCRIBED.os, oses)} ${among(DESCRIBED.appVersion, appVersions)} ${paid} ${organic}`;
}

const DESCRIBED = {
  country: sql`${devices.description} ->> 'country'`,
  os: sql`${devices.description} ->> 'os'`,
  appVersion: sql`${devices.description} ->> 'appVersion'`,
};

/** Devices read at once. */
const PAGE = 5_000;

type PayingRow = [
  id: string,
  acquiredDay: string,
  paidDays: string,
  creativeId: string,
  country: string,
  os: string,
];

/** See `CounterApi.payers`. Reads the row of every device that ever paid, through an index, in portions. */
export function payers(store: Store, { periods, by, filter }: PayersQuery): Payers {
  const latest = periods.reduce((day, { to }) => (to > day ? to : day), '');
  const counts = new Map<string, Payers[number]>();
  const shown = (name: PayerGrouping, value: string) => (by.includes(name) ? value : '');
  for (const [, acquiredDay, paidDays, creative, country, os] of payingDevices(store, latest, filter)) {
    const runs = readRuns(paidDays);
    const own = {
      creativeId: shown('creative', creative),
      country: shown('country', country),
      os: shown('os', os),
    };
    const name = `${own.creativeId}/${own.country}/${own.os}`;
    for (const [period, { from, to }] of periods.entries()) {
      const [first, last] = [daysBetween(acquiredDay, from), daysBetween(acquiredDay, to)];
      if (!runs.some((run) => run[0] <= last && run[1] >= first)) continue;
      const key = `${period}/${name}`;
      const count = counts.get(key);
      if (count) count.devices++;
      else counts.set(key, { period, ...own, devices: 1 });
    }
  }
  return [...counts.values()];
}

function* payingDevices(store: Store, latest: string, filter: DeviceFilter): Generator<PayingRow> {
  for (let [day, id] = ['', '']; ; ) {
    const page = store.values<PayingRow>(sql`
      SELECT ${devices.id}, ${devices.acquiredDay}, ${devices.paidDays}, ${devices.creativeId},
        coalesce(${DESCRIBED.country}, ''), coalesce(${DESCRIBED.os}, '')
      FROM ${devices}
      WHERE paid_days <> '' AND (${devices.acquiredDay}, ${devices.id}) > (${day}, ${id})
        AND ${devices.acquiredDay} <= ${latest} ${ofFilter(filter)}
      ORDER BY ${devices.acquiredDay}, ${devices.id} LIMIT ${PAGE}`);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    [id, day] = last;
  }
}
