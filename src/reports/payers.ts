import { DEVICE_DIMENSIONS, groupedAs, SEGMENT_DIMENSIONS, storedAs, storedValue } from '#catalogue';
import {
  countPayers as askCounters,
  type DeviceFilter,
  type DevicesOf,
  type PayerGrouping,
  type Payers,
} from '#counting';
import { findCreativeIds } from '#creatives';
import { database } from '#db';
import { daysOf } from '#lib/calendar';
import type { DayRange } from '#lib/time';
import { type DimensionName, isNamed, isTime, spansOf } from './dimensions.ts';
import type { GroupValues } from './engine/group-cells.ts';
import { isByCreative } from './filters.ts';
import { CreativeNames } from './names.ts';
import type { Reported, ReportFilters } from './query.ts';

// A device that paid or was active on two days of a period is one device of the period, so the daily figures of the rollups cannot be added up. The
// counters know the days of each device.

export type DeviceCounts = {
  /** The distinct devices of the whole period. */
  total: number;
  /** Those of the row with these values. `byDay` is the sum of the rollups, which is exact for a single day. */
  row: (values: GroupValues, byDay: number) => number;
  /** Those of the row that sums up the rest; null if devices may be in several rows. */
  rest: (shown: readonly number[]) => number | null;
};

type DevicesRequest = {
  of: DevicesOf;
  names: readonly DimensionName[];
  from: string;
  to: string;
  filters: ReportFilters;
  /** The days that decide for a row of these days, if they are others. */
  reach?: (days: DayRange) => DayRange;
};

/** The device filter for a report's filters. The counters know creatives, but not their ad sets or campaigns. */
export async function deviceFilterOf(
  db: D1Database,
  applicationId: string,
  filters: ReportFilters,
): Promise<DeviceFilter> {
  const { attribution } = filters;
  const segment = SEGMENT_DIMENSIONS.flatMap((name) => {
    const values = filters[name];
    return values ? [[name, values.flatMap((value) => storedAs(name, storedValue(value)))] as const] : [];
  });
  return {
    segment: Object.fromEntries(segment),
    ...(isByCreative(filters)
      ? { creativeIds: await findCreativeIds(database(db), applicationId, filters) }
      : {}),
    ...(attribution && attribution !== 'all' ? { attribution } : {}),
  };
}

/** The property of a device that a dimension groups by; null if devices do not have it. */
function groupingOf(name: DimensionName): PayerGrouping | null {
  if (isNamed(name)) return 'creative';
  return DEVICE_DIMENSIONS.find((own) => own === name) ?? null;
}

export const NO_DEVICES: DeviceCounts = { total: 0, row: (_, byDay) => byDay, rest: () => 0 };

/** Distinct devices, in the whole period and in each row. */
export async function countDevices(
  env: Pick<Env, 'DB' | 'COUNTERS'>,
  application: Reported,
  { of, names, from, to, filters, reach }: DevicesRequest,
): Promise<DeviceCounts> {
  const filter = await deviceFilterOf(env.DB, application.id, filters);
  const reachOf = reach ?? ((days: DayRange) => days);
  const whole = reachOf({ from, to });
  // Rows of a single day are exact as they are. Rows by hour, or by something that is not a property of devices, have no payers.
  const isKnown = names.every((name) => isTime(name) || groupingOf(name) !== null);
  const isByDay = names.includes('day') && of === 'paid';
  if (isByDay || names.includes('hour') || !isKnown) {
    const found = await askCounters(env, application, { of, periods: [whole], by: [], filter });
    return { total: totalOf(found), row: (_, own) => own, rest: () => null };
  }
  const spans = spansWithin(from, to, names);
  const by = [...new Set(names.flatMap((name) => groupingOf(name) ?? []))];
  const periods = [whole, ...spans.map(({ period }) => reachOf(period))];
  const found = await askCounters(env, application, { of, periods, by, filter });
  const creatives = new CreativeNames(database(env.DB), application.id, names.filter(isNamed));
  await creatives.use(found.map(({ creativeId }) => creativeId));
  const counts = new Map<string, number>();
  for (const { period, creativeId, segment, devices } of found) {
    const span = spans[period - 1];
    if (!span) continue;
    const parts = names.map((name, index) => {
      if (isNamed(name)) return creatives.of(creativeId, name) || null;
      const own = DEVICE_DIMENSIONS.find((dimension) => dimension === name);
      return own ? groupedAs(own, segment[own]) || null : (span.values[index] ?? null);
    });
    const key = JSON.stringify(parts);
    counts.set(key, (counts.get(key) ?? 0) + devices);
  }
  const total = totalOf(found.filter(({ period }) => period === 0));
  return {
    total,
    row: (values) => counts.get(JSON.stringify(values)) ?? 0,
    // Each device has one creative and one value of each dimension, so rows that differ in these have no devices in common.
    rest: (shown) => (names.some(isTime) ? null : shown.reduce((left, own) => left - own, total)),
  };
}

const totalOf = (found: Payers) => found.reduce((sum, { devices }) => sum + devices, 0);

/** The periods that the rows cover; only the whole period if no grouping is by time. */
function spansWithin(from: string, to: string, names: readonly DimensionName[]) {
  const spans = new Map<string, { values: GroupValues; period: DayRange }>();
  for (const day of daysOf(from, to)) {
    const values = spansOf(day, names);
    const key = JSON.stringify(values);
    const span = spans.get(key);
    if (span) span.period.to = day;
    else spans.set(key, { values, period: { from: day, to: day } });
  }
  return [...spans.values()];
}
