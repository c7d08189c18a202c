import { MAX_HOT_BYTES, MAX_HOT_MONTHS } from '../../src/db/retention.ts';
import { CountingBench } from './measure-counting.ts';
import { LIVE_RUN } from './price.ts';
import type { Rig } from './rig.ts';
import type { Tenant } from './tenant.ts';
import { ACQUISITION_DAYS, benchDay } from './workload.ts';

// How D1 grows with time. Tables get the rows of each day, which further events of the day only add to. Of the cube, D1 has no more parts of
// a rollup, grain and month than are merged at once, and those of months that are over for 27 days are merged.

const DAYS = 3;
const RUNS_PER_DAY = 4;

export const GROWTH_STEPS = DAYS;

/** A year's devices were acquired on up to 365 days, the workload's on 60: tables of cohorts have a row per acquisition day and day. */
const COHORTS_OF_A_YEAR = 365 / 2 / ACQUISITION_DAYS;
type Stored = { tableBytes: number; places: number };

export async function measureGrowth(
  rig: Rig,
  tenant: Tenant,
  isQuick: boolean,
  step: (what: string) => void,
): Promise<Record<string, number>> {
  const bench = new CountingBench(rig, tenant, () => undefined);
  const app = await bench.open('Growth');
  const stored: Stored[] = [];
  const runs = isQuick ? 1 : RUNS_PER_DAY;
  for (let day = 1; day <= DAYS; day++) {
    step(`${runs * LIVE_RUN} events of ${benchDay(DAYS - day)}`);
    for (let run = 1; run <= runs; run++) {
      await bench.call(`/append/${app}/${LIVE_RUN}/${day * runs + run}/${DAYS - day}`);
      await bench.ring(app);
    }
    stored.push(await bench.call<Stored>(`/growth/${app}`, 'GET'));
  }
  const [before, last] = stored.slice(-2);
  if (!before || !last) throw new Error('nothing was counted');
  const tablesPerDay = last.tableBytes - before.tableBytes;
  const partsAtMost = last.places * MAX_HOT_MONTHS * MAX_HOT_BYTES;
  return {
    d1_table_bytes_per_day: tablesPerDay,
    d1_cube_bytes_at_most: partsAtMost,
    d1_bytes_after_year: 365 * COHORTS_OF_A_YEAR * tablesPerDay + partsAtMost,
  };
}
