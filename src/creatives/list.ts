import { and, asc, desc, eq, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import * as z from 'zod';
import { type AuditAction, auditStatement, type Caller } from '#audit';
import { adsets, applications, campaigns, creatives, type Database, hasRow } from '#db';
import { AppError, idListQuery, optionalName, requiredName, requiredText, searchText } from '#http';
import { toApi } from '#lib/encoding/camel-case';
import type { IdPrefix } from '#lib/ids';
import { iso, isoOrNull } from '#lib/time';
import { toNetwork } from '#networks';
import { appLinkEnd, opensApp } from '#tracking';
import { Creative } from './answers.ts';
import {
  ExternalIds,
  externalIdsOf,
  readExternalIds,
  replaceExternalIds,
  saveChanges,
} from './external-ids.ts';
import { LEVELS, namesContain } from './levels.ts';

/** `?application_id=&q=&limit=&cursor=`. `q`: only items with this text in their own name or in that of their ad set or campaign. */
const listQuery = (prefix: IdPrefix) =>
  idListQuery(prefix).extend({ application_id: requiredText(128), q: searchText() });
export const CampaignsQuery = listQuery('cmp');
export const AdsetsQuery = listQuery('ads');
export const CreativesQuery = listQuery('crt');
export type ListQuery = Omit<z.infer<typeof CreativesQuery>, 'q'> & { q?: string | undefined };

/** Body of `PATCH /v1/creatives/:id`. */
const DEEP_LINK = 'must be a URL or a path such as /levels/3, without spaces and percent-encoded';
const EXECUTABLE = /^(?:javascript|data|vbscript|file|blob):/i;

/** It is sent in a header, and the app opens it. */
const deepLink = requiredText(1024).refine(
  (text) =>
    /^[\x21-\x7e]+$/.test(text) && (text.startsWith('/') || URL.canParse(text)) && !EXECUTABLE.test(text),
  DEEP_LINK,
);

const preview = z.object(
  {
    title: requiredName(120),
    description: optionalName(300).transform((text) => text ?? null),
    image_url: z
      .url({ protocol: /^https$/, error: 'must be an https URL' })
      .max(2048, 'must be at most 2048 characters')
      .nullish()
      .transform((url) => url ?? null),
  },
  { error: 'must be an object or null' },
);

export const CreativeChanges = z
  .object(
    {
      archived: z.boolean({ error: 'must be true or false' }).optional(),
      /** The network that the link is for. Null if the clicks tell. */
      network: z.union([z.null(), requiredName(64)], { error: 'must be a name or null' }).optional(),
      deep_link: deepLink.nullable().optional(),
      preview: preview.nullable().optional(),
      external_ids: ExternalIds.optional(),
    },
    { error: 'The body must be a JSON object' },
  )
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    path: ['archived'],
    error: 'is required, unless network, deep_link, preview or external_ids is given',
  });
export type CreativeChanges = z.infer<typeof CreativeChanges>;

const creativeColumns = {
  id: creatives.id,
  name: creatives.name,
  token: creatives.token,
  adsetId: adsets.id,
  adset: adsets.name,
  campaignId: campaigns.id,
  campaign: campaigns.name,
  network: creatives.network,
  deepLink: creatives.deepLink,
  preview: creatives.preview,
  applicationId: applications.id,
  appleAppIdPrefix: applications.appleAppIdPrefix,
  appleBundleId: applications.appleBundleId,
  androidStoreUrl: applications.androidStoreUrl,
  androidFingerprints: applications.androidFingerprints,
  archivedAt: creatives.archivedAt,
  createdAt: creatives.createdAt,
  externalIds: externalIdsOf(creatives.id),
};

const selectCreatives = (db: Database) =>
  db
    .select(creativeColumns)
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .innerJoin(applications, eq(applications.id, creatives.applicationId));

type CreativeRow = Awaited<ReturnType<ReturnType<typeof selectCreatives>['execute']>>[number];

/** A creative in the team API's format; `linkTo` builds a tracking link from its end. */
const showCreative = (row: CreativeRow, linkTo: (end: string) => string): Creative =>
  toApi(Creative, {
    ...row,
    trackingLink: linkTo(row.token),
    appLink: opensApp(row) ? linkTo(appLinkEnd(row.applicationId, row.token)) : null,
    externalIds: readExternalIds(row.externalIds),
    archived: row.archivedAt !== null,
    archivedAt: isoOrNull(row.archivedAt),
    createdAt: iso(row.createdAt),
  });

