import { findValuesByName } from '#catalogue';
import { containsText } from '#lib/search';
import { type DimensionName, isNamed, isTime } from '../dimensions.ts';

// However many names clients send, a report has at most `limit` rows and one more, `other`, that sums up the rest.

/** The name of the group in the row that sums up the rest. */
export const OTHER = 'other';

/** The key of the groups without a row of their own. It is not JSON. */
export const REST = '';

/** What has no row of its own. */
export type Cut = {
  /** The first group that the limit cut off; null if there is none. In a report by time, all older groups are cut off too. */
  firstCut: string | null;
  /** The number of groups that match the query. */
  total: number;
};

/** Which groups are wanted, besides being large enough. */
export type GroupSelection = {
  limit: number;
  /** Only groups with this text in one of their names. */
  q?: string | undefined;
};

/** Whether a group is wanted, besides being large enough. */
export function matches(
  values: readonly (string | null)[],
  names: readonly DimensionName[],
  { q = '' }: Pick<GroupSelection, 'q'>,
): boolean {
  if (q === '') return true;
  return values.some((value, index) => {
    const name = names[index];
    if (name === undefined || isTime(name)) return false;
    const text: string | null = value !== null && isNamed(name) ? JSON.parse(value)[1] : value;
    return containsText(text ?? '', q) || findValuesByName(name, q).includes(value ?? '');
  });
}

/** The values of a key. */
export const keyValues = (key: string): (string | null)[] => JSON.parse(key);
