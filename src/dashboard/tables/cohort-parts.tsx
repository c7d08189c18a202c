import { isolate } from '#lib/input/isolate';
import type { FormField } from '../forms/field.tsx';
import { ChoiceForm } from '../forms/fields.tsx';
import { shortDays } from '../shell/dates.ts';
import type { DashboardContext } from '../shell/page-record.ts';
import type { Compared } from '../shell/period.ts';
import type { Here } from '../shell/view.ts';
import { DEVICE_GROUPINGS, groupName } from './groups.tsx';
import type { CellValue } from './metrics.ts';

const COHORTS = [
  ['day', 'By day'],
  ['week', 'By week'],
  ['month', 'By month'],
  ['all', 'All together'],
] as const;

/** How the devices of a cohort page are grouped. */
export type CohortGrouping = { cohort: string; group: string };

export function readCohorts(c: DashboardContext, cohort: string): CohortGrouping {
  const group = c.req.query('group') ?? '';
  return { cohort: c.req.query('cohort') ?? (group === '' ? cohort : 'all'), group };
}

/** The query fields of a cohort report, besides the view's. */
export const cohortsAsked = ({ cohort, group }: CohortGrouping) => ({
  cohort,
  ...(group === '' ? {} : { group_by: group }),
});

/** A form for the grouping, submitted on every change. */
export const CohortForm = ({
  path,
  view,
  asked: { cohort, group },
  fields,
}: Here & { asked: CohortGrouping; fields: readonly FormField[] }) => (
  <ChoiceForm
    path={path}
    view={view}
    fields={[
      { label: 'Group by', name: 'group', value: group, options: [['', 'Nothing'], ...DEVICE_GROUPINGS] },
      { label: 'Cohorts', name: 'cohort', value: cohort, options: COHORTS },
      ...fields,
    ]}
  />
);

export type CohortRow = { cohort_from: string; cohort_to: string; size: number; is_other?: boolean } & Record<
  string,
  CellValue | object
>;

/** The name of a row in a cohort report: its group, its acquisition days, or both. */
export function cohortName({ cohort, group }: CohortGrouping, row: CohortRow, today: string): string {
  const days = shortDays({ from: row.cohort_from, to: row.cohort_to }, today);
  if (group === '') return row.is_other ? 'Everything else' : days;
  const name = groupName(group, row);
  return cohort === 'all' || row.is_other ? name : `${isolate(name)}, ${days}`;
}

/** More groups than this are not compared, because the page would take twice as long. */
const MAX_COMPARED = 50;

/**
 * The cohorts of the earlier period that a table compares with its rows: those of the same groups, if the cohorts are not divided by time and the
 * groups are few, or else all devices together.
 */
export async function cohortsBefore<Row extends CohortRow>(
  asked: CohortGrouping,
  { total_rows: total }: { total_rows: number },
  compared: Compared | null,
  read: (changes: Record<string, unknown>) => Promise<{ data: Row[] }>,
): Promise<Row[]> {
  const isComparable = asked.group === '' || (asked.cohort === 'all' && total <= MAX_COMPARED);
  if (!compared || !isComparable) return [];
  return (await read({ ...cohortsAsked({ ...asked, cohort: 'all' }), ...compared.before })).data;
}

/** Whether at least half of a cohort's devices have completed a day. A value of fewer covers other devices than the values before it. */
export const isMostOf = ({ size }: { size: number }, eligible: number) => eligible * 2 >= size;
