import { and, eq } from 'drizzle-orm';
import * as z from 'zod';
import { SEGMENT_DIMENSIONS } from '#catalogue';
import type { DeviceGroup } from '#counting';
import { adsets, campaigns, creatives, type Database, isAmong } from '#db';
import { REPORT_DIMENSIONS } from './dimensions.ts';
import { CREATIVE_GROUPS, type CreativeGroup } from './names.ts';

// Device selection and grouping in reports that query the counters.

/** The groupings of cohort reports: properties of a device at its acquisition. */
export const GROUPS = [...CREATIVE_GROUPS, ...SEGMENT_DIMENSIONS] as const;
export type DeviceGrouping = (typeof GROUPS)[number];

export const deviceGroupBy = z.enum(GROUPS, { error: `must be one of ${GROUPS.join(', ')}` }).optional();

export const isOfCreatives = (group: string): group is CreativeGroup =>
  (CREATIVE_GROUPS as readonly string[]).includes(group);

/** The grouping that a counter uses for a report's grouping: it knows creatives, but not their campaigns. */
export function counterGroup(group: DeviceGrouping | undefined): DeviceGroup | null {
  if (group === undefined) return null;
  return isOfCreatives(group) ? 'creative' : group;
}

/** The name of an application's creative, ad set or campaign by id; null if there is none. */
export async function nameById(
  db: Database,
  applicationId: string,
  group: CreativeGroup,
  id: string,
): Promise<string | null> {
  const table = { creative: creatives, adset: adsets, campaign: campaigns }[group];
  const [row] = await db
    .select({ name: table.name })
    .from(table)
    .where(and(eq(table.id, id), eq(table.applicationId, applicationId)));
  return row?.name ?? null;
}

/** Id and name of a creative, or of its ad set or campaign. */
type GroupName = { id: string; name: string };

/** The creative, ad set or campaign that each of these creatives counts under. Unknown ids and other applications' are missing. */
async function nameCreatives(
  db: Database,
  applicationId: string,
  group: CreativeGroup,
  ids: readonly string[],
): Promise<Map<string, GroupName>> {
  const { id, name } = { creative: creatives, adset: adsets, campaign: campaigns }[group];
  const rows = await db
    .select({ creativeId: creatives.id, id, name })
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .where(and(eq(creatives.applicationId, applicationId), isAmong(creatives.id, ids)));
  return new Map(rows.map(({ creativeId, ...named }) => [creativeId, named]));
}

/** Merges the counters' groups that have the same name; `null` means organic devices. Leaves out those without a key. */
export async function labelGroups<Part extends { key: string | null }>(
  db: Database,
  applicationId: string,
  group: DeviceGrouping | undefined,
  answered: readonly Part[],
): Promise<{ columns: Record<string, string | null>; parts: Part[] }[]> {
  const parts = answered.filter(({ key }) => key !== null);
  if (group === undefined) return parts.length === 0 ? [] : [{ columns: {}, parts: [...parts] }];
  if (!isOfCreatives(group)) {
    const groups = Map.groupBy(parts, ({ key }) => key);
    return [...groups].map(([key, own]) => ({
      columns: REPORT_DIMENSIONS[group].show(key || null),
      parts: own,
    }));
  }
  const ids = [...new Set(parts.flatMap(({ key }) => key || []))];
  const names =
    ids.length > 0 ? await nameCreatives(db, applicationId, group, ids) : new Map<string, GroupName>();
  const groups = Map.groupBy(parts, ({ key }) => names.get(key ?? '')?.id ?? '');
  return [...groups].map(([id, own]) => ({
    columns: { [group]: names.get(own[0]?.key ?? '')?.name ?? null, [`${group}_id`]: id || null },
    parts: own,
  }));
}

/** The columns of the row that sums up all groups without a row. */
export const otherColumns = (group: DeviceGrouping): Record<string, string | null | true> => ({
  [group]: 'other',
  ...(isOfCreatives(group) ? { [`${group}_id`]: null } : {}),
  is_other: true,
});
