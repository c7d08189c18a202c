import { and, eq, gt, sql } from 'drizzle-orm';
import type { Attribution } from '#attribution';
import { auditStatement, type Caller, newAuditEntry } from '#audit';
import { counterOf, retried, type Settled, type StoredDevice } from '#counting';
import { clicks, parkedMessages, retryTransient, tokens } from '#db';
import type { TokenClaims } from '#ingestion';

/** How long what arrived before may take to be counted; the rest is counted by `Counter.eraseDevice`. */
const SETTLE_MS = 1_000;

export type Erased = {
  tokens: number;
  /** Raw events that had not left for R2 yet. */
  events: number;
  /** Raw event files are rewritten in the background; a repeat of the call tells when it is done. */
  files: 'pending' | 'done';
};

/**
 * Erases a device: its state with what the backend sent about it and the name its backend knew it by, its tokens, the click that
 * brought it with its raw event, what is parked of it, and its raw events. The totals stay; events that arrive later are not
 * counted. The caller has checked that the application is the team's own.
 *
 * Repeatable: what tells which click it was goes last, so after a failure the next call goes on. A call for a device that is
 * erased already takes what came of it since.
 */
export async function eraseDevice(
  env: Env,
  caller: Caller,
  { applicationId, deviceId, shard }: Pick<TokenClaims, 'applicationId' | 'deviceId' | 'shard'>,
): Promise<Erased> {
  const own = () => counterOf(env, applicationId, shard);
  const device = await retried<StoredDevice | null>(async () => await own().readDevice(deviceId));
  // What cannot be counted is parked by it, and then found there. The rest is counted in any case.
  await retried<Settled>(async () => await own().settle(SETTLE_MS));
  const attribution: Partial<Attribution> = JSON.parse(device?.attribution ?? '{}');
  const clickId = attribution.click_id ?? '';
  const { db } = caller;
  const ownClick = and(eq(clicks.applicationId, applicationId), eq(clicks.id, clickId));
  const entry = newAuditEntry('device.erased', `${deviceId} of ${applicationId}`);
  const [[click], erasedTokens] = await retryTransient(() =>
    db.batch([
      db.select({ deviceId: clicks.deviceId }).from(clicks).where(ownClick),
      db.delete(tokens).where(and(eq(tokens.deviceId, deviceId), eq(tokens.applicationId, applicationId))),
      db.delete(clicks).where(and(ownClick, eq(clicks.deviceId, deviceId))),
      db
        .delete(parkedMessages)
        .where(
          and(
            eq(parkedMessages.applicationId, applicationId),
            gt(sql`instr(${parkedMessages.body}, ${deviceId})`, 0),
          ),
        ),
      ...(device ? [auditStatement(caller, entry)] : []),
    ]),
  );
  const clickEvents = clickEventsOf(clickId, deviceId, click?.deviceId);
  // Clicks are of no device: an application's first counter has them.
  const first = () => counterOf(env, applicationId, 0);
  const ofClick =
    clickEvents.length === 0 ? 0 : await retried<number>(async () => await first().eraseEvents(clickEvents));
  const { events } = await retried<{ events: number }>(async () => await own().eraseDevice(deviceId));
  const [files, clickFiles] = await Promise.all([
    retried<number>(async () => await own().filesToRewrite([deviceId])),
    retried<number>(async () => await first().filesToRewrite(clickEvents)),
  ]);
  return {
    tokens: erasedTokens.meta.changes,
    events: events + ofClick,
    files: files + clickFiles === 0 ? 'done' : 'pending',
  };
}

/**
 * The raw event of the click that brought a device, which has the click's own id under another prefix. A click that another
 * device claimed first is that one's. One whose row is gone, by age or by an earlier try, is the device's.
 */
function clickEventsOf(clickId: string, deviceId: string, claimedBy: string | null | undefined): string[] {
  if (clickId === '' || (claimedBy ?? deviceId) !== deviceId) return [];
  return [clickId.replace('clk_', 'evt_')];
}
