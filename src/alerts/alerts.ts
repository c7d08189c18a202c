import { and, asc, eq, gt } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller, newAuditEntry } from '#audit';
import { SEGMENT_DIMENSIONS, valueName } from '#catalogue';
import { findNames, MAX_NAMES } from '#creatives';
import { alerts, applications, type Database } from '#db';
import { AppError, invalidRequest } from '#http';
import { newId } from '#lib/ids';
import { type ApplicationRow, getApplication } from '#teams';
import { ALERT_KIND_NAMES, ALERT_KINDS, kindText } from './kinds.ts';
import { type MetricRule, numberOrText, readRule, ruleText } from './rule.ts';

const MAX_ALERTS = 50;

export type Alert = typeof alerts.$inferSelect;

const Kind = z.object({
  kind: z.enum(ALERT_KIND_NAMES, { error: `must be one of ${ALERT_KIND_NAMES.join(', ')}` }),
  threshold: numberOrText(z.number({ error: 'must be a number' }).positive('must be above 0')),
});

/** Checks a threshold against the largest of its kind. */
export function checkThreshold({ kind, threshold }: NewAlert, ctx: z.RefinementCtx): void {
  const { max } = ALERT_KINDS[kind];
  if (threshold > max)
    ctx.addIssue({ code: 'custom', path: ['threshold'], message: `must be at most ${max}` });
}

export const NewAlert = Kind.superRefine(checkThreshold);
export type NewAlert = z.infer<typeof Kind>;

/** An application's alerts, the oldest first; with `after`, those after this id. */
export const listAlerts = (
  db: Database,
  applicationId: string,
  { limit = MAX_ALERTS, after = '' }: { limit?: number; after?: string } = {},
): Promise<Alert[]> =>
  db
    .select()
    .from(alerts)
    .where(and(eq(alerts.applicationId, applicationId), gt(alerts.id, after)))
    .orderBy(asc(alerts.id))
    .limit(limit);

const alertNotFound = () => new AppError('not_found', 'Alert not found');

/** An alert of the caller's team, and its application. Throws `not_found` for another team's alert too. */
export async function getAlert(
  { db, team }: Caller,
  id: string,
): Promise<{ alert: Alert; application: ApplicationRow }> {
  const [row] = await db
    .select({ alert: alerts })
    .from(alerts)
    .innerJoin(applications, eq(applications.id, alerts.applicationId))
    .where(and(eq(alerts.id, id), eq(applications.teamId, team.id)));
  if (!row) throw alertNotFound();
  return { alert: row.alert, application: await getApplication(db, team.id, row.alert.applicationId) };
}

/** An alert as a sentence: `CPI is above $2.00`. */
export const alertText = (alert: Pick<Alert, 'kind' | 'threshold' | 'rule'>, currency: string): string =>
  alert.rule === null ? kindText(alert, currency) : ruleText(readRule(alert.rule), currency);

type Watched = Pick<Alert, 'kind' | 'threshold' | 'rule'>;

const subjectOf = ({ name, currency }: ApplicationRow, alert: Watched) =>
  `${name}: ${alertText(alert, currency)}`;

/** The first check is due at once. Throws `conflict` beyond 50 alerts per application. */
export const createAlert = (
  caller: Caller,
  application: ApplicationRow,
  { kind, threshold }: NewAlert,
): Promise<Alert> => insertAlert(caller, application, { kind, threshold, rule: null });

const NAMED = ['campaign', 'adset', 'creative'] as const;

/** Adds the names of what a rule's filters select. Throws `invalid_request` if the application does not have one of them. */
export async function withScope(
  db: Database,
  { id }: Pick<ApplicationRow, 'id'>,
  rule: MetricRule,
): Promise<MetricRule> {
  const scope: string[] = [];
  for (const kind of NAMED) {
    const ids = rule.filters[`${kind}_id`] ?? [];
    const names = ids.length > MAX_NAMES ? new Map() : await findNames(db, id, kind, ids);
    for (const own of ids) {
      const name = names.get(own)?.name;
      if (name === undefined)
        throw invalidRequest([{ path: `filters.${kind}_id`, message: 'is not of this application' }]);
      scope.push(name);
    }
  }
  for (const name of SEGMENT_DIMENSIONS) {
    for (const value of rule.filters[name] ?? []) scope.push(valueName(name, value));
  }
  if (rule.filters.attribution) scope.push(rule.filters.attribution);
  return { ...rule, scope };
}

/** Like `createAlert`. Throws `invalid_request` for a campaign, ad set or creative that the application does not have. */
export async function createMetricAlert(
  caller: Caller,
  application: ApplicationRow,
  rule: MetricRule,
): Promise<Alert> {
  const scoped = await withScope(caller.db, application, rule);
  const stored = { kind: 'metric', threshold: rule.threshold, rule: JSON.stringify(scoped) };
  return insertAlert(caller, application, stored);
}

async function insertAlert(caller: Caller, application: ApplicationRow, alert: Watched): Promise<Alert> {
  const { db, now } = caller;
  if ((await db.$count(alerts, eq(alerts.applicationId, application.id))) >= MAX_ALERTS) {
    throw new AppError('conflict', `An application has at most ${MAX_ALERTS} alerts`);
  }
  const row = {
    ...{ ...alert, id: newId('alr'), applicationId: application.id, nextCheckAt: now, createdAt: now },
    ...{ firingSince: null, firingGroups: null, finding: null },
  };
  await db.batch([
    db.insert(alerts).values(row),
    auditStatement(caller, newAuditEntry('alert.created', subjectOf(application, alert))),
  ]);
  return row;
}

/** Throws `not_found` for another application's alert too. */
export async function removeAlert(caller: Caller, application: ApplicationRow, id: string): Promise<void> {
  const { db } = caller;
  const [row] = await db
    .select()
    .from(alerts)
    .where(and(eq(alerts.id, id), eq(alerts.applicationId, application.id)));
  if (!row) throw alertNotFound();
  await db.batch([
    db.delete(alerts).where(eq(alerts.id, id)),
    auditStatement(caller, newAuditEntry('alert.removed', subjectOf(application, row))),
  ]);
}
