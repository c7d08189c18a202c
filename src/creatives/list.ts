import { and, asc, eq, exists, gt, isNotNull, isNull } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller, newAuditEntry } from '#audit';
import { adsets, applications, campaigns, creatives, type Database } from '#db';
import { AppError, idListQuery, requiredText, searchText } from '#http';
import type { IdPrefix } from '#lib/ids';
import { iso } from '#lib/time';
import { namesContain } from './inventory.ts';
import type { Creative } from './operations.ts';

/** `?application_id=&q=&limit=&cursor=`. `q`: only items with this text in their own name or in that of their ad set or campaign. */
const listQuery = (prefix: IdPrefix) =>
  idListQuery(prefix).extend({ application_id: requiredText(128), q: searchText() });
export const CampaignsQuery = listQuery('cmp');
export const AdsetsQuery = listQuery('ads');
export const CreativesQuery = listQuery('crt');
type ListQuery = Omit<z.infer<typeof CreativesQuery>, 'q'> & { q?: string | undefined };

/** Body of `PATCH /v1/creatives/:id`. */
export const CreativeChanges = z.object({
  archived: z.boolean({
    error: (issue) => (issue.input === undefined ? 'is required' : 'must be true or false'),
  }),
});

/** A page of a list and the cursor of the next one: the last id, or null on the last page. */
export function toPage<Row extends { id: string }>(rows: Row[], limit: number) {
  return { data: rows, next_cursor: rows.length === limit ? (rows.at(-1)?.id ?? null) : null };
}

/** One page of an application's campaigns, oldest first. The caller has checked that the application belongs to the team. */
export async function listCampaigns(db: Database, page: ListQuery) {
  const rows = await db
    .select()
    .from(campaigns)
    .where(
      and(
        eq(campaigns.applicationId, page.application_id),
        gt(campaigns.id, page.cursor),
        namesContain(page.q ?? '', campaigns.name),
      ),
    )
    .orderBy(asc(campaigns.id))
    .limit(page.limit);
  return rows.map(({ id, name, createdAt }) => ({ id, name, created_at: iso(createdAt) }));
}

/** One page of an application's ad sets, oldest first. The caller has checked that the application belongs to the team. */
export async function listAdsets(db: Database, page: ListQuery) {
  const rows = await db
    .select({
      id: adsets.id,
      name: adsets.name,
      campaignId: campaigns.id,
      campaign: campaigns.name,
      createdAt: adsets.createdAt,
    })
    .from(adsets)
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .where(
      and(
        eq(adsets.applicationId, page.application_id),
        gt(adsets.id, page.cursor),
        namesContain(page.q ?? '', adsets.name, campaigns.name),
      ),
    )
    .orderBy(asc(adsets.id))
    .limit(page.limit);
  return rows.map(({ campaignId, createdAt, ...row }) => ({
    ...row,
    campaign_id: campaignId,
    created_at: iso(createdAt),
  }));
}

const creativeColumns = {
  id: creatives.id,
  name: creatives.name,
  token: creatives.token,
  adsetId: adsets.id,
  adset: adsets.name,
  campaignId: campaigns.id,
  campaign: campaigns.name,
  archivedAt: creatives.archivedAt,
  createdAt: creatives.createdAt,
};

const selectCreatives = (db: Database) =>
  db
    .select(creativeColumns)
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .innerJoin(applications, eq(applications.id, creatives.applicationId));

type CreativeRow = Awaited<ReturnType<ReturnType<typeof selectCreatives>['execute']>>[number];

/** A creative in the team API's format; `linkTo` builds a tracking link from its token. */
function showCreative(row: CreativeRow, linkTo: (token: string) => string): Creative {
  return {
    id: row.id,
    name: row.name,
    tracking_link: linkTo(row.token),
    adset: row.adset,
    adset_id: row.adsetId,
    campaign: row.campaign,
    campaign_id: row.campaignId,
    archived: row.archivedAt !== null,
    archived_at: row.archivedAt === null ? null : iso(row.archivedAt),
    created_at: iso(row.createdAt),
  };
}

/** One page of an application's creatives, archived ones too, oldest first. The caller has checked the application. */
export async function listCreatives(db: Database, page: ListQuery, linkTo: (token: string) => string) {
  const rows = await selectCreatives(db)
    .where(
      and(
        eq(creatives.applicationId, page.application_id),
        gt(creatives.id, page.cursor),
        namesContain(page.q ?? '', creatives.name, adsets.name, campaigns.name),
      ),
    )
    .orderBy(asc(creatives.id))
    .limit(page.limit);
  return rows.map((row) => showCreative(row, linkTo));
}

/** One creative. Throws `not_found` for another team's creative too. */
export async function getCreative(
  db: Database,
  teamId: string,
  id: string,
  linkTo: (token: string) => string,
) {
  const [row] = await selectCreatives(db).where(and(eq(creatives.id, id), eq(applications.teamId, teamId)));
  if (!row) throw new AppError('not_found', 'Creative not found');
  return showCreative(row, linkTo);
}

/** Archives or unarchives a creative; its link works either way. Throws `not_found` for another team's creative too. */
export async function archiveCreative(
  caller: Caller,
  id: string,
  archived: boolean,
  linkTo: (token: string) => string,
) {
  const { db, team, now } = caller;
  const [current] = await selectCreatives(db).where(
    and(eq(creatives.id, id), eq(applications.teamId, team.id)),
  );
  if (!current) throw new AppError('not_found', 'Creative not found');
  if ((current.archivedAt !== null) === archived) return showCreative(current, linkTo);
  const archivedAt = archived ? now : null;
  const action = archived ? 'creative.archived' : 'creative.unarchived';
  const unlike = and(
    eq(creatives.id, id),
    archived ? isNull(creatives.archivedAt) : isNotNull(creatives.archivedAt),
  );
  await db.batch([
    auditStatement(
      caller,
      newAuditEntry(action, `${current.name} (${id})`),
      exists(db.select({ id: creatives.id }).from(creatives).where(unlike)),
    ),
    db.update(creatives).set({ archivedAt }).where(unlike),
  ]);
  return showCreative({ ...current, archivedAt }, linkTo);
}
