import type { Sums } from '#catalogue';
import type { Cut, Wanted } from './cut.ts';
import { type DimensionName, isTime, rollupOf } from './dimensions.ts';
import type { ReportFilters } from './query.ts';

// What a report by country, OS or app version asks of the blocks, and what it gets.

export type SegmentQuestion = Wanted & {
  names: readonly DimensionName[];
  from: string;
  to: string;
  reporting: string;
  filters: ReportFilters;
  /** Whether requests alone make a group by network. They are made before a network is known. */
  keepsRequests?: boolean;
  maxGroups?: number;
};

export type SegmentedSums = {
  /** By group key; `REST` for all groups without a row of their own. */
  groups: Map<string, Sums>;
  cut: Cut | null;
  /** Sums of all rows that match the filters, whether or not they are in a group. */
  total: Sums;
  /** Micros without a rate, by currency. */
  missing: ReadonlyMap<string, bigint>;
};

/** The largest number of groups in memory. With more, the blocks are read in several passes, each of which sums some of the groups. */
export const MAX_GROUPS = 60_000;

export const rollupFor = (names: readonly DimensionName[]) => rollupOf(names) ?? 'rollup_daily';

export const timesOf = (values: readonly (string | null)[], names: readonly DimensionName[]) =>
  values.filter((_, index) => isTime(names[index])).join('\0');
