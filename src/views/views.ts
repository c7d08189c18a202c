import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { type Database, hasRow, insertWhere, savedViews, shareLinks, teams } from '#db';
import { AppError, requiredName } from '#http';
import { randomSecret, sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';

const MAX_VIEWS = 200;
const MAX_QUERY = 2_000;

/** Whether a page may be saved as a view, by its path. */
type IsSavable = (path: string) => boolean;

/** A page with its filters, as a dashboard URL: `/ltv?app=…&period=28d`. */
const viewAddressField = (isSavable: IsSavable) =>
  z
    .string('is required')
    .max(MAX_QUERY, `must have at most ${MAX_QUERY} characters`)
    .transform((address, ctx) => {
      const url = address.startsWith('/') ? URL.parse(address, 'https://view.invalid') : null;
      if (url?.host === 'view.invalid' && isSavable(url.pathname)) {
        for (const name of ['done', 'format', 'cursor']) url.searchParams.delete(name);
        return { path: url.pathname, query: url.searchParams.toString() };
      }
      ctx.addIssue({ code: 'custom', message: 'must be the address of a report' });
      return z.NEVER;
    });

/** The dashboard URL of a stored view. */
export const viewAddress = ({ path, query }: { path: string; query: string }): string =>
  query === '' ? path : `${path}?${query}`;

export const newView = (isSavable: IsSavable) =>
  z.object({ address: viewAddressField(isSavable), name: requiredName(100) });

const LIFETIMES = ['1', '7', '30', '90', '365'] as const;
export const newShareLink = (isSavable: IsSavable) =>
  z.object({
    address: viewAddressField(isSavable),
    note: requiredName(255),
    days: z.enum(LIFETIMES, { error: `must be one of ${LIFETIMES.join(', ')}` }).transform(Number),
  });

export const listViews = (db: Database, teamId: string) =>
  db
    .select()
    .from(savedViews)
    .where(eq(savedViews.teamId, teamId))
    .orderBy(desc(savedViews.id))
    .limit(MAX_VIEWS);

/** Throws `conflict` beyond 200 views per team. */
export async function saveView(
  caller: Caller,
  { address, name }: z.infer<ReturnType<typeof newView>>,
): Promise<void> {
  const { db, team, actor, now } = caller;
  if ((await db.$count(savedViews, eq(savedViews.teamId, team.id))) >= MAX_VIEWS) {
    throw new AppError('conflict', `A team has at most ${MAX_VIEWS} saved views`);
  }
  const row = { teamId: team.id, id: newId('viw'), name, createdBy: actor, createdAt: now, ...address };
  await db.batch([db.insert(savedViews).values(row), auditStatement(caller, 'view.saved', name)]);
}

/** Removes a view; with `onlyOwn`, only one that the caller saved. Throws `not_found` for another team's view, `forbidden` for another's. */
export async function removeView(
  caller: Caller,
  id: string,
  { onlyOwn }: { onlyOwn: boolean },
): Promise<void> {
  const { db, team, actor } = caller;
  const own = and(eq(savedViews.teamId, team.id), eq(savedViews.id, id));
  const [view] = await db.select().from(savedViews).where(own);
  if (!view) throw new AppError('not_found', 'Saved view not found');
  if (onlyOwn && view.createdBy !== actor) {
    throw new AppError('forbidden', 'Only an admin can remove a view that someone else saved');
  }
  await db.batch([db.delete(savedViews).where(own), auditStatement(caller, 'view.removed', view.name)]);
}

/** A link's view, for an application: without one in its address, it would follow the team's first one, whichever that is. */
export function boundTo<Stored extends { query: string }>(address: Stored, applicationId: string): Stored {
  const query = new URLSearchParams(address.query);
  if (!query.get('app')) query.set('app', applicationId);
  return { ...address, query: query.toString() };
}

/**
 * Creates a link to one view. The returned secret is its last segment; only its SHA-256 is stored. `mayShare` is SQL for whether the caller's role
 * still allows it when it takes effect: a link must not outlive the role that ends meanwhile. Throws `forbidden` if it does not.
 */
export async function createShareLink(
  caller: Caller,
  { address, note, days }: z.infer<ReturnType<typeof newShareLink>>,
  mayShare: SQL,
): Promise<string> {
  const { db, team, actor, now } = caller;
  const secret = randomSecret();
  const row = {
    hash: await sha256Hex(secret),
    teamId: team.id,
    note,
    createdBy: actor,
    createdAt: now,
    expiresAt: now + days * DAY_MS,
    ...address,
  };
  const [created] = await db.batch([
    insertWhere(db, shareLinks, row, mayShare),
    auditStatement(caller, 'share_link.created', `${viewAddress(address)} for ${note}`, mayShare),
  ]);
  if (created.meta.changes !== 1) throw new AppError('forbidden', 'Your role no longer allows this');
  return secret;
}

export const listShareLinks = (db: Database, teamId: string) =>
  db
    .select()
    .from(shareLinks)
    .where(eq(shareLinks.teamId, teamId))
    .orderBy(desc(shareLinks.createdAt))
    .limit(MAX_VIEWS);

/** Takes effect at once. Throws `not_found` for another team's link too. */
export async function revokeShareLink(caller: Caller, hash: string): Promise<void> {
  const { db, team } = caller;
  const own = and(eq(shareLinks.teamId, team.id), eq(shareLinks.hash, hash));
  const [link] = await db.select().from(shareLinks).where(own);
  if (!link) throw new AppError('not_found', 'Share link not found');
  await db.batch([
    db.delete(shareLinks).where(own),
    auditStatement(caller, 'share_link.revoked', `${viewAddress(link)} for ${link.note}`),
  ]);
}

/** Statements that end the share links that someone created, if `condition` holds. For the transaction that ends their role. */
export function endShareLinks(caller: Caller, createdBy: string, condition: SQL) {
  const { db, team } = caller;
  const own = and(eq(shareLinks.teamId, team.id), eq(shareLinks.createdBy, createdBy), condition);
  const notes = db
    .select({ notes: sql`group_concat(${shareLinks.note}, ', ')` })
    .from(shareLinks)
    .where(own);
  return [
    auditStatement(
      caller,
      'share_link.revoked',
      sql<string>`(SELECT 'All for ' || (${notes}))`,
      hasRow(shareLinks, own),
    ),
    db.delete(shareLinks).where(own),
  ];
}

/** The view of a link, or null if the link expired, was revoked or never existed. */
export async function findShareLink(db: Database, secret: string, now: number) {
  const [found] = await db
    .select({
      path: shareLinks.path,
      query: shareLinks.query,
      expiresAt: shareLinks.expiresAt,
      team: { id: teams.id, name: teams.name },
    })
    .from(shareLinks)
    .innerJoin(teams, eq(teams.id, shareLinks.teamId))
    .where(eq(shareLinks.hash, await sha256Hex(secret)));
  return found && found.expiresAt > now ? found : null;
}

/** Deletes expired links. They are already without effect. */
export async function pruneShareLinks(db: Database, now: number): Promise<void> {
  await db.delete(shareLinks).where(lt(shareLinks.expiresAt, now));
}
