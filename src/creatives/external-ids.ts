import { and, asc, eq, ne, notExists, sql } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller, newAuditEntry } from '#audit';
import { applications, creatives, type Database, externalIds } from '#db';
import { AppError, oneOf, requiredText } from '#http';
import { NETWORKS } from '#networks';
import type { ExternalIdsListed } from './answers.ts';

const MAX_IDS = 20;
const NETWORK_IDS = NETWORKS.map(({ id }) => id) as [string, ...string[]];

/** Body of `PUT /v1/creatives/:id/external-ids`: all ids of the creative. They are text, because ids of ads exceed 2^53. */
export const ExternalIds = z.object({
  external_ids: z
    .array(z.object({ network: oneOf(NETWORK_IDS), id: requiredText(64) }), {
      error: 'must be a list of networks and ids',
    })
    .max(MAX_IDS, `must have at most ${MAX_IDS} ids`),
});
type ExternalIds = z.infer<typeof ExternalIds>;

type Owned = { id: string; applicationId: string; name: string };

async function ownCreative(db: Database, teamId: string, id: string): Promise<Owned> {
  const [row] = await db
    .select({ id: creatives.id, applicationId: creatives.applicationId, name: creatives.name })
    .from(creatives)
    .innerJoin(applications, eq(applications.id, creatives.applicationId))
    .where(and(eq(creatives.id, id), eq(applications.teamId, teamId)));
  if (!row) throw new AppError('not_found', 'Creative not found');
  return row;
}

const { network, externalId, applicationId, creativeId } = externalIds;

const selectIds = (db: Database, creative: Owned) =>
  db
    .select({ network, id: externalId })
    .from(externalIds)
    .where(and(eq(applicationId, creative.applicationId), eq(creativeId, creative.id)))
    .orderBy(asc(network), asc(externalId));

/** The ids by which networks know a creative. Throws `not_found` for another team's creative too. */
export async function listExternalIds(db: Database, teamId: string, id: string): Promise<ExternalIdsListed> {
  return { external_ids: await selectIds(db, await ownCreative(db, teamId, id)) };
}

/**
 * Replaces the ids by which networks know a creative. Idempotent. Throws `not_found` for another team's creative too, and `conflict` if another
 * creative of the application has one of the ids.
 */
export async function saveExternalIds(
  caller: Caller,
  id: string,
  { external_ids }: ExternalIds,
): Promise<ExternalIdsListed> {
  const { db, team, now } = caller;
  const creative = await ownCreative(db, team.id, id);
  const wanted = sql`json_each(${JSON.stringify(external_ids.map((one) => [one.network, one.id]))})`;
  const own = and(eq(applicationId, creative.applicationId), eq(creativeId, id));
  const taken = db
    .select({ id: externalId })
    .from(externalIds)
    .where(
      and(
        eq(applicationId, creative.applicationId),
        ne(creativeId, id),
        sql`(${network}, ${externalId}) IN (SELECT value ->> 0, value ->> 1 FROM ${wanted})`,
      ),
    );
  const isFree = notExists(taken);
  const subject = `${creative.name} (${id}): ${external_ids.map((one) => `${one.network} ${one.id}`).join(', ') || 'none'}`;
  const rows = db
    .selectDistinct({
      applicationId: sql<string>`${creative.applicationId}`.as('application_id'),
      network: sql<string>`value ->> 0`.as('network'),
      externalId: sql<string>`value ->> 1`.as('external_id'),
      creativeId: sql<string>`${id}`.as('creative_id'),
      createdAt: sql<number>`${now}`.as('created_at'),
    })
    .from(wanted)
    .where(isFree);
  const [, , , stored, conflicts] = await db.batch([
    auditStatement(caller, newAuditEntry('creative.external_ids_saved', subject), isFree),
    db.delete(externalIds).where(and(own, isFree)),
    db.insert(externalIds).select(rows),
    selectIds(db, creative),
    taken,
  ]);
  if (conflicts.length > 0) throw new AppError('conflict', 'Another creative has one of these ids');
  return { external_ids: stored };
}
