import * as z from 'zod';
import { monthOf, weekOf } from '#lib/calendar';
import {
  COST_NAMES,
  CREATIVE_GROUPS,
  type CreativeGroup,
  costColumns,
  creativeColumns,
  readCreativeNames,
} from './names.ts';

export type Cohort = 'day' | 'week' | 'month' | 'all';

/** How devices of a cohort are told apart further. Values that are shown the same are one row. */
export type CohortGrouping = {
  /** SQL over the cohort tables, and over `costs`. */
  column: string;
  cost: string;
  show: (value: string) => Record<string, string | null>;
  /** Null for a cost that is of no one group. */
  showCost: (value: string) => Record<string, string | null> | null;
};

const whole = () => ({ creative: null, creative_id: null });
export const UNGROUPED: CohortGrouping = { column: "''", cost: "''", show: whole, showCost: whole };

export const groupBy = z
  .enum(CREATIVE_GROUPS, { error: `must be one of ${CREATIVE_GROUPS.join(', ')}` })
  .optional();

/** The columns that a grouping reads. */
export const columnsOf = (group: CreativeGroup | undefined) =>
  group
    ? { column: 'creative_id', cost: COST_NAMES[group] }
    : { column: UNGROUPED.column, cost: UNGROUPED.cost };

/** The grouping with the names of these creatives. */
export async function groupingOf(
  db: D1Database,
  applicationId: string,
  group: CreativeGroup | undefined,
  rows: readonly { label: string }[],
): Promise<CohortGrouping> {
  if (!group) return UNGROUPED;
  const names = await readCreativeNames(
    db,
    applicationId,
    rows.map(({ label }) => label),
  );
  return {
    ...columnsOf(group),
    show: (id) => creativeColumns(names, group, id),
    showCost: (value) => costColumns(group, value),
  };
}

/** What names the cohort of a row. `from` and `to` are its first and last day of acquisition that was asked for. */
export type CohortKey = { cohort_from: string; cohort_to: string } & Record<string, string | null>;

const PART_OF: Record<Cohort, (day: string) => string> = {
  day: (day) => day,
  week: weekOf,
  month: monthOf,
  all: () => '',
};

/** Puts rows of acquisition days into their cohorts, in the order of the rows; those of the kind `spend` are costs. */
export function intoCohorts<Row extends { acquiredDay: string; label: string; kind?: string }>(
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
    const shown = row.kind === 'spend' ? grouping.showCost(row.label) : grouping.show(row.label);
    if (!bound || !shown) continue;
    const key = { ...bound, ...shown };
    const name = JSON.stringify(key);
    const found: { key: CohortKey; rows: Row[] } = cohorts.get(name) ?? { key, rows: [] };
    found.rows.push(row);
    cohorts.set(name, found);
  }
  return [...cohorts.values()];
}
