import { and, asc, eq } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import {
  applications,
  type Backfill,
  type ConnectorAmounts,
  type ConnectorChange,
  connectors,
  type Database,
  hasRow,
  insertWhere,
  reportedAdRevenue,
} from '#db';
import { AppError, atMostDays, dayText, invalidRequest, oneOf, requiredText } from '#http';
import { encryptText } from '#lib/crypto';
import { toApi } from '#lib/encoding/camel-case';
import { newId } from '#lib/ids';
import { receiverFault } from '#lib/input/private-name';
import { amountField } from '#lib/money';
import { addDays, daysBetween, iso, isoOrNull } from '#lib/time';
import { deleteFetchedCosts } from '#money';
import { type ApplicationRow, nameOf } from '#teams';
import { Connector } from './answers.ts';
import { type ConnectorRow, CUT_OFF_MS } from './connector-row.ts';
import { CONNECTOR_KINDS, KINDS, kindOf } from './kinds.ts';
import { isPending, latestDay } from './windows.ts';

const MAX_CONNECTORS = 10;

/** The settings or the credentials of a kind, before it has read them. */
export const texts = z.record(z.string(), z.unknown(), { error: 'must be an object' });

/** Body of `POST /v1/connectors`. Which settings and credentials it has depends on its kind: see `KINDS`. */
export const NewConnector = z
  .object({
    application_id: requiredText(128),
    kind: oneOf(CONNECTOR_KINDS),
    settings: texts,
    credentials: texts,
  })
  .transform(({ kind, settings, credentials, ...rest }, ctx) => {
    const read = (name: 'settings' | 'credentials', sent: unknown): Record<string, string> => {
      const { data, error } = KINDS[kind][name].safeParse(sent);
      for (const issue of error?.issues ?? []) {
        ctx.issues.push({ code: 'custom', message: issue.message, path: [name, ...issue.path], input: sent });
      }
      return data ?? {};
    };
    return {
      ...rest,
      kind,
      settings: read('settings', settings),
      credentials: read('credentials', credentials),
    };
  });
export type NewConnector = z.infer<typeof NewConnector>;

export const ConnectorsQuery = z.object({ application_id: requiredText(128) });

/** What a connector does now: the first of these that holds. */
function stateOf(row: ConnectorRow, now: number): Connector['state'] {
  if (row.startedAt !== null && now - row.startedAt < CUT_OFF_MS) return 'running';
  if (row.job !== null) return 'waiting';
  if (row.lastError !== null) return 'failing';
  if (row.backfill && isPending(row.backfill)) return 'backfilling';
  return row.nextRunAt <= now ? 'due' : 'idle';
}

const showAmounts = (amounts: ConnectorAmounts) =>
  amounts.map(({ currency, nanos }) => ({ currency, ...amountField('amount', BigInt(nanos)) }));

const showChange = ({ changedDays, before, after, ...change }: ConnectorChange) => ({
  ...change,
  changed_days: changedDays,
  before: showAmounts(before),
  after: showAmounts(after),
});

const showBackfill = ({ from, to, next }: Backfill) => ({
  from,
  to,
  days: daysBetween(from, to) + 1,
  days_done: daysBetween(from, next),
});

export const showConnector = (row: ConnectorRow, now: number): Connector =>
  toApi(Connector, {
    ...row,
    state: stateOf(row, now),
    nextRunAt: iso(row.nextRunAt),
    lastRunAt: isoOrNull(row.lastRunAt),
    lastSuccessAt: isoOrNull(row.lastSuccessAt),
    lastChange: row.lastChange && showChange(row.lastChange),
    backfill: row.backfill && showBackfill(row.backfill),
    credentialsExpireAt: isoOrNull(row.credentialsExpireAt),
    createdAt: iso(row.createdAt),
  });

/** How the audit log names a connector. */
export const subjectOf = (
  { kind, id }: { kind: string; id: string },
  application: Pick<ApplicationRow, 'id' | 'name'>,
) => `${kind} ${id} of ${nameOf(application)}`;

/** The connectors of an application, oldest first. The caller has checked that it belongs to the team. */
export const listConnectors = (db: Database, applicationId: string): Promise<ConnectorRow[]> =>
  db
    .select()
    .from(connectors)
    .where(eq(connectors.applicationId, applicationId))
    .orderBy(asc(connectors.id))
    .limit(MAX_CONNECTORS);

const isEqual = (left: Record<string, string>, right: Record<string, string>) =>
  Object.entries(right).every(([name, value]) => left[name] === value);

/**
 * Adds a connector, which is due at once. Throws `invalid_request` for a URL that must not be asked, and `conflict` beyond 10 per application
 * and for a second one that fetches the same costs.
 */
