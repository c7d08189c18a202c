import { and, asc, eq, gt } from 'drizzle-orm';
import * as z from 'zod';
import type { Caller } from '#audit';
import { adsets, applications, campaigns, type Database } from '#db';
import { AppError } from '#http';
import { iso } from '#lib/time';
import type { Adset, Campaign } from './answers.ts';
import {
  ExternalIds,
  externalIdsOf,
  readExternalIds,
  replaceExternalIds,
  saveChanges,
} from './external-ids.ts';
import { namesContain } from './inventory.ts';
import type { ListQuery } from './list.ts';

// Campaigns and ad sets: what creatives are grouped by.

const selectCampaigns = (db: Database) =>
  db
    .select({
      id: campaigns.id,
      applicationId: campaigns.applicationId,
      name: campaigns.name,
      createdAt: campaigns.createdAt,
      externalIds: externalIdsOf(campaigns.id),
    })
    .from(campaigns)
    .innerJoin(applications, eq(applications.id, campaigns.applicationId));

const selectAdsets = (db: Database) =>
  db
    .select({
      id: adsets.id,
      applicationId: adsets.applicationId,
      name: adsets.name,
      campaignId: campaigns.id,
      campaign: campaigns.name,
      createdAt: adsets.createdAt,
      externalIds: externalIdsOf(adsets.id),
    })
    .from(adsets)
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .innerJoin(applications, eq(applications.id, adsets.applicationId));

const showCampaign = (row: RowOf<typeof selectCampaigns>): Campaign => ({
  id: row.id,
  name: row.name,
  external_ids: readExternalIds(row.externalIds),
  created_at: iso(row.createdAt),
});

const showAdset = (row: RowOf<typeof selectAdsets>): Adset => ({
  id: row.id,
  name: row.name,
  campaign_id: row.campaignId,
  campaign: row.campaign,
  external_ids: readExternalIds(row.externalIds),
  created_at: iso(row.createdAt),
});

type RowOf<Select extends (db: Database) => { execute: () => Promise<readonly unknown[]> }> = Awaited<
  ReturnType<ReturnType<Select>['execute']>
>[number];

/** One page of an application's campaigns, oldest first. The caller has checked that the application belongs to the team. */
export async function listCampaigns(db: Database, page: ListQuery): Promise<Campaign[]> {
  const rows = await selectCampaigns(db)
    .where(
      and(
        eq(campaigns.applicationId, page.application_id),
        gt(campaigns.id, page.cursor),
        namesContain(page.q ?? '', campaigns.name),
      ),
    )
    .orderBy(asc(campaigns.id))
    .limit(page.limit);
  return rows.map(showCampaign);
}

/** One page of an application's ad sets, oldest first. The caller has checked that the application belongs to the team. */
export async function listAdsets(db: Database, page: ListQuery): Promise<Adset[]> {
  const rows = await selectAdsets(db)
    .where(
      and(
        eq(adsets.applicationId, page.application_id),
        gt(adsets.id, page.cursor),
        namesContain(page.q ?? '', adsets.name, campaigns.name),
      ),
    )
    .orderBy(asc(adsets.id))
    .limit(page.limit);
  return rows.map(showAdset);
}

/** Body of `PATCH /v1/campaigns/:id` and `PATCH /v1/adsets/:id`. */
export const GroupChanges = z.object(
  { external_ids: ExternalIds },
  { error: 'The body must be a JSON object' },
);
export type GroupChanges = z.infer<typeof GroupChanges>;

const NAMES = { campaign: 'Campaign', adset: 'Ad set' } as const;

type Group = { applicationId: string; id: string; name: string; externalIds: string };

/** Replaces the ids of the group that `select` finds, and returns it as it is then. */
async function replaceIds<Row extends Group>(
  caller: Caller,
  kind: keyof typeof NAMES,
  select: () => PromiseLike<Row[]>,
  ids: ExternalIds,
): Promise<Row> {
  const read = async () => {
    const [row] = await select();
    if (!row) throw new AppError('not_found', `${NAMES[kind]} not found`);
    return row;
  };
  const row = await read();
  const before = readExternalIds(row.externalIds);
  await saveChanges(caller.db, replaceExternalIds(caller, { ...row, kind }, before, ids));
  return read();
}

/**
 * Replaces the ids by which networks know a campaign. Idempotent. Throws `not_found` for another team's campaign too, and `conflict` if
 * another campaign of the application has one of the ids.
 */
export async function changeCampaign(
  caller: Caller,
  id: string,
  { external_ids: ids }: GroupChanges,
): Promise<Campaign> {
  const isOwn = and(eq(campaigns.id, id), eq(applications.teamId, caller.team.id));
  return showCampaign(
    await replaceIds(caller, 'campaign', () => selectCampaigns(caller.db).where(isOwn), ids),
  );
}

/** Replaces the ids by which networks know an ad set: as `changeCampaign`. */
export async function changeAdset(
  caller: Caller,
  id: string,
  { external_ids: ids }: GroupChanges,
): Promise<Adset> {
  const isOwn = and(eq(adsets.id, id), eq(applications.teamId, caller.team.id));
  return showAdset(await replaceIds(caller, 'adset', () => selectAdsets(caller.db).where(isOwn), ids));
}
