import { type DimensionName, isTime, rollupOf } from '../dimensions.ts';
import type { ReportFilters } from '../query.ts';
import type { GroupSelection } from './cut.ts';

// What a report asks of the cube, the hours and the costs.

export type GroupQuestion = GroupSelection & {
  names: readonly DimensionName[];
  from: string;
  to: string;
  reporting: string;
  filters: ReportFilters;
  /** The last day ends at this hour of the clock. */
  untilHour?: number | undefined;
  /** Whether to read what costs tell of each group, if that is known. */
  wantsCosts?: boolean;
  /** Whether impressions that costs state are needed, so that those of the same ads are left out of the figures. */
  wantsStated?: boolean;
  /** Whether to read what the devices acquired in each group have earned since. Only groups with spend are given it. */
  wantsAcquired?: boolean;
  /** The last day whose revenue of acquired devices counts. */
  through?: string | undefined;
  /** Whether requests alone make a group by network. They are made before a network is known. */
  keepsRequests?: boolean;
  maxGroups?: number;
};

/** The largest number of groups in memory. With more, everything is read in several passes, each of which sums some of the groups. */
export const MAX_GROUPS = 60_000;

/** The rollup whose sums a question adds up. Figures by hour have some of the sums of a day. */
export function rollupFor(names: readonly DimensionName[]) {
  const rollup = rollupOf(names) ?? 'rollup_daily';
  return rollup === 'rollup_hours' ? 'rollup_daily' : rollup;
}

export const timesOf = (values: readonly (string | null)[], names: readonly DimensionName[]) =>
  values.filter((_, index) => isTime(names[index])).join('\0');
