import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import { adsets, campaigns, creatives, type Database } from '#db';
import { namesContain } from './inventory.ts';

export type NamedKind = 'campaign' | 'adset' | 'creative';

/** `parent` names the campaign and ad set above it, because names of ad sets and creatives need not be unique. */
export type NamedEntity = { id: string; name: string; parent: string | null };

const TABLES = { campaign: campaigns, adset: adsets, creative: creatives } as const;

async function findNamed(
  db: Database,
  kind: NamedKind,
  applicationId: string,
  condition: SQL | undefined,
  limit: number,
): Promise<NamedEntity[]> {
  const table = TABLES[kind];
  const found = and(eq(table.applicationId, applicationId), condition);
  if (kind === 'campaign') {
    const rows = await db
      .select({ id: campaigns.id, name: campaigns.name })
      .from(campaigns)
      .where(found)
      .orderBy(desc(campaigns.id))
      .limit(limit);
    return rows.map((row) => ({ ...row, parent: null }));
  }
  if (kind === 'adset') {
    return db
      .select({ id: adsets.id, name: adsets.name, parent: campaigns.name })
      .from(adsets)
      .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
      .where(found)
      .orderBy(desc(adsets.id))
      .limit(limit);
  }
  return db
    .select({
      id: creatives.id,
      name: creatives.name,
      parent: sql<string>`${campaigns.name} || ' › ' || ${adsets.name}`,
    })
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .where(found)
    .orderBy(desc(creatives.id))
    .limit(limit);
}

/** An application's campaigns, ad sets or creatives whose name contains `q`, newest first; all of them if `q` is empty. */
export function searchNames(
  db: Database,
  applicationId: string,
  { kind, q, limit }: { kind: NamedKind; q: string; limit: number },
): Promise<NamedEntity[]> {
  const { name } = TABLES[kind];
  return findNamed(db, kind, applicationId, namesContain(q, name), limit);
}

/** D1 binds 100 parameters. */
export const MAX_NAMES = 90;

/** The names of at most `MAX_NAMES` ids, by id. Ids that the application does not have are left out. */
export async function findNames(
  db: Database,
  applicationId: string,
  kind: NamedKind,
  ids: readonly string[],
): Promise<Map<string, NamedEntity>> {
  if (ids.length === 0) return new Map();
  const rows = await findNamed(db, kind, applicationId, inArray(TABLES[kind].id, [...ids]), ids.length);
  return new Map(rows.map((row) => [row.id, row]));
}
