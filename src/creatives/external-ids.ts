import { and, asc, desc, eq, inArray, not, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { alias } from 'drizzle-orm/sqlite-core';
import * as z from 'zod';
import { type AuditAction, auditStatement, type Caller } from '#audit';
import { type Database, externalIds, hasRow, type InventoryLevel } from '#db';
import { AppError, oneOf, requiredText } from '#http';
import { NETWORKS } from '#networks';

const MAX_IDS = 20;
const NETWORK_IDS = NETWORKS.map(({ id }) => id) as [string, ...string[]];

/** The ids by which networks know a campaign, ad set or creative: all of them. They are text, because ids of ads exceed 2^53. */
export const ExternalIds = z
  .array(z.object({ network: oneOf(NETWORK_IDS), id: requiredText(64) }), {
    error: 'must be a list of networks and ids',
  })
  .max(MAX_IDS, `must have at most ${MAX_IDS} ids`);
export type ExternalIds = z.infer<typeof ExternalIds>;

/** One id of a creative, or of its ad set or campaign. */
export const ExternalId = z.object({
  kind: oneOf(['creative', 'adset', 'campaign']),
  network: oneOf(NETWORK_IDS),
  id: requiredText(64),
});
export type ExternalId = z.infer<typeof ExternalId>;

type ItemWithIds<Id = string> = { applicationId: string; kind: InventoryLevel; id: Id };

/** A column with the ids of an item as a JSON array, by network and id. See `readExternalIds`. */
export const externalIdsOf = (itemId: SQLWrapper) =>
  sql<string>`(SELECT json_group_array(json_object('network', network, 'id', external_id))
    FROM (SELECT ${externalIds.network} AS network, ${externalIds.externalId} AS external_id FROM ${externalIds}
      WHERE ${externalIds.itemId} = ${itemId} ORDER BY 1, 2))`.as('external_ids');

export const readExternalIds = (json: string): ExternalIds => JSON.parse(json);

/**
 * Stores the ids of an item that it does not have yet, if a condition holds. The transaction fails if another item has one: see `isTaken`. `id` may
 * be an expression.
 */
export function insertExternalIds(
  db: Database,
  { applicationId, kind, id }: ItemWithIds<string | SQL<string>>,
  ids: ExternalIds,
  { now, when }: { now: number; when: SQL },
) {
  const own = alias(externalIds, 'own');
  const isNew = not(
    hasRow(
      own,
      and(
        eq(own.itemId, id),
        eq(own.kind, kind),
        sql`${own.network} = value ->> 0 AND ${own.externalId} = value ->> 1`,
      ),
    ),
  );
  return db.insert(externalIds).select(
    db
      .selectDistinct({
        applicationId: sql<string>`${applicationId}`.as('application_id'),
        network: sql<string>`value ->> 0`.as('network'),
        kind: sql<InventoryLevel>`${kind}`.as('kind'),
        externalId: sql<string>`value ->> 1`.as('external_id'),
        itemId: sql<string>`${id}`.as('item_id'),
        createdAt: sql<number>`${now}`.as('created_at'),
      })
      .from(sql`json_each(${JSON.stringify(ids.map((one) => [one.network, one.id]))})`)
      .where(and(when, isNew)),
  );
}

/** The ids of some items, by kind, network and id. */
export const listExternalIds = (db: Database, itemIds: readonly string[]): Promise<ExternalId[]> =>
  db
    .select({ kind: externalIds.kind, network: externalIds.network, id: externalIds.externalId })
    .from(externalIds)
    .where(inArray(externalIds.itemId, [...itemIds]))
    .orderBy(desc(externalIds.kind), asc(externalIds.network), asc(externalIds.externalId));

/** Whether a transaction failed because another item of the application has one of the ids. */
export function isTaken(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message.includes('UNIQUE constraint failed: external_ids.')) return true;
  }
  return false;
}

export const takenIds = (): AppError =>
  new AppError('conflict', 'Another campaign, ad set or creative has one of these external_ids');

const ACTIONS = {
  campaign: 'campaign.external_ids_saved',
  adset: 'adset.external_ids_saved',
  creative: 'creative.external_ids_saved',
} as const satisfies Record<InventoryLevel, AuditAction>;

const inOrder = (ids: ExternalIds) => ids.map(({ network, id }) => `${network} ${id}`).sort();

/**
 * The statements that replace an item's ids, to be run in one transaction; none if they are the same. The transaction fails if another item has
 * one of them: see `isTaken`.
 */
export function replaceExternalIds(
  caller: Caller,
  item: ItemWithIds & { name: string },
  before: ExternalIds,
  ids: ExternalIds,
): BatchItem<'sqlite'>[] {
  const { db, now } = caller;
  const wanted = [...new Set(inOrder(ids))];
  if (wanted.join() === inOrder(before).join()) return [];
  return [
    auditStatement(caller, ACTIONS[item.kind], `${item.name} (${item.id}): ${wanted.join(', ') || 'none'}`),
    db.delete(externalIds).where(eq(externalIds.itemId, item.id)),
    insertExternalIds(db, item, ids, { now, when: sql`true` }),
  ];
}

/** Runs statements as one transaction. Throws `conflict` if another item has an external id that they store. */
export async function saveChanges(
  db: Database,
  [first, ...rest]: readonly BatchItem<'sqlite'>[],
): Promise<void> {
  if (!first) return;
  try {
    await db.batch([first, ...rest]);
  } catch (error) {
    throw isTaken(error) ? takenIds() : error;
  }
}
