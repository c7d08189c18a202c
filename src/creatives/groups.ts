import { and, asc, eq, gt, sql } from 'drizzle-orm';
import * as z from 'zod';
import type { Caller } from '#audit';
import { applications, campaigns, type Database, type InventoryLevel } from '#db';
import { AppError } from '#http';
import { toApi } from '#lib/encoding/camel-case';
import { iso } from '#lib/time';
import { Adset, Campaign } from './answers.ts';
import {
  ExternalIds,
  externalIdsOf,
  readExternalIds,
  replaceExternalIds,
  saveChanges,
} from './external-ids.ts';
import { LEVELS, namesContain, selectLevel } from './levels.ts';
import type { ListQuery } from './list.ts';

// Campaigns and ad sets: what creatives are grouped by.

type GroupKind = Exclude<InventoryLevel, 'creative'>;

const selectGroups = (db: Database, kind: GroupKind) => {
  const { table } = LEVELS[kind];
  return selectLevel(db, kind, {
    id: sql<string>`${table.id}`,
    applicationId: sql<string>`${table.applicationId}`,
    name: sql<string>`${table.name}`,
    campaignId: sql<string>`${campaigns.id}`,
    campaign: sql<string>`${campaigns.name}`,
    createdAt: sql<number>`${table.createdAt}`,
    externalIds: externalIdsOf(table.id),
  }).innerJoin(applications, eq(applications.id, table.applicationId));
};

type InventoryGroupRow = Awaited<ReturnType<typeof selectGroups>>[number];

const inAnswer = (row: InventoryGroupRow) => ({
  ...row,
  externalIds: readExternalIds(row.externalIds),
  createdAt: iso(row.createdAt),
});
const showCampaign = (row: InventoryGroupRow): Campaign => toApi(Campaign, inAnswer(row));
const showAdset = (row: InventoryGroupRow): Adset => toApi(Adset, inAnswer(row));

function listGroups(db: Database, kind: GroupKind, page: ListQuery): PromiseLike<InventoryGroupRow[]> {
  const { table, names } = LEVELS[kind];
  return selectGroups(db, kind)
    .where(
      and(
        eq(table.applicationId, page.application_id),
        gt(table.id, page.cursor),
        namesContain(page.q ?? '', names),
      ),
    )
    .orderBy(asc(table.id))
    .limit(page.limit);
}

/** One page of an application's campaigns, oldest first. The caller has checked that the application belongs to the team. */
export const listCampaigns = async (db: Database, page: ListQuery): Promise<Campaign[]> =>
  (await listGroups(db, 'campaign', page)).map(showCampaign);

/** One page of an application's ad sets, oldest first. The caller has checked that the application belongs to the team. */
export const listAdsets = async (db: Database, page: ListQuery): Promise<Adset[]> =>
  (await listGroups(db, 'adset', page)).map(showAdset);

/** Body of `PATCH /v1/campaigns/:id` and `PATCH /v1/adsets/:id`. */
export const GroupChanges = z.object(
  { external_ids: ExternalIds },
  { error: 'The body must be a JSON object' },
);
export type GroupChanges = z.infer<typeof GroupChanges>;

const NAMES = { campaign: 'Campaign', adset: 'Ad set' } as const;

/**
 * Replaces the ids by which networks know a campaign or an ad set, and returns it as it is then. Idempotent. Throws `not_found` for another
 * team's, too, and `conflict` if another one of the application has one of the ids.
 */
async function changeGroup(
  caller: Caller,
  kind: GroupKind,
  id: string,
  { external_ids: ids }: GroupChanges,
): Promise<InventoryGroupRow> {
  const isOwn = and(eq(LEVELS[kind].table.id, id), eq(applications.teamId, caller.team.id));
  const read = async () => {
    const [row] = await selectGroups(caller.db, kind).where(isOwn);
    if (!row) throw new AppError('not_found', `${NAMES[kind]} not found`);
    return row;
  };
  const row = await read();
  const before = readExternalIds(row.externalIds);
  await saveChanges(caller.db, replaceExternalIds(caller, { ...row, kind }, before, ids));
  return read();
}

export const changeCampaign = async (caller: Caller, id: string, changes: GroupChanges): Promise<Campaign> =>
  showCampaign(await changeGroup(caller, 'campaign', id, changes));

export const changeAdset = async (caller: Caller, id: string, changes: GroupChanges): Promise<Adset> =>
  showAdset(await changeGroup(caller, 'adset', id, changes));
