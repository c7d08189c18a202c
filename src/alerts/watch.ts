import { and, asc, eq, inArray, isNotNull, isNull, lte, sql } from 'drizzle-orm';
import { alerts, applications, channels, type Database, database, notices } from '#db';
import { logError } from '#lib/log';
import { type Alert, alertText } from './alerts.ts';
import { checkAlert, type WatchedApplication } from './check.ts';
import { composeDigest } from './digest.ts';
import { type Digest, nextDigestAt } from './digest-time.ts';
import { turnOfTeam } from './fair-order.ts';
import { ALERT_KINDS, isAlertKind } from './kinds.ts';
import { alertsLink } from './message.ts';
import { noticeEachChannel } from './notice.ts';
import { watchRule } from './watch-rule.ts';

// The cron's part: a bounded number of checks and digests per run, the teams in turn. A run claims each by moving its time ahead,
// so that concurrent runs do not repeat work, and whatever fails is retried later.

const CHECKS_PER_RUN = 20;
const DIGESTS_PER_RUN = 10;
const CLAIM_MS = 10 * 60_000;
const MINUTE_MS = 60_000;

async function applicationsById(
  db: Database,
  ids: readonly string[],
): Promise<Map<string, WatchedApplication>> {
  const rows = await db
    .select()
    .from(applications)
    .where(inArray(applications.id, [...new Set(ids)]));
  return new Map(rows.map((row) => [row.id, row]));
}

/** Checks one alert. If it starts or stops firing, queues a message for each channel in the same transaction. */
async function watchAlert(
  env: Env,
  db: Database,
  application: WatchedApplication,
  alert: Alert,
  now: number,
) {
  if (alert.rule !== null) return watchRule(env, db, application, { ...alert, rule: alert.rule }, now);
  if (!isAlertKind(alert.kind)) return;
  const { firing, text } = await checkAlert(env, alert.kind, {
    application,
    threshold: alert.threshold,
    now,
  });
  const checked = {
    finding: text,
    nextCheckAt: now + ALERT_KINDS[alert.kind].every * MINUTE_MS,
  };
  const wasFiring = alert.firingSince !== null;
  if (firing === null || firing === wasFiring) {
    await db.update(alerts).set(checked).where(eq(alerts.id, alert.id));
    return;
  }
  const state = firing ? isNull(alerts.firingSince) : isNotNull(alerts.firingSince);
  const unchanged = sql`EXISTS (SELECT 1 FROM ${alerts} WHERE ${alerts.id} = ${alert.id} AND ${state})`;
  const heading = `${firing ? 'Alert' : 'Resolved'}: ${alertText(alert, application.currency)}`;
  const notice = {
    id: `${alert.id}:${firing ? 'fired' : 'resolved'}:${now}`,
    subject: `${application.name} · ${heading}`,
    message: {
      heading: `${application.name} · ${heading}`,
      sentences: [text],
      figures: [],
      comparedWith: [],
      link: alertsLink(application),
    },
    now,
  };
  await db.batch([
    noticeEachChannel(db, application.id, notice, unchanged),
    db
      .update(alerts)
      .set({ ...checked, firingSince: firing ? now : null })
      .where(and(eq(alerts.id, alert.id), state)),
  ]);
}

/**
 * Checks due alerts, at most 20 per run. An alert sends one message when its figure leaves the limit and one when it returns. If a check
 * fails, it is logged and retried ten minutes later; the others continue.
 */
export async function watchAlerts(env: Env, now: number): Promise<void> {
  const db = database(env.DB);
  const due = db
    .select({ id: alerts.id })
    .from(alerts)
    .leftJoin(applications, eq(applications.id, alerts.applicationId))
    .where(lte(alerts.nextCheckAt, now))
    .orderBy(turnOfTeam(alerts.nextCheckAt), asc(alerts.nextCheckAt))
    .limit(CHECKS_PER_RUN);
  const claimed = await db
    .update(alerts)
    .set({ nextCheckAt: now + CLAIM_MS })
    .where(inArray(alerts.id, due))
    .returning();
  if (claimed.length === 0) return;
  const owners = await applicationsById(
    db,
    claimed.map(({ applicationId }) => applicationId),
  );
  for (const alert of claimed) {
    const application = owners.get(alert.applicationId);
    if (!application) continue;
    await watchAlert(env, db, application, alert, now).catch((error) =>
      logError('alert not checked', error, { alert_id: alert.id, application_id: application.id }),
    );
  }
}

/** Composes due digests, at most 10 per run, and queues each for its channel. */
export async function composeDigests(env: Env, now: number): Promise<void> {
  const db = database(env.DB);
  const due = db
    .select({ id: channels.id })
    .from(channels)
    .leftJoin(applications, eq(applications.id, channels.applicationId))
    .where(lte(channels.nextDigestAt, now))
    .orderBy(turnOfTeam(channels.nextDigestAt), asc(channels.nextDigestAt))
    .limit(DIGESTS_PER_RUN);
  const claimed = await db
    .update(channels)
    .set({ nextDigestAt: now + CLAIM_MS })
    .where(inArray(channels.id, due))
    .returning();
  if (claimed.length === 0) return;
  const owners = await applicationsById(
    db,
    claimed.map(({ applicationId }) => applicationId),
  );
  for (const channel of claimed) {
    const application = owners.get(channel.applicationId);
    const digest: Digest = channel.digest;
    if (!application || digest === 'never') continue;
    try {
      const { subject, message } = await composeDigest(env, application, digest, now);
      await db.batch([
        db
          .insert(notices)
          .values({
            channelId: channel.id,
            id: `digest:${subject}`,
            subject,
            body: JSON.stringify(message),
            nextAttemptAt: now,
            createdAt: now,
          })
          .onConflictDoNothing(),
        db
          .update(channels)
          .set({ nextDigestAt: nextDigestAt(digest, application.timezone, now) })
          .where(eq(channels.id, channel.id)),
      ]);
    } catch (error) {
      logError('digest not composed', error, { channel_id: channel.id, application_id: application.id });
    }
  }
}
