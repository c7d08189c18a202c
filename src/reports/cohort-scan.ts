import type { RollupTable } from '#catalogue';
import { database } from '#db';
import { type BlockScan, scanBlocks } from './block-scan.ts';
import { CohortActivity, type RankedCohorts } from './cohort-activity.ts';
import { CohortCells } from './cohort-cells.ts';
import type { CohortDetails } from './cohort-details.ts';
import { type CohortQuestion, needsCohortBlocks } from './cohorts.ts';
import { isOfCreatives } from './device-groups.ts';
import { bindFiltered, rollupConditions } from './filters.ts';
import { type CreativeNames, readCreativeNames } from './names.ts';

/** The cohorts of a report, with their devices. */
export type ReadCohorts = RankedCohorts & { cells: CohortCells; details: CohortDetails };

/** Reads the activity of the cohorts that a report asks for, and decides which of them have a row. */
export async function readCohorts(
  db: D1Database,
  applicationId: string,
  asked: CohortQuestion,
): Promise<ReadCohorts> {
  const { group_by: group } = asked;
  const names: CreativeNames =
    group && isOfCreatives(group) ? await readCreativeNames(database(db), applicationId, [group]) : new Map();
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
    for await (const chunk of scanBlocks(db, scan)) activity.read(chunk);
    return;
  }
  const values = [applicationId, asked.from, asked.to];
  const sql = activitySql([0, ...asked.days], rollupConditions(asked.filters));
  type Row = { acquiredDay: string; age: number; active: number; lastActive: number };
  const { results } = await bindFiltered(db, sql, values, asked.filters).all<Row>();
  for (const { acquiredDay, age, active, lastActive } of results) {
    activity.addDevices(acquiredDay, age, active, lastActive);
  }
}

/** The scan of a cohort table's blocks that a report needs. */
export const cohortScan = (
  applicationId: string,
  rollup: Extract<RollupTable, 'cohort_activity' | 'cohort_revenue'>,
  { from, to, filters, group_by: group }: CohortQuestion,
): BlockScan => ({
  ...{ applicationId, rollup, from, to, filters },
  byCreative: group !== undefined && isOfCreatives(group),
  bySegment: group !== undefined && !isOfCreatives(group),
});

// The day numbers are validated integers, so they are safe in SQL text. A list in a parameter would be scanned for each row.

const sorted = (days: readonly number[]) => [...new Set(days)].sort((left, right) => left - right);

/** SQL for the largest of these day numbers that is at most `age`; null if there is none. */
const lastDayUntil = (age: string, days: readonly number[]): string =>
  `CASE ${sorted(days)
    .reverse()
    .map((day) => `WHEN ${age} >= ${day} THEN ${day}`)
    .join(' ')} END`;

/**
 * Returns one row per requested day number instead of one per age: activity on other days is left out, and last active days are added
 * to the previous day number. ?1 is the application, ?2 to ?3 the days of acquisition. `days` must include 0.
 */
export function activitySql(days: readonly number[], conditions: string): string {
  return `SELECT acquired_day AS acquiredDay, ${lastDayUntil('age', days)} AS age,
      sum(iif(age IN (${sorted(days).join(', ')}), active_devices, 0)) AS active, sum(last_active_devices) AS lastActive
    FROM cohort_activity WHERE application_id = ?1 AND acquired_day BETWEEN ?2 AND ?3${conditions}
    GROUP BY 1, 2`;
}
