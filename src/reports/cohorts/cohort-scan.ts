import { database } from '#db';
import type { Part } from '#lib/calendar';
import { addDays } from '#lib/time';
import type { CubeStores } from '#rollup';
import type { DeviceGrouping } from '../device-groups.ts';
import { type DimensionName, isNamed } from '../dimensions.ts';
import { scanCube } from '../engine/cube-query.ts';
import { CreativeNames } from '../names.ts';
import type { ReportFilters } from '../query.ts';
import { CohortActivity } from './cohort-activity.ts';
import type { CohortPlaces } from './cohort-places.ts';
import { CohortRanking } from './cohort-ranking.ts';

/** The cohorts of a report: the latest `limit` of those acquired in the period, then the largest. */
export type CohortQuestion = {
  cohort: Part;
  group_by?: DeviceGrouping | undefined;
  from: string;
  to: string;
  limit: number;
  /** Day numbers since acquisition. */
  days: readonly number[];
  filters: ReportFilters;
  /** The application's. Day N of a cohort counts once it is over. */
  today: string;
};

/** The cohorts of a report, with their devices. */
export type ReadCohorts = {
  /** Of the rows from 1 on, the values that their cohorts are grouped by: latest first, then largest first. See `namesOf`. */
  ranked: readonly (readonly (string | null)[])[];
  /** The number of cohorts that have devices, with a row or without. */
  total: number;
  /** The first and last day of acquisition of the devices in `REST_ROW`; null if it has none. */
  restDays: { first: string; last: string } | null;
  places: CohortPlaces;
  activity: CohortActivity;
};

/** What cohorts are grouped by: the period of acquisition first, unless it is all days together. */
export const namesOf = ({ cohort, group_by: group }: CohortQuestion): DimensionName[] => [
  ...(cohort === 'all' ? [] : [cohort]),
  ...(group ? [group] : []),
];

/** Reads the activity of the cohorts that a report asks for: first on the days of acquisition, to decide which of them have a row. */
export async function readCohorts(
  stores: CubeStores,
  applicationId: string,
  asked: CohortQuestion,
): Promise<ReadCohorts> {
  const names = namesOf(asked);
  const creatives = new CreativeNames(database(stores.DB), applicationId, names.filter(isNamed));
  const scan = { ...asked, applicationId, rollup: 'cohort_activity' as const, names };
  const ranking = new CohortRanking(names, creatives, asked.limit);
  const ofInstallDay = { ...scan, sums: ['active_devices'], ages: [0] };
  for await (const chunk of scanCube(stores, ofInstallDay)) await ranking.read(chunk);
  const { ranked, total } = ranking.rank();
  const places = ranking.places(asked);
  const activity = new CohortActivity(places, ranked.length + 1);
  for await (const chunk of scanCube(stores, scan)) await activity.read(chunk);
  const { rest } = activity;
  const restDays = rest && {
    first: addDays(asked.today, -rest.oldest),
    last: addDays(asked.today, -rest.newest),
  };
  return { ranked, total, restDays, places, activity };
}
