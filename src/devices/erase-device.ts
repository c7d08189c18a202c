import { and, eq, sql } from 'drizzle-orm';
import * as z from 'zod';
import { type Attribution, eraseClick, giveBackClick, selectClaim } from '#attribution';
import { auditStatement, type Caller } from '#audit';
import { counterOf, queryCounters, retryCall } from '#counting';
import { applications, type Database, rejections, retryTransient, tokens } from '#db';
import { eraseParked } from '#rollup';
import type { TokenClaims } from './token.ts';

/** How long to wait for events that arrived before to be counted. `Counter.eraseDevice` counts the rest. */
const SETTLE_MS = 1_000;

/** The prefix of records of erasures in R2, which a restore from an older snapshot repeats. They are kept as long as snapshots. */
export const ERASED = 'snapshots/erased/';

export const ErasedDevice = z.lazy(() =>
  z.object({
    team_id: z.string(),
    application_id: z.string(),
    device_id: z.string(),
    shard: z.number().int(),
  }),
);

export type Erased = {
  tokens: number;
  /** Raw events that had not been exported to R2 yet. */
  events: number;
  /** Raw event files are rewritten in the background. Repeat the call to learn when it is done. */
  files: 'pending' | 'done';
};

/**
 * Erases a device: its identity, the backend's data and name for it, its tokens, the click that led to it with that click's raw event, its
 * parked messages, its raw events and those by which stores told of its transactions, and the samples of refused requests. What was counted stays in every figure. Events that arrive later are not counted. The caller has checked that the
 * application belongs to the team.
 *
 * Idempotent. The record of which click it was is deleted last, so after a failure the next call can continue. A call for an erased device
 * also deletes what arrived since.
 */
export async function eraseDevice(
  env: Env,
  caller: Caller,
  { applicationId, deviceId, shard }: Pick<TokenClaims, 'applicationId' | 'deviceId' | 'shard'>,
): Promise<Erased> {
  const record: z.infer<typeof ErasedDevice> = {
    team_id: caller.team.id,
    application_id: applicationId,
    device_id: deviceId,
    shard,
  };
  await env.RAW_EVENTS.put(`${ERASED}${applicationId}/${deviceId}.json`, JSON.stringify(record));
  const own = () => counterOf(env, applicationId, shard);
  // What waits for Apple is counted without its answer.
  await retryCall(() => own().resolveCredit(deviceId));
  const device = await retryCall(() => own().readDevice(deviceId));
  // This parks what cannot be counted, so that it is found among the parked messages. The rest is counted in any case.
  await retryCall(() => own().settle(SETTLE_MS));
  const attribution: Partial<Attribution> = JSON.parse(device?.attribution ?? '{}');
  const clickId = attribution.click_id ?? '';
  const { db } = caller;
  // Made once: an attempt that is repeated records the same row.
  const audited = auditStatement(caller, 'device.erased', `${deviceId} of ${applicationId}`);
  const [[click], erasedTokens] = await retryTransient(() =>
    db.batch([
      selectClaim(db, applicationId, clickId),
      db.delete(tokens).where(and(eq(tokens.deviceId, deviceId), eq(tokens.applicationId, applicationId))),
      eraseClick(db, applicationId, clickId, deviceId),
      giveBackClick(db, applicationId, attribution.replaced?.click_id ?? '', deviceId),
      ...eraseParked(db, applicationId, deviceId),
      eraseSamples(db, applicationId),
      ...(device ? [audited] : []),
    ]),
  );
  const clickEvent = device
    ? clickEventOf(clickId, deviceId, click?.deviceId)
    : await retryCall(() => own().erasedClick(deviceId));
  const clickEvents = clickEvent === null ? [] : [clickEvent];
  // Clicks belong to no device: they are in the application's first counter.
  const first = () => counterOf(env, applicationId, 0);
  const ofClick = clickEvents.length === 0 ? 0 : await retryCall(() => first().eraseEvents(clickEvents));
  const { events, told } = await retryCall(() => own().eraseDevice(deviceId, clickEvent));
  const elsewhere = await eraseElsewhere(env, db, { applicationId, shard }, told);
  const [files, clickFiles] = await Promise.all([
    retryCall(() => own().filesToRewrite([deviceId, ...told])),
    retryCall(() => first().filesToRewrite(clickEvents)),
  ]);
  return {
    tokens: erasedTokens.meta.changes,
    events: events + ofClick + elsewhere.events,
    files: files + clickFiles + elsewhere.files === 0 ? 'done' : 'pending',
  };
}

/** Erases what stores told other counters of a device's transactions. Returns how many events, and how many files still have any. */
async function eraseElsewhere(
  env: Env,
  db: Database,
  { applicationId, shard }: Pick<TokenClaims, 'applicationId' | 'shard'>,
  told: string[],
): Promise<{ events: number; files: number }> {
  if (told.length === 0) return { events: 0, files: 0 };
  const [application] = await retryTransient(() =>
    db.select({ shards: applications.shards }).from(applications).where(eq(applications.id, applicationId)),
  );
  const all = { id: applicationId, shards: application?.shards ?? 1 };
  const sumOfOthers = async (ask: 'eraseEvents' | 'filesToRewrite') => {
    const sums = await queryCounters(env, all, async (counter, other) =>
      other === shard ? 0 : counter[ask](told),
    );
    return sums.reduce((total, own) => total + own, 0);
  };
  return { events: await sumOfOthers('eraseEvents'), files: await sumOfOthers('filesToRewrite') };
}

/**
 * The id of the raw event of the click that led to a device: the click's own id with another prefix. Null if another device claimed the
 * click first. If the click's row is gone, by age or by an earlier attempt, the click counts as this device's.
 */
function clickEventOf(
  clickId: string,
  deviceId: string,
  claimedBy: string | null | undefined,
): string | null {
  if (clickId === '' || (claimedBy ?? deviceId) !== deviceId) return null;
  return clickId.replace(/^(?:clk|imp)_/, 'evt_');
}

/** Empties the samples of an application's refused requests: nothing says which device sent them. */
const eraseSamples = (db: Database, applicationId: string) =>
  db
    .update(rejections)
    .set({
      sample: sql`json_object('request_id', ${rejections.sample} ->> 'request_id', 'values', json('[]'))`,
    })
    .where(eq(rejections.applicationId, applicationId));
