import { type Basis, MAU_DAYS, METRICS, type Metric, OF_DEVICES, type Sums } from '#catalogue';
import type { DevicesOf } from '#counting';
import { addDays, type DayRange } from '#lib/time';
import type { DimensionName } from './dimensions.ts';
import type { GroupValues } from './engine/group-cells.ts';
import { countDevices, type DeviceCounts, NO_DEVICES } from './payers.ts';
import type { Reported, ReportFilters } from './query.ts';

// Distinct devices of the rows of a performance report.

export type DeviceSums = Pick<Sums, 'periodActive' | 'monthlyActive' | 'acquiredPayers'>;

type DevicesAsked = {
  names: readonly DimensionName[];
  from: string;
  to: string;
  filters: ReportFilters;
};

/** The payers of the rows. `byDay` is the sum of the rollups for the whole period. */
export const countPayers = (
  env: Pick<Env, 'DB' | 'COUNTERS'>,
  application: Reported,
  asked: DevicesAsked,
  byDay: number,
): Promise<DeviceCounts> | DeviceCounts =>
  byDay === 0 ? NO_DEVICES : countDevices(env, application, { ...asked, of: 'paid' });

/** The days of `mau` for a row with these days. */
const monthUntil =
  (today: string) =>
  ({ to }: DayRange) => {
    const last = to < today ? to : today;
    return { from: addDays(last, 1 - MAU_DAYS), to: last };
  };

/** What the sums count: which devices, and on which days; `isAttributed`: only attributed ones, unless all are compared with spend. */
const COUNTED: Record<keyof DeviceSums, { of: DevicesOf; isMonthly?: true; isAttributed?: true }> = {
  periodActive: { of: 'active' },
  monthlyActive: { of: 'active', isMonthly: true },
  acquiredPayers: { of: 'acquired_payers', isAttributed: true },
};
const SUMS = Object.keys(COUNTED) as (keyof DeviceSums)[];
const NO_SUMS: DeviceSums = { periodActive: 0, monthlyActive: 0, acquiredPayers: 0 };

const readsOf = (metric: Metric): readonly string[] => METRICS[metric].reads;

/** The sums behind the metrics of the state of devices. Only what `isWanted` metrics read is asked for; the rest is 0. `today` is the application's. */
export async function countRequested(
  env: Pick<Env, 'DB' | 'COUNTERS'>,
  application: Reported,
  { today, basis, ...asked }: DevicesAsked & { today: string; basis: Basis },
  isWanted: (metric: Metric) => boolean,
) {
  const wanted = SUMS.filter((sum) =>
    OF_DEVICES.some((name) => isWanted(name) && readsOf(name).includes(sum)),
  );
  const counts = await Promise.all(
    wanted.map(async (sum) => {
      const { of, isMonthly, ...counted } = COUNTED[sum];
      const isAttributed = counted.isAttributed && basis === 'paid';
      const { attribution } = asked.filters;
      // No organic device is attributed.
      if (isAttributed && attribution === 'organic') return [sum, NO_DEVICES] as const;
      const filters = isAttributed ? { ...asked.filters, attribution: 'paid' as const } : asked.filters;
      const reach = isMonthly ? { reach: monthUntil(today) } : {};
      return [sum, await countDevices(env, application, { ...asked, of, filters, ...reach })] as const;
    }),
  );
  const sumsOf = (of: (counted: DeviceCounts, sum: keyof DeviceSums) => number): DeviceSums => ({
    ...NO_SUMS,
    ...Object.fromEntries(counts.map(([sum, counted]) => [sum, of(counted, sum)])),
  });
  return {
    total: sumsOf(({ total }) => total),
    row: (values: GroupValues): DeviceSums => sumsOf(({ row }) => row(values, 0)),
    /** Null if devices may be in several rows. */
    rest: (rows: readonly DeviceSums[]): DeviceSums | null => {
      const found = counts.map(([sum, { rest }]) => [sum, rest(rows.map((row) => row[sum]))] as const);
      if (found.some(([, devices]) => devices === null)) return null;
      return { ...NO_SUMS, ...Object.fromEntries(found) };
    },
  };
}
