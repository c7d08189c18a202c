import { and, eq, type SQL, sql } from 'drizzle-orm';
import { adsets, campaigns, costs, creatives, type Database, isAmong, named } from '#db';
import { LruCache } from '#lib/collections/lru-cache';

/** The groupings that a creative's id determines, finest first. */
export const CREATIVE_GROUPS = ['creative', 'adset', 'campaign'] as const;
export type CreativeGroup = (typeof CREATIVE_GROUPS)[number];

/**
 * SQL over `costs` for a row's creative, ad set and campaign, each as a JSON array of id and name. The id is null if the application has
 * no such name. If several creatives have the same name, the oldest is used. Empty text if the row names no ad set or creative.
 */
export function costNames(applicationId: string): Record<CreativeGroup, SQL> {
  // Without their table, because they are also read from sums of its rows.
  const [campaign, adset, creative] = [named(costs.campaign), named(costs.adset), named(costs.creative)];
  const isCampaign = sql`${campaigns.applicationId} = ${applicationId} AND ${campaigns.name} = ${campaign}`;
  const ofCampaigns = sql`${adsets} INNER JOIN ${campaigns} ON ${campaigns.id} = ${adsets.campaignId}`;
  return {
    campaign: sql`json_array((SELECT ${campaigns.id} FROM ${campaigns} WHERE ${isCampaign}), ${campaign})`,
    adset: sql`CASE WHEN ${adset} = '' THEN '' ELSE json_array(
      (SELECT ${adsets.id} FROM ${ofCampaigns} WHERE ${isCampaign} AND ${adsets.name} = ${adset}), ${adset}) END`,
    creative: sql`CASE WHEN ${creative} = '' THEN '' ELSE json_array(
      (SELECT min(${creatives.id}) FROM ${ofCampaigns} INNER JOIN ${creatives}
         ON ${creatives.adsetId} = ${adsets.id} AND ${creatives.applicationId} = ${applicationId}
       WHERE ${isCampaign} AND ${adset} IN ('', ${adsets.name}) AND ${creatives.name} = ${creative}), ${creative}) END`,
  };
}

/** Whether a value of `costNames` names something that the application has. */
export const isKnownName = (value: string): boolean => value !== '' && JSON.parse(value)[0] !== null;

/** The columns that show a value of `costNames` or of `CreativeNames` in a report by `group`. Both are null for organic devices. */
export function namedColumns(group: CreativeGroup, value: string | null): Record<string, string | null> {
  const [id, name]: [string | null, string | null] = value ? JSON.parse(value) : [null, null];
  return { [group]: name, [`${group}_id`]: id };
}

/** The most names that an isolate keeps, of about 150 bytes each. */
const MAX_KEPT_NAMES = 40_000;

/**
 * By application and grouping: the names by creative id. Names never change, and ids are never used again, so they are never out of date.
 */
export type KeptNames = LruCache<string, Map<string, string>>;
const KEPT: KeptNames = new LruCache(MAX_KEPT_NAMES);

/**
 * The creative, ad set or campaign that creatives count under, each as a JSON array of id and name. The text equals that of `costNames`, so
 * that revenue and spend have the same key.
 */
export class CreativeNames {
  private readonly db: Database;
  private readonly applicationId: string;
  private readonly kept: KeptNames;
  private readonly lists: ReadonlyMap<CreativeGroup, Map<string, string>>;
  private reads = 0;
  private hasAll = false;

  /** `groups` are the groupings that are asked for. */
  constructor(db: Database, applicationId: string, groups: readonly CreativeGroup[], kept = KEPT) {
    this.db = db;
    this.applicationId = applicationId;
    this.kept = kept;
    this.lists = new Map(groups.map((group) => [group, kept.get(this.keyOf(group)) ?? new Map()]));
  }

  /** Reads the names of these creatives if they are not known. Must be awaited before `of` is called with them. */
  async use(ids: readonly string[]): Promise<void> {
    if (this.hasAll) return;
    const isMissing = (list: ReadonlyMap<string, string>) => ids.some((id) => id !== '' && !list.has(id));
    const lacking = [...this.lists].filter(([, list]) => isMissing(list));
    if (lacking.length === 0) return;
    // Names are read at most twice per report: those of new creatives, then all.
    const isAll = this.reads++ > 0 || lacking.some(([, list]) => list.size === 0);
    await Promise.all(
      lacking.map(async ([group, list]) => {
        const rows = await readNames(this.db, this.applicationId, group, isAll ? null : ids);
        const texts = new Map<string, string>();
        for (const { creativeId, id, name } of rows) {
          const text = texts.get(id) ?? JSON.stringify([id, name]);
          texts.set(id, text);
          list.set(creativeId, text);
        }
        this.kept.set(this.keyOf(group), list, list.size);
      }),
    );
    this.hasAll = isAll;
  }

  private keyOf(group: CreativeGroup): string {
    return `${this.applicationId}/${group}`;
  }

  /** Empty text for a creative that the application does not have. */
  of(creativeId: string, group: CreativeGroup): string {
    return this.lists.get(group)?.get(creativeId) ?? '';
  }
}

/** The id and name of the creative, ad set or campaign that creatives count under. Without `ids`, those of all creatives. */
async function readNames(
  db: Database,
  applicationId: string,
  group: CreativeGroup,
  ids: readonly string[] | null,
): Promise<{ creativeId: string; id: string; name: string }[]> {
  const { id, name } = { creative: creatives, adset: adsets, campaign: campaigns }[group];
  const own = db.select({ creativeId: creatives.id, id, name }).from(creatives).$dynamic();
  if (group !== 'creative') own.innerJoin(adsets, eq(adsets.id, creatives.adsetId));
  if (group === 'campaign') own.innerJoin(campaigns, eq(campaigns.id, adsets.campaignId));
  return own.where(
    and(eq(creatives.applicationId, applicationId), ids ? isAmong(creatives.id, ids) : undefined),
  );
}
