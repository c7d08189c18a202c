import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import { adsets, campaigns, type Database, type InventoryLevel } from '#db';
import { LEVELS, namesContain, selectLevel } from './levels.ts';

/** `parent` names the campaign and ad set above it, because names of ad sets and creatives need not be unique. */
export type NamedEntity = { id: string; name: string; parent: string | null };

const PARENTS = {
  campaign: sql<string | null>`NULL`,
  adset: sql<string | null>`${campaigns.name}`,
  creative: sql<string | null>`${campaigns.name} || ' › ' || ${adsets.name}`,
} as const satisfies Record<InventoryLevel, SQL>;

function findNamed(
  db: Database,
  kind: InventoryLevel,
  applicationId: string,
  condition: SQL | undefined,
  limit: number,
): PromiseLike<NamedEntity[]> {
  const { table } = LEVELS[kind];
  const columns = {
    id: sql<string>`${table.id}`,
    name: sql<string>`${table.name}`,
    parent: PARENTS[kind],
  };
  return selectLevel(db, kind, columns)
    .where(and(eq(table.applicationId, applicationId), condition))
    .orderBy(desc(table.id))
    .limit(limit);
}

/** An application's campaigns, ad sets or creatives whose name contains `q`, newest first; all of them if `q` is empty. */
export async function searchNames(
  db: Database,
  applicationId: string,
  { kind, q, limit }: { kind: InventoryLevel; q: string; limit: number },
): Promise<NamedEntity[]> {
  const { name } = LEVELS[kind].table;
  return findNamed(db, kind, applicationId, namesContain(q, [name]), limit);
}

/** D1 binds 100 parameters. */
export const MAX_NAMES = 90;

/** The names of at most `MAX_NAMES` ids, by id. Ids that the application does not have are left out. */
export async function findNames(
  db: Database,
  applicationId: string,
  kind: InventoryLevel,
  ids: readonly string[],
): Promise<Map<string, NamedEntity>> {
  if (ids.length === 0) return new Map();
  const rows = await findNamed(db, kind, applicationId, inArray(LEVELS[kind].table.id, [...ids]), ids.length);
  return new Map(rows.map((row) => [row.id, row]));
}
