import { and, desc, eq, lt } from 'drizzle-orm';
import * as z from 'zod';
import { type Database, savedViews, shareLinks, teams } from '#db';
import { AppError, requiredText } from '#http';
import { randomSecret, sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { type AuditEntry, auditStatement } from '#members';

const MAX_VIEWS = 200;
const MAX_QUERY = 2_000;

/** The pages that a view can be of: those that show figures and nothing else. */
export const VIEW_PAGES = {
  '/': 'Overview',
  '/creatives': 'Creatives',
  '/breakdown': 'Breakdown',
  '/ads': 'Ads',
  '/retention': 'Retention',
  '/ltv': 'LTV and ROAS',
  '/funnels': 'Funnels',
  '/compare': 'Compare',
  '/costs': 'Costs',
} as const satisfies Record<string, string>;

/** A page and what it looks at, as an address of the dashboard: `/ltv?app=…&period=28d`. */
export const ViewAddress = z
  .string('is required')
  .max(MAX_QUERY, `must have at most ${MAX_QUERY} characters`)
  .transform((address, ctx) => {
    const url = address.startsWith('/') ? URL.parse(address, 'https://view.invalid') : null;
    if (url?.host === 'view.invalid' && Object.hasOwn(VIEW_PAGES, url.pathname)) {
      for (const name of ['done', 'format', 'cursor']) url.searchParams.delete(name);
      return { path: url.pathname as keyof typeof VIEW_PAGES, query: url.searchParams.toString() };
    }
    ctx.addIssue({ code: 'custom', message: 'must be the address of a report' });
    return z.NEVER;
  });
export type ViewAddress = z.infer<typeof ViewAddress>;

export const NewView = z.object({ address: ViewAddress, name: requiredText(100) });

const LIFETIMES = ['1', '7', '30', '90', '365'] as const;
export const NewShareLink = z.object({
  address: ViewAddress,
  note: requiredText(255),
  days: z.enum(LIFETIMES, { error: `must be one of ${LIFETIMES.join(', ')}` }).transform(Number),
});

export const listViews = (db: Database, teamId: string) =>
  db
    .select()
    .from(savedViews)
    .where(eq(savedViews.teamId, teamId))
    .orderBy(desc(savedViews.id))
    .limit(MAX_VIEWS);

/** Throws `conflict` past 200 views of a team. */
export async function saveView(
  db: Database,
  view: z.infer<typeof NewView>,
  audit: AuditEntry,
  now: number,
): Promise<void> {
  if ((await db.$count(savedViews, eq(savedViews.teamId, audit.teamId))) >= MAX_VIEWS) {
    throw new AppError('conflict', `A team has at most ${MAX_VIEWS} saved views`);
  }
  const { address, name } = view;
  const row = { teamId: audit.teamId, id: newId('viw'), name, createdBy: audit.actor, createdAt: now };
  await db.batch([db.insert(savedViews).values({ ...row, ...address }), auditStatement(db, audit, now)]);
}

/** Repeatable. Another team's view stays as it is. */
export async function removeView(db: Database, id: string, audit: AuditEntry, now: number): Promise<void> {
  await db.batch([
    db.delete(savedViews).where(and(eq(savedViews.teamId, audit.teamId), eq(savedViews.id, id))),
    auditStatement(db, audit, now),
  ]);
}

/** A link to one view; the secret is its last segment, is shown this once and stored only as its SHA-256. */
export async function createShareLink(
  db: Database,
  link: z.infer<typeof NewShareLink>,
  audit: AuditEntry,
  now: number,
): Promise<string> {
  const secret = randomSecret();
  const { address, note, days } = link;
  const row = {
    hash: await sha256Hex(secret),
    teamId: audit.teamId,
    note,
    createdBy: audit.actor,
    createdAt: now,
    expiresAt: now + days * DAY_MS,
  };
  await db.batch([db.insert(shareLinks).values({ ...row, ...address }), auditStatement(db, audit, now)]);
  return secret;
}

export const listShareLinks = (db: Database, teamId: string) =>
  db
    .select()
    .from(shareLinks)
    .where(eq(shareLinks.teamId, teamId))
    .orderBy(desc(shareLinks.createdAt))
    .limit(MAX_VIEWS);

/** Repeatable; works at once. Another team's link stays as it is. */
export async function revokeShareLink(
  db: Database,
  hash: string,
  audit: AuditEntry,
  now: number,
): Promise<void> {
  await db.batch([
    db.delete(shareLinks).where(and(eq(shareLinks.teamId, audit.teamId), eq(shareLinks.hash, hash))),
    auditStatement(db, audit, now),
  ]);
}

/** The view behind a link, or null where it is over, revoked or made up. */
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

/** Forgets links that are over. They open nothing any more. */
export async function pruneShareLinks(db: Database, now: number): Promise<void> {
  await db.delete(shareLinks).where(lt(shareLinks.expiresAt, now));
}
