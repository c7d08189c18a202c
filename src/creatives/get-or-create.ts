import { and, eq, inArray, lt, not, type SQL, sql } from 'drizzle-orm';
import { auditStatement } from '#audit';
import {
  adsets,
  auditLog,
  campaigns,
  creativeRequests,
  creatives,
  type Database,
  database,
  deleteSome,
  externalIds,
  hasRow,
  insertWhere,
  retryTransient,
  runBatch,
} from '#db';
import { DAY_MS } from '#lib/time';
import { type ExternalIds, insertExternalIds, isTaken } from './external-ids.ts';

/** The ids of a new creative, of its campaign and ad set if those are new, and of its audit row. */
export type Minted = {
  creativeId: string;
  token: string;
  campaignId: string;
  adsetId: string;
  auditId: string;
};

/** A creative to create. The caller mints every id, so that repeating the call creates nothing twice. */
export type WantedCreative = {
  applicationId: string;
  teamId: string;
  /** See `Caller`. */
  actor: string;
  names: { creative: string; campaign: string; adset: string };
  /** These are absent from what an earlier release kept. `groupIds` are given to what has the names of the campaign and the ad set. */
  network?: string | null;
  externalIds?: ExternalIds;
  groupIds?: { campaign: ExternalIds; adset: ExternalIds };
  minted: Minted;
  now: number;
  idempotency: { key: string; requestHash: string; answer: string } | null;
};

export type MadeCreative = {
  campaignIsNew: boolean;
  adsetIsNew: boolean;
  /** The first answer under the same `Idempotency-Key`, if this call was not the first. */
  replayed: { answer: string; sameRequest: boolean } | null;
  /** The first creative with the same name in the same ad set, if there was one already. */
  duplicateOf: string | null;
  /** Nothing was created, because another creative has one of the external ids. */
  isIdTaken: boolean;
};

const TAKEN: MadeCreative = {
  ...{ campaignIsNew: false, adsetIsNew: false, replayed: null, duplicateOf: null, isIdTaken: true },
};

/**
 * Creates a creative, its campaign and ad set if those names are new, and its row in the audit log, in one transaction. A caller that finds
 * its own minted id under a name has created it, so exactly one of any number of callers gets `isNew`, and a repetition of a call whose
 * answer was lost gets the same result as the original.
 * First it undoes what earlier unconfirmed calls may have left behind: see `undo`.
 * Throws D1's error if three attempts fail. It is then unknown whether the transaction was committed.
 */
export async function getOrCreate(
  d1: D1Database,
  wanted: WantedCreative,
  unconfirmed: readonly Minted[] = [],
): Promise<MadeCreative> {
  const db = database(d1);
  let results: unknown[];
  try {
    results = await runBatch(db, () => [
      ...(unconfirmed.length > 0 ? undoStatements(db, wanted.teamId, unconfirmed) : []),
      ...createStatements(db, wanted),
    ]);
  } catch (error) {
    if (isTaken(error)) return TAKEN;
    throw error;
  }
  const [outcome] = results.at(-1) as CreationOutcome[];
  if (!outcome) throw new Error('the new creative was not found');
  const { answer, isFirst, sameRequest } = outcome;
  return {
    campaignIsNew: outcome.campaignIsNew === 1,
    adsetIsNew: outcome.adsetIsNew === 1,
    replayed: answer === null || isFirst === 1 ? null : { answer, sameRequest: sameRequest === 1 },
    duplicateOf: outcome.duplicateOf,
    isIdTaken: false,
  };
}

