import * as z from 'zod';
import { groupedAs, SEGMENT_DIMENSIONS } from '#catalogue';
import type { Database } from '#db';
import { isNamed, REPORT_DIMENSIONS } from './dimensions.ts';
import { CREATIVE_GROUPS, type CreativeGroup, CreativeNames } from './names.ts';

// Device selection and grouping in reports that query the counters.

/** The groupings of cohort reports: properties of a device at its acquisition. */
export const GROUPS = [...CREATIVE_GROUPS, ...SEGMENT_DIMENSIONS] as const;
export type DeviceGrouping = (typeof GROUPS)[number];

export const deviceGroupBy = z.enum(GROUPS, { error: `must be one of ${GROUPS.join(', ')}` }).optional();

/** The grouping that a counter uses for a report's grouping: it knows creatives, but not their campaigns. */
export function counterGroup<Group extends DeviceGrouping>(
  group: Group | undefined,
): 'creative' | Exclude<Group, CreativeGroup> | null {
  if (group === undefined) return null;
  return isNamed(group) ? 'creative' : (group as Exclude<Group, CreativeGroup>);
}

/** Merges the counters' groups that have the same name; `null` means organic devices. Leaves out those without a key. */
export async function labelGroups<Part extends { key: string | null }>(
  db: Database,
  applicationId: string,
  group: DeviceGrouping | undefined,
  answered: readonly Part[],
): Promise<{ columns: Record<string, string | null>; parts: Part[] }[]> {
  const parts = answered.filter(({ key }) => key !== null);
  if (group === undefined) return parts.length === 0 ? [] : [{ columns: {}, parts }];
  const names = new CreativeNames(db, applicationId, [group].filter(isNamed));
  await names.use(parts.flatMap(({ key }) => key || []));
  const shownAs = (key: string | null) =>
    (isNamed(group) ? names.of(key ?? '', group) : groupedAs(group, key ?? '')) || null;
  return [...Map.groupBy(parts, ({ key }) => shownAs(key))].map(([value, own]) => ({
    columns: REPORT_DIMENSIONS[group].show(value),
    parts: own,
  }));
}
