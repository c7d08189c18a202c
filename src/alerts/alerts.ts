import { and, asc, eq, gt } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { SEGMENT_DIMENSIONS, valueName } from '#catalogue';
import { findNames, MAX_NAMES } from '#creatives';
import { alertChanges, alerts, applications, type Database } from '#db';
import { AppError, invalidRequest } from '#http';
import { newId } from '#lib/ids';
import { type ApplicationRow, getApplication } from '#teams';
import { STATE_KIND_NAMES, STATE_KINDS, type StateKind, stateText } from './kinds.ts';
import { type MetricRule, numberOrText, readRule, ruleText } from './rule.ts';

const MAX_ALERTS = 50;

export type AlertRow = typeof alerts.$inferSelect;

export const stateFields = {
  kind: z.enum(STATE_KIND_NAMES, { error: `must be one of ${['metric', ...STATE_KIND_NAMES].join(', ')}` }),
  threshold: numberOrText(z.number({ error: 'must be a number' }).positive('must be above 0')),
};

/** Checks a threshold against the largest of its kind. */
export function checkThreshold(
  { kind, threshold }: { kind: StateKind; threshold: number },
  ctx: z.RefinementCtx,
): void {
  const { max } = STATE_KINDS[kind];
  if (threshold > max)
    ctx.addIssue({ code: 'custom', path: ['threshold'], message: `must be at most ${max}` });
}

/** What an alert watches: the state of the application, or a metric. */
export const StateAlert = z.object(stateFields).superRefine(checkThreshold);
export type NewAlert = z.infer<typeof StateAlert> | { kind: 'metric'; rule: MetricRule };

/** An application's alerts, the oldest first; with `after`, those after this id. */
export const listAlerts = (
  db: Database,
  applicationId: string,
  { limit = MAX_ALERTS, after = '' }: { limit?: number; after?: string } = {},
): Promise<AlertRow[]> =>
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
): Promise<{ alert: AlertRow; application: ApplicationRow }> {
  const [row] = await db
    .select({ alert: alerts })
    .from(alerts)
    .innerJoin(applications, eq(applications.id, alerts.applicationId))
    .where(and(eq(alerts.id, id), eq(applications.teamId, team.id)));
  if (!row) throw alertNotFound();
  return { alert: row.alert, application: await getApplication(db, team.id, row.alert.applicationId) };
}

/** An alert as a sentence: `CPI over the last 7 days is above $2.00`. */
export const alertText = (alert: Watched, currency: string): string =>
  alert.rule === null ? stateText(alert) : ruleText(readRule(alert.rule), currency);

type Watched = Pick<AlertRow, 'kind' | 'threshold' | 'rule'>;

const subjectOf = ({ name, currency }: ApplicationRow, alert: Watched) =>
  `${name}: ${alertText(alert, currency)}`;

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

/** An alert as it is stored. Throws `invalid_request` for a campaign, ad set or creative that the application does not have. */
async function toWatched(db: Database, application: ApplicationRow, alert: NewAlert): Promise<Watched> {
  if (alert.kind !== 'metric') return { kind: alert.kind, threshold: alert.threshold, rule: null };
  const scoped = await withScope(db, application, alert.rule);
  return { kind: 'metric', threshold: alert.rule.threshold, rule: JSON.stringify(scoped) };
}

/** An alert that has not been checked, and whose first check is due. */
const unchecked = (now: number) => ({
  nextCheckAt: now,
  firingSince: null,
  firingGroups: null,
  finding: null,
  isKnown: false,
  offSince: null,
});

/**
 * The first check is due at once. Throws `invalid_request` for a campaign, ad set or creative that the application does not have, and `conflict`
 * beyond 50 alerts per application.
 */
export async function createAlert(
  caller: Caller,
  application: ApplicationRow,
  alert: NewAlert,
): Promise<AlertRow> {
  const { db, now } = caller;
  const watched = await toWatched(db, application, alert);
  if ((await db.$count(alerts, eq(alerts.applicationId, application.id))) >= MAX_ALERTS) {
    throw new AppError('conflict', `An application has at most ${MAX_ALERTS} alerts`);
  }
  const row = {
    ...{ ...watched, id: newId('alr'), applicationId: application.id, createdAt: now },
    ...unchecked(now),
  };
  await db.batch([
    db.insert(alerts).values(row),
    auditStatement(caller, 'alert.created', subjectOf(application, row)),
  ]);
  return row;
}

/** What changes about an alert: what it watches, and whether it is on. */
export type AlertChanges = { watches?: NewAlert; enabled?: boolean };

/**
 * Changes an alert. One that watches something else, or is turned on, starts anew: it is checked at once, and fires again if its condition
 * holds. One that is turned off is not checked and does not fire. A change to what it is already does nothing. Throws `not_found` for another
 * application's alert too, and like `createAlert`.
 */
export async function changeAlert(
  caller: Caller,
  application: ApplicationRow,
  id: string,
  { watches, enabled }: AlertChanges,
): Promise<AlertRow> {
  const { db, now } = caller;
  const row = await findAlert(db, application, id);
  const watched = watches ? await toWatched(db, application, watches) : row;
  const wasOff = row.offSince !== null;
  const isOff = enabled === undefined ? wasOff : !enabled;
  const isSame =
    watched.rule === row.rule && watched.threshold === row.threshold && watched.kind === row.kind;
  if (isSame && isOff === wasOff) return row;
  const { kind, threshold, rule } = watched;
  const offSince = isOff ? (row.offSince ?? now) : null;
  const changed = { ...{ kind, threshold, rule }, ...unchecked(now), offSince };
  const facts = [
    ...(isSame ? [] : [`now ${alertText(watched, application.currency)}`]),
    ...(isOff === wasOff ? [] : [isOff ? 'turned off' : 'turned on']),
  ];
  const subject = `${subjectOf(application, row)}, ${facts.join(', ')}`;
  await db.batch([
    db.update(alerts).set(changed).where(eq(alerts.id, id)),
    auditStatement(caller, 'alert.changed', subject),
  ]);
  return { ...row, ...changed };
}

/** An alert of an application. Throws `not_found` for another application's alert too. */
export async function findAlert(
  db: Database,
  application: Pick<ApplicationRow, 'id'>,
  id: string,
): Promise<AlertRow> {
  const [row] = await db
    .select()
    .from(alerts)
    .where(and(eq(alerts.id, id), eq(alerts.applicationId, application.id)));
  if (!row) throw alertNotFound();
  return row;
}

/** Throws `not_found` for another application's alert too. */
export async function removeAlert(caller: Caller, application: ApplicationRow, id: string): Promise<void> {
  const { db } = caller;
  const row = await findAlert(db, application, id);
  await db.batch([
    db.delete(alerts).where(eq(alerts.id, id)),
    db.delete(alertChanges).where(eq(alertChanges.alertId, id)),
    auditStatement(caller, 'alert.removed', subjectOf(application, row)),
  ]);
}
