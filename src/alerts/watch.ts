import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm';
import { alerts, applications, channels, type Database, database, hasRow } from '#db';
import { inReportSlot } from '#http';
import { isolate } from '#lib/input/isolate';
import { logError } from '#lib/log';
import { earliest } from '#lib/time';
import { type AlertRow, alertText } from './alerts.ts';
import type { WatchedApplication } from './check.ts';
import { composeDigest } from './digest.ts';
import { type Digest, nextDigestAt } from './digest-time.ts';
import { turnOfTeam } from './fair-order.ts';
import { changeStatements } from './history.ts';
import type { Message } from './message.ts';
import { noticeEachChannel } from './notice.ts';
import { checkAlert } from './outcome.ts';

// The cron's part: a bounded number of checks and digests per run, the teams in turn. A run claims each by moving its time ahead,
// so that concurrent runs do not repeat work, and whatever fails is retried later.

const CHECKS_PER_RUN = 20;
const DIGESTS_PER_RUN = 10;
const CLAIM_MS = 10 * 60_000;
/** As often as what is watched can change. */
const STATE_EVERY_MS = 5 * 60_000;
const METRIC_EVERY_MS = 60 * 60_000;

/** The applications that rows are of, by id. */
async function applicationsOf(
  db: Database,
  rows: readonly { applicationId: string }[],
): Promise<Map<string, WatchedApplication>> {
  const ids = new Set(rows.map(({ applicationId }) => applicationId));
  const found = await db
    .select()
    .from(applications)
    .where(inArray(applications.id, [...ids]));
  return new Map(found.map((row) => [row.id, row]));
}

/** What changes when an alert is edited, turned off or checked: a check that began before must not store what it found. */
const isAsRead = ({ id, rule, threshold, firingGroups }: AlertRow) =>
  and(
    eq(alerts.id, id),
    eq(alerts.threshold, threshold),
    isNull(alerts.offSince),
    sql`${alerts.rule} IS ${rule}`,
    sql`${alerts.firingGroups} IS ${firingGroups}`,
  );

/** Checks one alert. Stores what starts and stops firing in one transaction with a message for each channel. */
async function watchAlert(
  env: Env,
  db: Database,
  application: WatchedApplication,
  alert: AlertRow,
  now: number,
): Promise<void> {
  const { finding, isKnown, firing, told } = await checkAlert(env, application, alert, now);
  const since = Object.values(firing).map((group) => group.since);
  const guard = hasRow(alerts, isAsRead(alert));
  const statements = told.flatMap(({ state, sentences, link }) => {
    const word = state === 'fired' ? 'Alert' : 'Resolved';
    const heading = `${isolate(application.name)} · ${word}: ${alertText(alert, application.currency)}`;
    const message: Message = { heading, sentences, figures: [], comparedWith: [], link };
    const notice = { id: `${alert.id}:${state}:${now}`, subject: heading, message, now };
    const change = {
      ...{ alertId: alert.id, at: now, state, applicationId: application.id },
      text: sentences.join('\n'),
    };
    return [noticeEachChannel(db, application.id, notice, guard), ...changeStatements(db, change, guard)];
  });
  const update = db
    .update(alerts)
    .set({
      finding,
      isKnown,
      nextCheckAt: now + (alert.rule === null ? STATE_EVERY_MS : METRIC_EVERY_MS),
      firingSince: earliest(...since),
      firingGroups: JSON.stringify(firing),
    })
    .where(isAsRead(alert));
  const [first, ...others] = statements;
  await (first ? db.batch([first, ...others, update]) : update);
}

/**
 * Checks due alerts, at most 20 per run, each in a report slot of its team. An alert sends one message when its figure leaves the limit and one when it returns. If a check
 * fails, it is logged and retried ten minutes later; the others continue.
 */
export async function watchAlerts(env: Env, now: number): Promise<void> {
  const db = database(env.DB);
  const due = db
    .select({ id: alerts.id })
    .from(alerts)
    .leftJoin(applications, eq(applications.id, alerts.applicationId))
    .where(and(lte(alerts.nextCheckAt, now), isNull(alerts.offSince)))
    .orderBy(turnOfTeam(alerts.nextCheckAt), asc(alerts.nextCheckAt))
    .limit(CHECKS_PER_RUN);
  const claimed = await db
    .update(alerts)
    .set({ nextCheckAt: now + CLAIM_MS })
    .where(inArray(alerts.id, due))
    .returning();
  if (claimed.length === 0) return;
  const owners = await applicationsOf(db, claimed);
  for (const alert of claimed) {
    const application = owners.get(alert.applicationId);
    if (!application) continue;
    const watch = () => watchAlert(env, db, application, alert, now);
    await inReportSlot(application.teamId, watch).catch((error) =>
      logError('alert not checked', error, { alert_id: alert.id, application_id: application.id }),
    );
  }
}

/** Composes due digests, at most 10 per run and each in a report slot of its team, and queues each for its channel. */
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
  const owners = await applicationsOf(db, claimed);
  for (const channel of claimed) {
    const application = owners.get(channel.applicationId);
    const digest: Digest = channel.digest;
    if (!application || digest === 'never') continue;
    try {
      const { subject, message } = await inReportSlot(application.teamId, () =>
        composeDigest(env, application, digest, now),
      );
      const notice = { id: `digest:${subject}`, subject, message, now };
      await db.batch([
        noticeEachChannel(db, application.id, notice, eq(channels.id, channel.id)),
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
