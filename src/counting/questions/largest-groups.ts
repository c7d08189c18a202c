import { PART_OF, type Part } from '#lib/calendar';
import type { Cohort, DeviceFilter, DeviceGroup } from '../api-questions.ts';
import { columnOfDimension } from '../devices/device-row.ts';
import type { ObjectStore } from '../store.ts';
import { type CohortFacts, factsOf } from './cohort-devices.ts';

/** Groups that are counted at the same time, of one cohort and of all. */
const MAX_COUNTED_OF_COHORT = 20_000;
const MAX_COUNTED = 60_000;

/**
 * Counts the devices of groups, to find the groups that deserve a row, whatever names were sent. Beyond a bound, the smaller half of a cohort's
 * groups is forgotten, so that a group of few devices may be missed, and so are the oldest cohorts. Cohorts must be counted oldest first.
 */
class GroupCounts {
  private readonly cohorts = new Map<string, Map<string, number>>();
  private counted = 0;

  add(cohort: string, key: string): void {
    let keys = this.cohorts.get(cohort);
    if (!keys) {
      keys = new Map();
      this.cohorts.set(cohort, keys);
    }
    const known = keys.get(key);
    keys.set(key, (known ?? 0) + 1);
    if (known !== undefined) return;
    this.counted++;
    if (keys.size > MAX_COUNTED_OF_COHORT) this.forgetSmaller(keys);
    const [oldest] = this.cohorts.keys();
    if (this.counted > MAX_COUNTED && oldest !== undefined && oldest !== cohort) {
      this.counted -= this.cohorts.get(oldest)?.size ?? 0;
      this.cohorts.delete(oldest);
    }
  }

  private forgetSmaller(keys: Map<string, number>): void {
    const sorted = [...keys].sort(([, left], [, right]) => left - right);
    for (const [key] of sorted.slice(0, Math.floor(sorted.length / 2))) keys.delete(key);
    this.counted -= Math.floor(sorted.length / 2);
  }

  /** At most `limit` groups, as a test of cohort and key: those of the latest cohorts, and the largest of each. */
  largest(limit: number): (cohort: string, key: string) => boolean {
    const kept = new Map<string, Set<string>>();
    let left = limit;
    for (const [cohort, keys] of [...this.cohorts].reverse()) {
      const sorted = [...keys].sort(([one, less], [other, more]) => more - less || (one < other ? -1 : 1));
      kept.set(cohort, new Set(sorted.slice(0, left).map(([key]) => key)));
      left = Math.max(0, left - sorted.length);
    }
    return (cohort, key) => kept.get(cohort)?.has(key) ?? false;
  }
}

/** The key of a device's group. */
export function keyFor(groupBy: DeviceGroup | null): (device: CohortFacts) => string {
  if (groupBy === 'creative') return ({ creativeId }) => creativeId;
  if (groupBy === null) return () => '';
  const at = columnOfDimension(groupBy);
  return ({ row }) => String(row[at] ?? '');
}

type GroupedCohort = {
  cohort: Cohort;
  filter: DeviceFilter;
  groupBy: DeviceGroup | null;
  cohortBy: Part;
  maxGroups: number;
};

/** Decides which groups are counted for themselves, as a test of cohort and key: see `GroupCounts`. Reads the facts of all devices. */
export async function largestGroups(
  store: ObjectStore,
  { cohort, filter, groupBy, cohortBy, maxGroups }: GroupedCohort,
): Promise<(cohort: string, key: string) => boolean> {
  if (groupBy === null) return () => true;
  const keyOf = keyFor(groupBy);
  const counts = new GroupCounts();
  for await (const page of factsOf(store, cohort, filter)) {
    for (const device of page) counts.add(PART_OF[cohortBy](device.acquiredDay), keyOf(device));
  }
  return counts.largest(maxGroups);
}
