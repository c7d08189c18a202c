import { sql } from 'drizzle-orm';
import { applications, type Database, isAmong, storeLosses } from '#db';

export type Loss = typeof storeLosses.$inferSelect;

/** The statement that records for every application what a store has lost. A loss that is not resolved yet stays as it is. */
export const recordLoss = (
  db: Database,
  { store, lostFrom }: Pick<Loss, 'store' | 'lostFrom'>,
  now: number,
) =>
  db
    .insert(storeLosses)
    .select(sql`SELECT ${applications.id}, ${store}, ${lostFrom}, ${now} FROM ${applications} WHERE true`)
    .onConflictDoNothing();

/** What was lost of some applications, by application. */
export async function readLosses(
  db: Database,
  applicationIds: readonly string[],
): Promise<Map<string, Loss[]>> {
  const rows = await db.select().from(storeLosses).where(isAmong(storeLosses.applicationId, applicationIds));
  return Map.groupBy(rows, ({ applicationId }) => applicationId);
}

/** Forgets losses. One that was noticed anew since they were read is kept. */
export async function resolveLosses(db: Database, losses: readonly Loss[]): Promise<void> {
  const { applicationId, store, noticedAt } = storeLosses;
  const keys = losses.map((own) => [own.applicationId, own.store, own.noticedAt]);
  await db.delete(storeLosses).where(
    sql`(${applicationId}, ${store}, ${noticedAt}) IN
      (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${JSON.stringify(keys)}))`,
  );
}
