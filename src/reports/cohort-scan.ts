import { type Column, type SQL, sql } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { cohortActivity, database } from '#db';
import { CohortActivity, type RankedCohorts } from './cohort-activity.ts';
import { CohortCells } from './cohort-cells.ts';
import type { CohortDetails } from './cohort-details.ts';
import { type CohortQuestion, needsCohortBlocks } from './cohorts.ts';
import { type CubeScan, scanCube } from './cube-scan.ts';
import { isOfCreatives } from './device-groups.ts';
import { rollupCondition } from './filters.ts';
import { CreativeNames } from './names.ts';
import { type Period, rowsIn } from './sources.ts';

/** The cohorts of a report, with their devices. */
export type ReadCohorts = RankedCohorts & { cells: CohortCells; details: CohortDetails };

/** Reads the activity of the cohorts that a report asks for, and decides which of them have a row. */
export async function readCohorts(
  db: D1Database,
  applicationId: string,
  asked: CohortQuestion,
): Promise<ReadCohorts> {
  const { group_by: group } = asked;
  const names = new CreativeNames(database(db), applicationId, group && isOfCreatives(group) ? [group] : []);
  const cells = new CohortCells(asked, names);
  const activity = new CohortActivity(cells, asked);
  const read = () => addActivity(db, applicationId, asked, activity);
  await read();
  const ranked = activity.rank();
  if (activity.needsDetails) await read();
  return { ...ranked, cells, details: activity.details };
}

async function addActivity(
  db: D1Database,
  applicationId: string,
  asked: CohortQuestion,
  activity: CohortActivity,
): Promise<void> {
  if (needsCohortBlocks(asked)) {
    const scan = cohortScan(applicationId, 'cohort_activity', asked);
    for await (const chunk of scanCube(db, scan)) await activity.read(chunk);
    return;
  }
  type Row = { acquiredDay: string; age: number; active: number; lastActive: number };
  const rows = await database(db).all<Row>(activitySql([0, ...asked.days], { ...asked, applicationId }));
  for (const { acquiredDay, age, active, lastActive } of rows) {
    activity.addDevices(acquiredDay, age, active, lastActive);
  }
}

/** The scan of a cohort table's blocks that a report needs. */
export const cohortScan = (
  applicationId: string,
  rollup: Extract<RollupTable, 'cohort_activity' | 'cohort_revenue'>,
  { from, to, filters, group_by: group }: CohortQuestion,
): CubeScan => ({
  ...{ applicationId, rollup, from, to, filters },
  byCreative: group !== undefined && isOfCreatives(group),
  bySegment: group !== undefined && !isOfCreatives(group),
});

const sorted = (days: readonly number[]) => [...new Set(days)].sort((left, right) => left - right);

// The day numbers are part of the text: there may be more of them than parameters, and a list in one would be scanned for each row.

/** SQL for the largest of these day numbers that is at most `age`; null if there is none. */
const lastDayUntil = (age: Column, days: readonly number[]): SQL => {
  const cases = sorted(days)
    .reverse()
    .map((day) => sql`WHEN ${age} >= ${day} THEN ${day}`);
  return sql`CASE ${sql.join(cases, sql` `)} END`.inlineParams();
};

/**
 * SQL for the activity of all creatives together, with one row per requested day number instead of one per age: activity on other days is
 * left out, and last active days are added to the previous day number. The period is that of the acquisition, and `days` must include 0.
 */
export function activitySql(days: readonly number[], asked: Period): SQL {
  const { acquiredDay, age, activeDevices, lastActiveDevices, creativeId, applicationId } = cohortActivity;
  const numbers = sql`${sorted(days)}`.inlineParams();
  const rows = rowsIn(
    {
      table: cohortActivity,
      applicationId,
      day: acquiredDay,
      condition: (_, filters) => rollupCondition(creativeId, filters),
    },
    asked,
  );
  return sql`SELECT ${acquiredDay} AS acquiredDay, ${lastDayUntil(age, days)} AS age,
      sum(iif(${age} IN ${numbers}, ${activeDevices}, 0)) AS active, sum(${lastActiveDevices}) AS lastActive
    ${rows} GROUP BY 1, 2`;
}