export async function createConnector(
  caller: Caller,
  application: ApplicationRow,
  { kind, settings, credentials }: Omit<NewConnector, 'application_id'>,
  encryptionSecret: string,
): Promise<Connector> {
  const { db, now } = caller;
  const others = await listConnectors(db, application.id);
  if (others.length >= MAX_CONNECTORS) {
    throw new AppError('conflict', `An application has at most ${MAX_CONNECTORS} connectors`);
  }
  const fault = settings.url === undefined ? null : await receiverFault(settings.url, { ports: '443' });
  if (fault) throw invalidRequest([{ path: 'settings.url', message: fault }]);
  // Its spend would count twice.
  const isSame = (row: ConnectorRow) => row.kind === kind && isEqual(row.settings, settings);
  if (KINDS[kind].family === 'costs' && others.some(isSame)) {
    throw new AppError('conflict', 'The application has a connector with these settings already');
  }
  const row: ConnectorRow = {
    id: newId('con'),
    applicationId: application.id,
    kind,
    settings,
    credentials: await encryptText(encryptionSecret, JSON.stringify(credentials)),
    nextRunAt: now,
    lastRunAt: null,
    lastSuccessAt: null,
    lastError: null,
    ...{ failures: 0, startedAt: null, job: null, backfill: null },
    ...{ lastChange: null, account: null, credentialsExpireAt: null },
    createdAt: now,
  };
  const isThere = hasRow(applications, eq(applications.id, application.id));
  await db.batch([
    insertWhere(db, connectors, row, isThere),
    auditStatement(caller, 'connector.created', subjectOf(row, application), isThere),
  ]);
  return showConnector(row, now);
}

/** The team's connector and its application. Throws `not_found` for another team's, too. */
export async function getConnector(
  db: Database,
  teamId: string,
  id: string,
): Promise<{ connector: ConnectorRow; application: { id: string; name: string; timezone: string } }> {
  const { name, timezone } = applications;
  const [row] = await db
    .select({ connector: connectors, application: { id: applications.id, name, timezone } })
    .from(connectors)
    .innerJoin(applications, eq(applications.id, connectors.applicationId))
    .where(and(eq(connectors.id, id), eq(applications.teamId, teamId)));
  if (!row) throw new AppError('not_found', 'Connector not found');
  return row;
}

/** Makes a connector due, so that it runs within a minute. Throws `not_found`. */
export async function scheduleConnector(caller: Caller, id: string): Promise<Connector> {
  const { db, team, now } = caller;
  const { connector, application } = await getConnector(db, team.id, id);
  const own = eq(connectors.id, id);
  await db.batch([
    auditStatement(caller, 'connector.run', subjectOf(connector, application)),
    db.update(connectors).set({ nextRunAt: now }).where(own),
  ]);
  return showConnector({ ...connector, nextRunAt: now }, now);
}

const MAX_BACKFILL_DAYS = 731;

/** Body of `POST /v1/connectors/:id/backfill`. */
export const NewBackfill = z
  .object({ from: dayText(), to: dayText() })
  .superRefine(atMostDays(MAX_BACKFILL_DAYS));
export type NewBackfill = z.infer<typeof NewBackfill>;

/**
 * Has days read again, a week per run of the connector, the first within a minute. It takes the place of an earlier backfill. Throws `not_found`,
 * and `invalid_request` for days that are not over, or that the platform does not have any more.
 */
export async function startBackfill(
  caller: Caller,
  id: string,
  { from, to }: NewBackfill,
): Promise<Connector> {
  const { db, team, now } = caller;
  const { connector, application } = await getConnector(db, team.id, id);
  const kind = kindOf(connector.kind);
  if (!kind) throw new AppError('conflict', `This release knows no connector ${connector.kind}`);
  const latest = latestDay(kind, connector, application.timezone, now);
  const first = addDays(latest, 1 - kind.maxDaysBack);
  const faults = [
    ...(to > latest
      ? [{ path: 'to', message: `must not be after ${latest}, the last day that is complete` }]
      : []),
    ...(from < first
      ? [{ path: 'from', message: `must not be before ${first}, the first day that it reports` }]
      : []),
  ];
  if (faults.length > 0) throw invalidRequest(faults);
  const { backfill } = connector;
  const dailyAt = backfill && isPending(backfill) ? backfill.dailyAt : connector.nextRunAt;
  const set = { backfill: { from, to, next: from, dailyAt }, nextRunAt: now };
  await db.batch([
    auditStatement(caller, 'connector.backfill', `${from} to ${to} of ${subjectOf(connector, application)}`),
    db.update(connectors).set(set).where(eq(connectors.id, id)),
  ]);
  return showConnector({ ...connector, ...set }, now);
}

/** Deletes a connector with what it fetched. Throws `not_found`. */
export async function deleteConnector(caller: Caller, id: string): Promise<Connector> {
  const { db, team, now } = caller;
  const { connector, application } = await getConnector(db, team.id, id);
  const own = eq(connectors.id, id);
  await db.batch([
    auditStatement(caller, 'connector.removed', subjectOf(connector, application), hasRow(connectors, own)),
    db
      .delete(reportedAdRevenue)
      .where(
        and(
          eq(reportedAdRevenue.applicationId, connector.applicationId),
          eq(reportedAdRevenue.connectorId, id),
        ),
      ),
    deleteFetchedCosts(db, connector.applicationId, id),
    db.delete(connectors).where(own),
  ]);
  return showConnector(connector, now);
}
