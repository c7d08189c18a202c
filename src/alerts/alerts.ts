import { and, asc, eq } from 'drizzle-orm';
import * as z from 'zod';
import { alerts, type Database } from '#db';
import { AppError } from '#http';
import { newId } from '#lib/ids';
import { type AuditEntry, auditStatement } from '#members';
import { ALERT_KIND_NAMES, ALERT_KINDS } from './kinds.ts';

const MAX_ALERTS = 50;

export type Alert = typeof alerts.$inferSelect;

export const NewAlert = z
  .object({
    kind: z.enum(ALERT_KIND_NAMES, { error: `must be one of ${ALERT_KIND_NAMES.join(', ')}` }),
    threshold: z.coerce.number({ error: 'must be a number' }).positive('must be above 0'),
  })
  .superRefine(({ kind, threshold }, ctx) => {
    const { max } = ALERT_KINDS[kind];
    if (threshold > max)
      ctx.addIssue({ code: 'custom', path: ['threshold'], message: `must be at most ${max}` });
  });
export type NewAlert = z.infer<typeof NewAlert>;

export const listAlerts = (db: Database, applicationId: string): Promise<Alert[]> =>
  db
    .select()
    .from(alerts)
    .where(eq(alerts.applicationId, applicationId))
    .orderBy(asc(alerts.id))
    .limit(MAX_ALERTS);

/** Its first check is due at once. Throws `conflict` past 50 alerts of an application. */
export async function createAlert(
  db: Database,
  applicationId: string,
  alert: NewAlert,
  audit: AuditEntry,
  now: number,
): Promise<void> {
  if ((await db.$count(alerts, eq(alerts.applicationId, applicationId))) >= MAX_ALERTS) {
    throw new AppError('conflict', `An application has at most ${MAX_ALERTS} alerts`);
  }
  await db.batch([
    db.insert(alerts).values({ ...alert, id: newId('alr'), applicationId, nextCheckAt: now, createdAt: now }),
    auditStatement(db, audit, now),
  ]);
}

/** Throws `not_found` also for another application's. */
export async function removeAlert(
  db: Database,
  applicationId: string,
  id: string,
  auditOf: (alert: Alert) => AuditEntry,
  now: number,
): Promise<void> {
  const [row] = await db
    .select()
    .from(alerts)
    .where(and(eq(alerts.id, id), eq(alerts.applicationId, applicationId)));
  if (!row) throw new AppError('not_found', 'Alert not found');
  await db.batch([db.delete(alerts).where(eq(alerts.id, id)), auditStatement(db, auditOf(row), now)]);
}
