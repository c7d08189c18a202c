import { and, asc, eq } from 'drizzle-orm';
import type { Caller } from '#audit';
import { adsets, campaigns, creatives, database, type InventoryLevel, retryTransient } from '#db';
import { AppError, unavailable } from '#http';
import { askRegistry, mintIds } from './create-creative.ts';
import { type ExternalIds, listExternalIds } from './external-ids.ts';
import { changeCreative } from './list.ts';
import { storedNamesOf } from './stored-names.ts';

type ExternalNames = Record<InventoryLevel, string>;

/** The first creative of this name, in the campaign and ad set of these names; null if there is none. */
async function findNamed(d1: D1Database, applicationId: string, sent: ExternalNames): Promise<string | null> {
  const names = await storedNamesOf(database(d1), applicationId, sent);
  const find = () =>
    database(d1)
      .select({ id: creatives.id })
      .from(campaigns)
      .innerJoin(adsets, and(eq(adsets.campaignId, campaigns.id), eq(adsets.name, names.adset)))
      .innerJoin(creatives, and(eq(creatives.adsetId, adsets.id), eq(creatives.name, names.creative)))
      .where(and(eq(campaigns.applicationId, applicationId), eq(campaigns.name, names.campaign)))
      .orderBy(asc(creatives.id))
      .limit(1);
  const [row] = await retryTransient(find);
  return row?.id ?? null;
}

/** Gives a creative further ids, unless another one has one of them. */
async function addIds(caller: Caller, creativeId: string, ids: ExternalIds): Promise<void> {
  if (ids.length === 0) return;
  const own = await listExternalIds(caller.db, [creativeId]);
  const all = [...own.map(({ network, id }) => ({ network, id })), ...ids];
  await changeCreative(caller, creativeId, { external_ids: all }, (end) => end).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
  });
}

type NamedCreative = {
  names: ExternalNames;
  /** Calls with the same one create one creative, also at the same time. */
  key: string;
  /** See `Caller`. */
  actor: string;
  now: number;
  /** The network whose ad it is, and its ids of the ad, its ad set and its campaign. What is created gets them, and so does what has the names. */
  at?: { network: string; ids: Record<InventoryLevel, readonly string[]> };
};

/**
 * The id of the creative with these names, which is created if there is none. Ids that another item of the application has stay with it.
 * Throws `unavailable` if the database fails; may be repeated.
 */
export async function getOrCreateNamed(
  env: Env,
  { id: applicationId, teamId }: { id: string; teamId: string },
  { names, key, actor, now, at }: NamedCreative,
): Promise<string> {
  const idsOf = (kind: InventoryLevel) =>
    (at?.ids[kind] ?? []).map((id) => ({ network: at?.network ?? '', id }));
  const known = await findNamed(env.DB, applicationId, names);
  if (known) {
    await addIds({ db: database(env.DB), team: { id: teamId }, actor, now }, known, idsOf('creative'));
    return known;
  }
  const minted = mintIds();
  const made = await askRegistry(env, {
    ...{ applicationId, teamId, actor, names, now, minted, network: at?.network ?? null },
    ...{ externalIds: idsOf('creative'), groupIds: { campaign: idsOf('campaign'), adset: idsOf('adset') } },
    idempotency: { key, requestHash: key, answer: '{}' },
  });
  // Someone has just entered one of the ids elsewhere: a repetition finds it.
  if (made.isIdTaken) throw unavailable();
  if (made.replayed === null) return minted.creativeId;
  const first = await findNamed(env.DB, applicationId, names);
  if (first === null) throw new Error('The creative was not created');
  return first;
}
