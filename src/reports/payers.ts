import { countPayers as askCounters, type DeviceFilter, type PayerGrouping, type Payers } from '#counting';
import { findCreativeGroups, findCreativeIds } from '#creatives';
import { database } from '#db';
import { daysOf } from '#lib/calendar';
import { type DimensionName, isNamed, isTime, spansOf } from './dimensions.ts';
import type { CreativeGroup } from './names.ts';
import type { Reported, ReportFilters } from './query.ts';

// Who paid on two days of a period is one payer of it, so what the rollups have by day can't be added up. The counters know the
// days on which each device paid.

type Values = readonly (string | null)[];

export type PayerCounts = {
  /** Of the whole period. */
  total: number;
  /** Of the row of these values; `byDay` is what the rollups add up, which is exact for a single day. */
  row: (values: Values, byDay: number) => number;
  /** Of the row that sums up the rest; null where devices may be in several rows. */
  rest: (shown: readonly unknown[]) => number | null;
};

type Asked = { names: readonly DimensionName[]; from: string; to: string; filters: ReportFilters };

/** The devices that the filters leave. The counters know creatives, not what these are in. */
export async function deviceFilterOf(
  db: D1Database,
  applicationId: string,
  { campaign_id, adset_id, creative_id, country, os, app_version, attribution }: ReportFilters,
): Promise<DeviceFilter> {
  const known = (values: string[]) => values.map((value) => (value === 'unknown' ? '' : value));
  return {
    ...(campaign_id || adset_id || creative_id
      ? {
          creativeIds: await findCreativeIds(database(db), applicationId, {
            campaign_id,
            adset_id,
            creative_id,
          }),
        }
      : {}),
    ...(country ? { countries: known(country) } : {}),
    ...(os ? { oses: known(os) } : {}),
    ...(app_version ? { appVersions: known(app_version) } : {}),
    ...(attribution ? { attribution } : {}),
  };
}

/** The property of a device that a dimension groups by; null if devices do not have it. */
function groupingOf(name: DimensionName): PayerGrouping | null {
  if (isNamed(name)) return 'creative';
  return name === 'country' || name === 'os' ? name : null;
}

export const NO_PAYERS: PayerCounts = { total: 0, row: (_, byDay) => byDay, rest: () => 0 };

/** Distinct devices that paid, of the whole period and of each row. `byDay`: what the rollups have of the whole, added up. */
export async function countPayers(
  env: Pick<Env, 'DB' | 'COUNTERS'>,
  application: Reported,
  { names, from, to, filters }: Asked,
  byDay: number,
): Promise<PayerCounts> {
  if (byDay === 0) return NO_PAYERS;
  const filter = await deviceFilterOf(env.DB, application.id, filters);
  const whole = { from, to };
  // Rows of a single day are exact as they are; rows by what no device tells, and by hour, have no payers.
  const isKnown = names.every((name) => isTime(name) || groupingOf(name) !== null);
  if (names.includes('day') || names.includes('hour') || !isKnown) {
    const found = await askCounters(env, application, { periods: [whole], by: [], filter });
    return { total: totalOf(found), row: (_, own) => own, rest: () => null };
  }
  const spans = spansWithin(from, to, names);
  const by = [...new Set(names.flatMap((name) => groupingOf(name) ?? []))];
  const periods = [whole, ...spans.map(({ period }) => period)];
  const found = await askCounters(env, application, { periods, by, filter });
  const groups = by.includes('creative') ? await readGroups(env.DB, application.id, found) : new Map();
  const counts = new Map<string, number>();
  for (const { period, creativeId, country, os, devices } of found) {
    const span = spans[period - 1];
    if (!span) continue;
    const parts = names.map((name, index) => {
      if (isTime(name)) return span.values[index] ?? null;
      if (name === 'country' || name === 'os') return { country, os }[name] || null;
      return groups.get(creativeId)?.[name as CreativeGroup] ?? null;
    });
    const key = JSON.stringify(parts);
    counts.set(key, (counts.get(key) ?? 0) + devices);
  }
  const total = totalOf(found.filter(({ period }) => period === 0));
  return {
    total,
    row: (values) => counts.get(JSON.stringify(values.map((value, index) => idOf(value, names[index])))) ?? 0,
    // Each device has one creative, one country and one OS, so rows that differ in these have no device in common.
    rest: (shown) =>
      names.some(isTime) ? null : shown.reduce<number>((left, own) => left - (Number(own) || 0), total),
  };
}

const totalOf = (found: Payers) => found.reduce((sum, { devices }) => sum + devices, 0);

/** Creatives, ad sets and campaigns are identified by their ids, not their names. */
function idOf(value: string | null, name: DimensionName | undefined): string | null {
  return value !== null && isNamed(name) ? (JSON.parse(value) as [string | null])[0] : value;
}

/** The spans of days that the rows cover; a single one, the whole period, if no grouping is by time. */
function spansWithin(from: string, to: string, names: readonly DimensionName[]) {
  const spans = new Map<string, { values: Values; period: { from: string; to: string } }>();
  for (const day of daysOf(from, to)) {
    const values = spansOf(day, names);
    const key = JSON.stringify(values);
    const span = spans.get(key);
    if (span) span.period.to = day;
    else spans.set(key, { values, period: { from: day, to: day } });
  }
  return [...spans.values()];
}

async function readGroups(
  db: D1Database,
  applicationId: string,
  found: Payers,
): Promise<Map<string, Record<CreativeGroup, string>>> {
  const creative_id = found.flatMap(({ creativeId }) => creativeId ?? []);
  const rows = await findCreativeGroups(database(db), applicationId, {
    creative_id: [...new Set(creative_id)],
  });
  return new Map(rows.map((row) => [row.creative, row]));
}
