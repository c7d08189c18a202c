import { findValuesByName } from '#catalogue';
import { containsText } from '#lib/search';
import { type DimensionName, isNamed, isTime, rollupOf } from '../dimensions.ts';
import type { ReportFilters } from '../query.ts';

/** What a report asks of the cube, the hours and the costs. */
export type GroupQuestion = {
  names: readonly DimensionName[];
  limit: number;
  /** Only groups with this text in one of their names. */
  q?: string | undefined;
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

/** Whether a group is wanted, besides being large enough. */
export function matches(
  values: readonly (string | null)[],
  { names, q = '' }: Pick<GroupQuestion, 'names' | 'q'>,
): boolean {
  if (q === '') return true;
  return values.some((value, index) => {
    const name = names[index];
    if (name === undefined || isTime(name)) return false;
    const text: string | null = value !== null && isNamed(name) ? JSON.parse(value)[1] : value;
    return containsText(text ?? '', q) || findValuesByName(name, q).includes(value ?? '');
  });
}

// However many names clients send, a report has at most `limit` rows and one more, `other`, that sums up the rest.

/** The key of the groups without a row of their own. It is not JSON. */
export const REST = '';

/** What has no row of its own. */
export type Cut = {
  /** The first group that the limit cut off; null if there is none. In a report by time, all older groups are cut off too. */
  firstCut: string | null;
  /** The number of groups that match the query. */
  total: number;
};

/** The values of a key. */
export const keyValues = (key: string): (string | null)[] => JSON.parse(key);