function createStatements(db: Database, wanted: WantedCreative) {
  const {
    applicationId,
    teamId,
    actor,
    names,
    externalIds: ids = [],
    minted,
    now,
    idempotency,
    network = null,
  } = wanted;
  const item = { applicationId, kind: 'creative', id: minted.creativeId } as const;
  const isFirst = isFirstCall(wanted);
  const ofCampaign = and(
    eq(campaigns.applicationId, applicationId),
    eq(campaigns.name, names.campaign),
    isFirst,
  );
  const made = hasRow(creatives, eq(creatives.id, minted.creativeId));
  const caller = { db, team: { id: teamId }, actor, now };
  const subject = `${names.creative} in ${names.campaign} › ${names.adset}`;
  return [
    ...(idempotency ? [requestStatement(db, wanted, idempotency)] : []),
    insertWhere(
      db,
      campaigns,
      { id: minted.campaignId, applicationId, name: names.campaign, createdAt: now },
      isFirst,
    ).onConflictDoNothing({ target: [campaigns.applicationId, campaigns.name] }),
    db
      .insert(adsets)
      .select(
        db
          .select({
            id: sql<string>`${minted.adsetId}`.as('id'),
            applicationId: campaigns.applicationId,
            campaignId: sql<string>`${campaigns.id}`.as('campaign_id'),
            name: sql<string>`${names.adset}`.as('name'),
            createdAt: sql<number>`${now}`.as('created_at'),
          })
          .from(campaigns)
          .where(ofCampaign),
      )
      .onConflictDoNothing({ target: [adsets.campaignId, adsets.name] }),
    db
      .insert(creatives)
      .select(
        db
          .select({
            id: sql<string>`${minted.creativeId}`.as('id'),
            applicationId: campaigns.applicationId,
            adsetId: sql<string>`${adsets.id}`.as('adset_id'),
            name: sql<string>`${names.creative}`.as('name'),
            token: sql<string>`${minted.token}`.as('token'),
            network: sql<string | null>`${network}`.as('network'),
            deepLink: sql<null>`NULL`.as('deep_link'),
            preview: sql<null>`NULL`.as('preview'),
            archivedAt: sql<null>`NULL`.as('archived_at'),
            createdAt: sql<number>`${now}`.as('created_at'),
          })
          .from(campaigns)
          .innerJoin(adsets, and(eq(adsets.campaignId, campaigns.id), eq(adsets.name, names.adset)))
          .where(ofCampaign),
      )
      .onConflictDoNothing({ target: creatives.id }),
    ...(ids.length > 0 ? [insertExternalIds(db, item, ids, { now, when: made })] : []),
    ...groupIdStatements(db, wanted, made),
    auditStatement(caller, 'creative.created', subject, made, minted.auditId),
    outcomeStatement(db, wanted),
  ];
}

/** Gives the campaign and ad set of a new creative their ids. One that another has stays with it. */
function groupIdStatements(
  db: Database,
  { applicationId, names, groupIds, minted, now }: WantedCreative,
  made: SQL,
) {
  const adsetId = sql<string>`(SELECT ${creatives.adsetId} FROM ${creatives} WHERE ${creatives.id} = ${minted.creativeId})`;
  const campaignId = sql<string>`(SELECT ${campaigns.id} FROM ${campaigns}
    WHERE ${campaigns.applicationId} = ${applicationId} AND ${campaigns.name} = ${names.campaign})`;
  const itemIds = { campaign: campaignId, adset: adsetId };
  return (['campaign', 'adset'] as const).flatMap((kind) => {
    const ids = groupIds?.[kind] ?? [];
    if (ids.length === 0) return [];
    const item = { applicationId, kind, id: itemIds[kind] };
    return [insertExternalIds(db, item, ids, { now, when: made }).onConflictDoNothing()];
  });
}

/** Creates nothing under an idempotency key that another call used first. */
function isFirstCall({ teamId, minted, idempotency }: WantedCreative): SQL {
  if (!idempotency) return sql`true`;
  return hasRow(
    creativeRequests,
    and(
      eq(creativeRequests.teamId, teamId),
      eq(creativeRequests.key, idempotency.key),
      eq(creativeRequests.creativeId, minted.creativeId),
    ),
  );
}

const requestStatement = (
  db: Database,
  { teamId, minted, now }: WantedCreative,
  idempotency: NonNullable<WantedCreative['idempotency']>,
) =>
  db
    .insert(creativeRequests)
    .values({
      ...idempotency,
      teamId,
      creativeId: minted.creativeId,
      campaignId: minted.campaignId,
      adsetId: minted.adsetId,
      createdAt: now,
    })
    .onConflictDoNothing({ target: [creativeRequests.teamId, creativeRequests.key] });

type CreationOutcome = {
  campaignIsNew: number;
  adsetIsNew: number;
  answer: string | null;
  isFirst: number;
  sameRequest: number;
  duplicateOf: string | null;
};

const flag = (condition: SQL, name: string) => sql<number>`${condition}`.as(name);

/** The first other creative of its name in its ad set. A replayed call gets what its first call got: later creatives do not count. */
const duplicateOf = ({ creativeId }: Minted) =>
  sql<string | null>`(
    SELECT "same"."id" FROM ${creatives} AS "same"
    WHERE "same"."adset_id" = ${creatives.adsetId} AND "same"."name" = ${creatives.name}
      AND ("same"."id" < ${creatives.id} OR ${creatives.id} = ${creativeId} AND "same"."id" > ${creatives.id})
    ORDER BY "same"."id" LIMIT 1)`.as('duplicate_of');

