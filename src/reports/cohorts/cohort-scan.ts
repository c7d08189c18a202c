import type { RollupTable } from '#catalogue';
import { database } from '#db';
import type { CubeStores } from '#rollup';
import { isOfCreatives } from '../device-groups.ts';
import { type CubeScan, scanCube } from '../engine/cube-scan.ts';
import { CreativeNames } from '../names.ts';
import { CohortActivity, type RankedCohorts } from './cohort-activity.ts';
import { CohortCells } from './cohort-cells.ts';
import type { CohortDetails } from './cohort-details.ts';
import type { CohortQuestion } from './cohorts.ts';

/** The cohorts of a report, with their devices. */
export type ReadCohorts = RankedCohorts & { cells: CohortCells; details: CohortDetails };

/** Reads the activity of the cohorts that a report asks for, and decides which of them have a row. */
export async function readCohorts(
  stores: CubeStores,
  applicationId: string,
  asked: CohortQuestion,
): Promise<ReadCohorts> {
  const { group_by: group } = asked;
  const names = new CreativeNames(
    database(stores.DB),
    applicationId,
    group && isOfCreatives(group) ? [group] : [],
  );
  const cells = new CohortCells(asked, names);
  const activity = new CohortActivity(cells, asked);
  const read = () => addActivity(stores, applicationId, asked, activity);
  await read();
  const ranked = activity.rank();
  if (activity.needsDetails) await read();
  return { ...ranked, cells, details: activity.details };
}

async function addActivity(
  stores: CubeStores,
  applicationId: string,
  asked: CohortQuestion,
  activity: CohortActivity,
): Promise<void> {
  const scan = cohortScan(applicationId, 'cohort_activity', asked);
  for await (const chunk of scanCube(stores, scan)) await activity.read(chunk);
}

/** The scan of a cohort table that a report needs. */
export const cohortScan = (
  applicationId: string,
  rollup: Extract<RollupTable, 'cohort_activity' | 'cohort_revenue'>,
  { from, to, filters, group_by: group }: CohortQuestion,
): CubeScan => ({
  ...{ applicationId, rollup, from, to, filters },
  byCreative: group !== undefined && isOfCreatives(group),
  segments: group !== undefined && !isOfCreatives(group) ? [group] : [],
});
