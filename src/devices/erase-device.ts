import { type Attribution, claimStatement, eraseClickStatement } from '#attribution';
import { counterOf, retried, type Settled, type StoredDevice } from '#counting';
import { batchWithRetry } from '#db';
import { newId } from '#lib/ids';
import { eraseParkedStatement } from '#rollup';
import type { TokenClaims } from './token.ts';

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
  team: { id: string; actor: string },
  { applicationId, deviceId, shard }: Pick<TokenClaims, 'applicationId' | 'deviceId' | 'shard'>,
  now: number,
): Promise<Erased> {
  const own = () => counterOf(env, applicationId, shard);
  const device = await retried<StoredDevice | null>(async () => await own().readDevice(deviceId));
  // What cannot be counted is parked by it, and then found there. The rest is counted in any case.
  await retried<Settled>(async () => await own().settle(SETTLE_MS));
  const attribution: Partial<Attribution> = JSON.parse(device?.attribution ?? '{}');
  const clickId = attribution.click_id ?? '';
  const subject = `${deviceId} of ${applicationId}`;
  const [click, tokens] = await batchWithRetry<{ device_id: string | null }>(env.DB, () => [
    claimStatement(env.DB, applicationId, clickId),
    env.DB.prepare('DELETE FROM tokens WHERE device_id = ? AND application_id = ?').bind(
      deviceId,
      applicationId,
    ),
    eraseClickStatement(env.DB, applicationId, clickId, deviceId),
    eraseParkedStatement(env.DB, applicationId, deviceId),
    ...(device
      ? [
          env.DB.prepare(
            'INSERT INTO audit_log (team_id, id, at, actor, action, subject) VALUES (?, ?, ?, ?, ?, ?)',
          ).bind(team.id, newId('aud'), now, team.actor, 'device.erased', subject),
        ]
      : []),
  ]);
  const clickEvents = clickEventsOf(clickId, deviceId, click?.results[0]?.device_id);
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
    tokens: tokens?.meta.changes ?? 0,
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