/** The outcome of this call or, under an idempotency key, of the first call with it. */
function outcomeStatement(db: Database, { teamId, minted, idempotency }: WantedCreative) {
  const ofAdset = eq(adsets.id, creatives.adsetId);
  if (!idempotency) {
    return db
      .select({
        campaignIsNew: flag(eq(adsets.campaignId, minted.campaignId), 'campaign_is_new'),
        adsetIsNew: flag(eq(creatives.adsetId, minted.adsetId), 'adset_is_new'),
        answer: sql<string | null>`NULL`.as('answer'),
        isFirst: flag(sql`1`, 'is_first'),
        sameRequest: flag(sql`1`, 'same_request'),
        duplicateOf: duplicateOf(minted),
      })
      .from(creatives)
      .innerJoin(adsets, ofAdset)
      .where(eq(creatives.id, minted.creativeId));
  }
  return db
    .select({
      campaignIsNew: flag(eq(adsets.campaignId, creativeRequests.campaignId), 'campaign_is_new'),
      adsetIsNew: flag(eq(creatives.adsetId, creativeRequests.adsetId), 'adset_is_new'),
      answer: sql<string | null>`${creativeRequests.answer}`.as('answer'),
      isFirst: flag(eq(creativeRequests.creativeId, minted.creativeId), 'is_first'),
      sameRequest: flag(eq(creativeRequests.requestHash, idempotency.requestHash), 'same_request'),
      duplicateOf: duplicateOf(minted),
    })
    .from(creativeRequests)
    .innerJoin(creatives, eq(creatives.id, creativeRequests.creativeId))
    .innerJoin(adsets, ofAdset)
    .where(and(eq(creativeRequests.teamId, teamId), eq(creativeRequests.key, idempotency.key)));
}

/**
 * Undoes what calls have created whose callers were told that they failed. Nobody has seen those ids; anything that others have used since
 * is kept.
 */
export async function undo(d1: D1Database, teamId: string, unconfirmed: readonly Minted[]): Promise<void> {
  const db = database(d1);
  await retryTransient(() => db.batch(undoStatements(db, teamId, unconfirmed)));
}

function undoStatements(db: Database, teamId: string, unconfirmed: readonly Minted[]) {
  const idsOf = (name: keyof Minted) =>
    sql`(SELECT value ->> ${name} FROM json_each(${JSON.stringify(unconfirmed)}))`;
  const hasCreatives = hasRow(
    creatives,
    and(eq(creatives.applicationId, adsets.applicationId), eq(creatives.adsetId, adsets.id)),
  );
  const hasAdsets = hasRow(adsets, eq(adsets.campaignId, campaigns.id));
  const isAdset = hasRow(adsets, eq(adsets.id, externalIds.itemId));
  const isCampaign = hasRow(campaigns, eq(campaigns.id, externalIds.itemId));
  return [
    db.delete(externalIds).where(inArray(externalIds.itemId, idsOf('creativeId'))),
    db.delete(creatives).where(inArray(creatives.id, idsOf('creativeId'))),
    db.delete(creativeRequests).where(inArray(creativeRequests.creativeId, idsOf('creativeId'))),
    db.delete(adsets).where(and(inArray(adsets.id, idsOf('adsetId')), not(hasCreatives))),
    db.delete(campaigns).where(and(inArray(campaigns.id, idsOf('campaignId')), not(hasAdsets))),
    db.delete(externalIds).where(and(inArray(externalIds.itemId, idsOf('adsetId')), not(isAdset))),
    db.delete(externalIds).where(and(inArray(externalIds.itemId, idsOf('campaignId')), not(isCampaign))),
    db.delete(auditLog).where(and(eq(auditLog.teamId, teamId), inArray(auditLog.id, idsOf('auditId')))),
  ] as const;
}

const KEPT_MS = 7 * DAY_MS;
const PRUNED_AT_ONCE = 1_000;

/** Deletes first answers after a week. Callers retry within minutes. */
export async function pruneCreativeRequests(d1: D1Database, now: number): Promise<void> {
  const isOld = lt(creativeRequests.createdAt, now - KEPT_MS);
  await deleteSome(database(d1), creativeRequests, isOld, PRUNED_AT_ONCE);
}
