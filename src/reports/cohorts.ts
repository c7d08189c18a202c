import { monthOf, weekOf } from '#lib/calendar';

export type Cohort = 'day' | 'week' | 'month' | 'all';

/** How devices of a cohort are told apart further. Values that are shown the same are one row. */
export type CohortGrouping = {
  /** SQL over the cohort tables, and over `costs`. */
  column: string;
  cost: string;
  show: (value: string) => Record<string, string | null>;
};

export const UNGROUPED: CohortGrouping = {
  column: "''",
  cost: "''",
  show: () => ({ creative: null, creative_id: null }),
};

/** What names the cohort of a row. `from` and `to` are its first and last day of acquisition that was asked for. */
export type CohortKey = { cohort_from: string; cohort_to: string } & Record<string, string | null>;

const PART_OF: Record<Cohort, (day: string) => string> = {
  day: (day) => day,
  week: weekOf,
  month: monthOf,
  all: () => '',
};

/** Puts rows of acquisition days into their cohorts, in the order of the days. */
export function intoCohorts<Row extends { acquiredDay: string; label: string }>(
  rows: readonly Row[],
  days: readonly string[],
  cohort: Cohort,
  grouping: CohortGrouping,
): { key: CohortKey; rows: Row[] }[] {
  const bounds = new Map<string, { cohort_from: string; cohort_to: string }>();
  for (const day of days) {
    const part = PART_OF[cohort](day);
    bounds.set(part, { cohort_from: bounds.get(part)?.cohort_from ?? day, cohort_to: day });
  }
  const cohorts = new Map<string, { key: CohortKey; rows: Row[] }>();
  for (const row of rows) {
    const bound = bounds.get(PART_OF[cohort](row.acquiredDay));
    if (!bound) continue;
    const key = { ...bound, ...grouping.show(row.label) };
    const name = JSON.stringify(key);
    const found: { key: CohortKey; rows: Row[] } = cohorts.get(name) ?? { key, rows: [] };
    found.rows.push(row);
    cohorts.set(name, found);
  }
  return [...cohorts.values()];
}