/** One page of an application's creatives, archived ones too, oldest first. The caller has checked the application. */
export async function listCreatives(db: Database, page: ListQuery, linkTo: (token: string) => string) {
  const rows = await selectCreatives(db)
    .where(
      and(
        eq(creatives.applicationId, page.application_id),
        gt(creatives.id, page.cursor),
        namesContain(page.q ?? '', LEVELS.creative.names),
      ),
    )
    .orderBy(asc(creatives.id))
    .limit(page.limit);
  return rows.map((row) => showCreative(row, linkTo));
}

/** An application's creatives that are not archived and whose links may be for a network, newest first. */
export async function listNewestFor(
  db: Database,
  { applicationId, network, q, limit }: { applicationId: string; network: string; q: string; limit: number },
  linkTo: (token: string) => string,
) {
  const rows = await selectCreatives(db)
    .where(
      and(
        eq(creatives.applicationId, applicationId),
        isNull(creatives.archivedAt),
        or(isNull(creatives.network), eq(creatives.network, network)),
        namesContain(q, LEVELS.creative.names),
      ),
    )
    .orderBy(desc(creatives.id))
    .limit(limit);
  return rows.map((row) => showCreative(row, linkTo));
}

async function readCreative(db: Database, teamId: string, id: string): Promise<CreativeRow> {
  const [row] = await selectCreatives(db).where(and(eq(creatives.id, id), eq(applications.teamId, teamId)));
  if (!row) throw new AppError('not_found', 'Creative not found');
  return row;
}

/** One creative. Throws `not_found` for another team's creative too. */
export const getCreative = async (
  db: Database,
  teamId: string,
  id: string,
  linkTo: (token: string) => string,
) => showCreative(await readCreative(db, teamId, id), linkTo);

/**
 * Archives or unarchives a creative, whose link works either way, or sets the network that its link is for, which later clicks and devices have, or
 * what its link opens and shows, or the ids by which networks know it.
 * Throws `not_found` for another team's creative too, and `conflict` if another item of the application has one of the ids.
 */
export async function changeCreative(
  caller: Caller,
  id: string,
  { archived, network: named, deep_link: deepLink, preview, external_ids: ids }: CreativeChanges,
  linkTo: (token: string) => string,
) {
  const { db, team, now } = caller;
  const current = await readCreative(db, team.id, id);
  const changed = { ...current };
  const statements: BatchItem<'sqlite'>[] = [];
  const change = (action: AuditAction, unlike: SQL, set: Partial<typeof creatives.$inferSelect>) => {
    const where = and(eq(creatives.id, id), unlike);
    statements.push(
      auditStatement(caller, action, `${current.name} (${id})`, hasRow(creatives, where)),
      db.update(creatives).set(set).where(where),
    );
    Object.assign(changed, set);
  };
  if (archived !== undefined && (current.archivedAt !== null) !== archived) {
    const isUnlike = archived ? isNull(creatives.archivedAt) : isNotNull(creatives.archivedAt);
    change(archived ? 'creative.archived' : 'creative.unarchived', isUnlike, {
      archivedAt: archived ? now : null,
    });
  }
  const network = named === undefined ? current.network : toNetwork(named ?? '') || null;
  if (network !== current.network) {
    change('creative.network_changed', sql`${creatives.network} IS NOT ${network}`, { network });
  }
  if (deepLink !== undefined && deepLink !== current.deepLink) {
    change('creative.link_changed', sql`${creatives.deepLink} IS NOT ${deepLink}`, { deepLink });
  }
  if (preview !== undefined && JSON.stringify(preview) !== JSON.stringify(current.preview)) {
    const text = preview && JSON.stringify(preview);
    change('creative.link_changed', sql`${creatives.preview} IS NOT ${text}`, { preview });
  }
  if (ids !== undefined) {
    const item = { ...current, kind: 'creative' } as const;
    statements.push(...replaceExternalIds(caller, item, readExternalIds(current.externalIds), ids));
  }
  await saveChanges(db, statements);
  if (ids === undefined) return showCreative(changed, linkTo);
  return getCreative(db, team.id, id, linkTo);
}
