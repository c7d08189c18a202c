import { batchWithRetry } from '#db';
import { DAY_MS } from '#lib/time';

export type Minted = { creativeId: string; token: string; campaignId: string; adsetId: string };

/** A creative to be made. Every id is minted by the caller, so that asking again for the same one makes nothing twice. */
export type WantedCreative = {
  applicationId: string;
  names: { creative: string; campaign: string; adset: string };
  minted: Minted;
  now: number;
  idempotency: { teamId: string; key: string; requestHash: string; answer: string } | null;
};

export type MadeCreative = {
  campaignIsNew: boolean;
  adsetIsNew: boolean;
  /** The first answer under the same `Idempotency-Key`, where this call was not the first. */
  replayed: { answer: string; sameRequest: boolean } | null;
};

type Outcome = {
  campaign_is_new: number;
  adset_is_new: number;
  answer: string | null;
  is_first: number | null;
  same_request: number | null;
};

/**
 * Makes a creative, with its campaign and ad set where those names are new: all in one transaction or nothing. Who finds its
 * own minted id under a name has made it, so exactly one of any number of callers sees `isNew`, and a repetition of the same
 * call, after an answer that got lost, sees what the first one would have seen.
 * First it takes back what earlier calls may have left, as `undo` does.
 * Throws what D1 throws when three tries fail; it is then not known whether the transaction came to be.
 */
export async function getOrCreate(
  db: D1Database,
  wanted: WantedCreative,
  unconfirmed: readonly Minted[] = [],
): Promise<MadeCreative> {
  const results = await batchWithRetry<Outcome>(db, () => [
    ...(unconfirmed.length > 0 ? undoStatements(db, unconfirmed) : []),
    ...createStatements(db, wanted),
  ]);
  const outcome = results.at(-1)?.results[0];
  if (!outcome) throw new Error('the new creative was not found');
  return {
    campaignIsNew: outcome.campaign_is_new === 1,
    adsetIsNew: outcome.adset_is_new === 1,
    replayed:
      outcome.answer === null || outcome.is_first === 1
        ? null
        : { answer: outcome.answer, sameRequest: outcome.same_request === 1 },
  };
}

function createStatements(
  db: D1Database,
  { applicationId, names, minted, now, idempotency }: WantedCreative,
) {
  const { teamId, key, requestHash, answer } = idempotency ?? {
    teamId: null,
    key: null,
    requestHash: null,
    answer: null,
  };
  // Under a key that another call was first to use, nothing is made.
  const isFirst =
    '(?1 IS NULL OR EXISTS (SELECT 1 FROM creative_requests WHERE team_id = ?2 AND key = ?1 AND creative_id = ?3))';
  const prepare = (sql: string, ...values: (string | number)[]) =>
    db.prepare(sql).bind(key, teamId, minted.creativeId, ...values);
  return [
    prepare(
      `INSERT INTO creative_requests (key, team_id, creative_id, request_hash, answer, campaign_id, adset_id, created_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE ?1 IS NOT NULL ON CONFLICT (team_id, key) DO NOTHING`,
      requestHash ?? '',
      answer ?? '',
      minted.campaignId,
      minted.adsetId,
      now,
    ),
    prepare(
      `INSERT INTO campaigns (id, application_id, name, created_at)
       SELECT ?4, ?5, ?6, ?7 WHERE ${isFirst} ON CONFLICT (application_id, name) DO NOTHING`,
      minted.campaignId,
      applicationId,
      names.campaign,
      now,
    ),
    prepare(
      `INSERT INTO adsets (id, application_id, campaign_id, name, created_at)
       SELECT ?4, ?5, campaigns.id, ?7, ?8 FROM campaigns
       WHERE campaigns.application_id = ?5 AND campaigns.name = ?6 AND ${isFirst}
       ON CONFLICT (campaign_id, name) DO NOTHING`,
      minted.adsetId,
      applicationId,
      names.campaign,
      names.adset,
      now,
    ),
    prepare(
      `INSERT INTO creatives (id, application_id, adset_id, name, token, created_at)
       SELECT ?3, ?4, adsets.id, ?7, ?8, ?9
       FROM campaigns INNER JOIN adsets ON adsets.campaign_id = campaigns.id AND adsets.name = ?6
       WHERE campaigns.application_id = ?4 AND campaigns.name = ?5 AND ${isFirst}
       ON CONFLICT (id) DO NOTHING`,
      applicationId,
      names.campaign,
      names.adset,
      names.creative,
      minted.token,
      now,
    ),
    db
      .prepare(
        `WITH request AS (
           SELECT coalesce(request.creative_id, ?3) AS creative_id, coalesce(request.adset_id, ?4) AS adset_id,
             coalesce(request.campaign_id, ?5) AS campaign_id, request.answer,
             request.creative_id = ?3 AS is_first, request.request_hash = ?6 AS same_request
           FROM (SELECT 1) LEFT JOIN creative_requests AS request ON request.team_id = ?2 AND request.key = ?1)
         SELECT adsets.campaign_id = request.campaign_id AS campaign_is_new,
           creatives.adset_id = request.adset_id AS adset_is_new, answer, is_first, same_request
         FROM request INNER JOIN creatives ON creatives.id = request.creative_id
         INNER JOIN adsets ON adsets.id = creatives.adset_id`,
      )
      .bind(key, teamId, minted.creativeId, minted.adsetId, minted.campaignId, requestHash),
  ];
}

/**
 * Takes back what calls have made whose callers were told that they failed. Nobody has seen those ids; what others have
 * used since stays.
 */
export async function undo(db: D1Database, unconfirmed: readonly Minted[]): Promise<void> {
  await batchWithRetry(db, () => undoStatements(db, unconfirmed));
}

function undoStatements(db: D1Database, unconfirmed: readonly Minted[]): D1PreparedStatement[] {
  const rows = JSON.stringify(unconfirmed);
  return [
    "DELETE FROM creatives WHERE id IN (SELECT value ->> 'creativeId' FROM json_each(?1))",
    "DELETE FROM creative_requests WHERE creative_id IN (SELECT value ->> 'creativeId' FROM json_each(?1))",
    `DELETE FROM adsets WHERE id IN (SELECT value ->> 'adsetId' FROM json_each(?1))
       AND NOT EXISTS (SELECT 1 FROM creatives
         WHERE creatives.application_id = adsets.application_id AND creatives.adset_id = adsets.id)`,
    `DELETE FROM campaigns WHERE id IN (SELECT value ->> 'campaignId' FROM json_each(?1))
       AND NOT EXISTS (SELECT 1 FROM adsets WHERE adsets.campaign_id = campaigns.id)`,
  ].map((sql) => db.prepare(sql).bind(rows));
}

const KEPT_MS = 7 * DAY_MS;

/** Forgets first answers after a week: a caller that repeats itself does so within minutes. */
export async function pruneCreativeRequests(db: D1Database, now: number): Promise<void> {
  await batchWithRetry(db, () => [
    db
      .prepare(
        `DELETE FROM creative_requests WHERE (team_id, key) IN (
           SELECT team_id, key FROM creative_requests WHERE created_at < ? LIMIT 1000)`,
      )
      .bind(now - KEPT_MS),
  ]);
}
