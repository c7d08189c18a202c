import { and, eq } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { auditStatement, type Caller } from '#audit';
import { costColumns, type Database } from '#db';
import { sha256Hex } from '#lib/crypto';
import type { ApplicationRow } from '#teams';
import { type CostMap, plainHeading } from './layout.ts';

// Which column is which in files whose headings no format knows. One person says it once for an application.

/** A hash of a file's headings. */
export const hashOfHeadings = (headings: readonly string[]): Promise<string> =>
  sha256Hex(JSON.stringify(headings.map(plainHeading)));

/** What was chosen for files of these headings; null if nothing was. */
export async function recallCostColumns(
  db: Database,
  applicationId: string,
  headings: readonly string[],
): Promise<CostMap | null> {
  const [row] = await db
    .select({ map: costColumns.map })
    .from(costColumns)
    .where(
      and(
        eq(costColumns.applicationId, applicationId),
        eq(costColumns.headings, await hashOfHeadings(headings)),
      ),
    );
  return row?.map ?? null;
}

/** The statement that keeps what was chosen for files of headings with a hash, for everyone who uploads costs of the application. Idempotent. */
export function rememberCostColumns(
  { db, now: updatedAt }: Caller,
  applicationId: string,
  headings: string,
  map: CostMap,
): BatchItem<'sqlite'> {
  const row = { applicationId, headings, map: { ...map }, updatedAt };
  return db
    .insert(costColumns)
    .values(row)
    .onConflictDoUpdate({
      target: [costColumns.applicationId, costColumns.headings],
      set: { map: row.map, updatedAt },
    });
}

/** Keeps what was chosen for files of some headings, without a file. Idempotent. */
export async function saveCostColumns(
  caller: Caller,
  application: ApplicationRow,
  headings: readonly string[],
  map: CostMap,
): Promise<void> {
  await caller.db.batch([
    auditStatement(caller, 'costs.columns_changed', `${headings.length} headings of ${application.name}`),
    rememberCostColumns(caller, application.id, await hashOfHeadings(headings), map),
  ]);
}
