import { and, asc, eq } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller, newAuditEntry } from '#audit';
import { alerts, type Database } from '#db';
import { AppError } from '#http';
import { newId } from '#lib/ids';
import type { ApplicationRow } from '#teams';
import { ALERT_KIND_NAMES, ALERT_KINDS, alertText } from './kinds.ts';

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

const subjectOf = ({ name, currency }: ApplicationRow, alert: Pick<Alert, 'kind' | 'threshold'>) =>
  `${name}: ${alertText(alert, currency)}`;

/** The first check is due at once. Throws `conflict` beyond 50 alerts per application. */
export async function createAlert(
  caller: Caller,
  application: ApplicationRow,
  alert: NewAlert,
): Promise<void> {
  const { db, now } = caller;
  if ((await db.$count(alerts, eq(alerts.applicationId, application.id))) >= MAX_ALERTS) {
    throw new AppError('conflict', `An application has at most ${MAX_ALERTS} alerts`);
  }
  const row = { ...alert, id: newId('alr'), applicationId: application.id, nextCheckAt: now, createdAt: now };
  await db.batch([
    db.insert(alerts).values(row),
    auditStatement(caller, newAuditEntry('alert.created', subjectOf(application, alert))),
  ]);
}

/** Throws `not_found` for another application's alert too. */
export async function removeAlert(caller: Caller, application: ApplicationRow, id: string): Promise<void> {
  const { db } = caller;
  const [row] = await db
    .select()
    .from(alerts)
    .where(and(eq(alerts.id, id), eq(alerts.applicationId, application.id)));
  if (!row) throw new AppError('not_found', 'Alert not found');
  await db.batch([
    db.delete(alerts).where(eq(alerts.id, id)),
    auditStatement(caller, newAuditEntry('alert.removed', subjectOf(application, row))),
  ]);
}
