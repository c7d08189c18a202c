import { CountingBench } from './measure-counting.ts';
import { LIVE_RUN } from './price.ts';
import type { Rig } from './rig.ts';
import type { Tenant } from './tenant.ts';
import { ACQUISITION_DAYS, benchDay } from './workload.ts';

// How D1 grows with time at 10 million events a day: an application counts for some days, and its months are merged as often as they become
// due. Further runs of a day add hardly any rows to the tables, and the parts of the cube that they add are merged.

const DAYS = 3;
const RUNS_PER_DAY = 24;
const QUICK_RUNS_PER_DAY = 2;
const RUNS_PER_MERGE = 3;

export const GROWTH_STEPS = DAYS;

/** The average age of what is active in a year, against that of the workload's devices: tables of cohorts have a row per acquisition day. */
const COHORTS_OF_A_YEAR = 365 / 2 / ACQUISITION_DAYS;

export async function measureGrowth(
  rig: Rig,
  tenant: Tenant,
  isQuick: boolean,
  step: (what: string) => void,
): Promise<Record<string, number>> {
  const bench = new CountingBench(rig, tenant, () => undefined);
  const app = await bench.open('Growth');
  const peaks: number[] = [];
  let [parts, seed] = [0, 1];
  const runs = isQuick ? QUICK_RUNS_PER_DAY : RUNS_PER_DAY;
  const empty = (await bench.costs(app)).d1Bytes;
  for (let day = 1; day <= DAYS; day++) {
    step(`${(runs * LIVE_RUN) / 1e6} million events of ${benchDay(DAYS - day)}, and merges`);
    for (let run = 1; run <= runs; run++) {
      await bench.call(`/append/${app}/${LIVE_RUN}/${seed++}/${DAYS - day}`);
      await bench.ring(app);
      if (run % RUNS_PER_MERGE === 0) await bench.call('/merge-months');
      parts = Math.max(parts, (await bench.costs(app)).partBytes);
    }
    peaks.push((await bench.costs(app)).fileBytes - empty);
  }
  const [first = 0, ...later] = peaks;
  const perDay = ((later.at(-1) ?? 0) - first) / later.length;
  return {
    d1_cube_bytes_at_most: parts,
    d1_bytes_of_the_first_day: first,
    d1_bytes_per_further_day: perDay,
    d1_bytes_after_year: first + 364 * COHORTS_OF_A_YEAR * perDay,
  };
}
