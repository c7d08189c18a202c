import { and, asc, eq, exists } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller, newAuditEntry } from '#audit';
import {
  applications,
  connectors,
  type Database,
  insertWhere,
  reencryptColumn,
  reportedAdRevenue,
} from '#db';
import { AppError, oneOf, requiredText } from '#http';
import { encryptText } from '#lib/crypto';
import { newId } from '#lib/ids';
import { iso } from '#lib/time';
import { type ApplicationRow, nameOf } from '#teams';
import type { Connector } from './answers.ts';
import { CONNECTOR_KINDS, PLATFORMS } from './platforms.ts';

const MAX_CONNECTORS = 10;

const texts = z.record(z.string(), z.unknown(), { error: 'must be an object' });

/** Body of `POST /v1/connectors`. Which settings and credentials it has depends on its kind: see `PLATFORMS`. */
export const NewConnector = z
  .object({
    application_id: requiredText(128),
    kind: oneOf(CONNECTOR_KINDS),
    settings: texts,
    credentials: texts,
  })
  .transform(({ kind, settings, credentials, ...rest }, ctx) => {
    const read = (name: 'settings' | 'credentials', sent: unknown): Record<string, string> => {
      const { data, error } = PLATFORMS[kind][name].safeParse(sent);
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

export type ConnectorRow = typeof connectors.$inferSelect;

export const showConnector = (row: ConnectorRow): Connector => ({
  id: row.id,
  application_id: row.applicationId,
  kind: row.kind,
  settings: row.settings,
  next_run_at: iso(row.nextRunAt),
  last_run_at: row.lastRunAt === null ? null : iso(row.lastRunAt),
  last_success_at: row.lastSuccessAt === null ? null : iso(row.lastSuccessAt),
  last_error: row.lastError,
  created_at: iso(row.createdAt),
});

const subjectOf = (
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

/** Adds a connector, which is due at once. Throws `conflict` beyond 10 per application. */
export async function createConnector(
  caller: Caller,
  application: ApplicationRow,
  { kind, settings, credentials }: Omit<NewConnector, 'application_id'>,
  encryptionSecret: string,
): Promise<ConnectorRow> {
  const { db, now } = caller;
  if ((await listConnectors(db, application.id)).length >= MAX_CONNECTORS) {
    throw new AppError('conflict', `An application has at most ${MAX_CONNECTORS} connectors`);
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
    createdAt: now,
  };
  const isThere = exists(
    db.select({ id: applications.id }).from(applications).where(eq(applications.id, application.id)),
  );
  await db.batch([
    insertWhere(db, connectors, row, isThere),
    auditStatement(caller, newAuditEntry('connector.created', subjectOf(row, application)), isThere),
  ]);
  return row;
}

/** The team's connector and its application. Throws `not_found` for another team's, too. */
export async function getConnector(
  db: Database,
  teamId: string,
  id: string,
): Promise<{ connector: ConnectorRow; application: { id: string; name: string } }> {
  const [row] = await db
    .select({ connector: connectors, application: { id: applications.id, name: applications.name } })
    .from(connectors)
    .innerJoin(applications, eq(applications.id, connectors.applicationId))
    .where(and(eq(connectors.id, id), eq(applications.teamId, teamId)));
  if (!row) throw new AppError('not_found', 'Connector not found');
  return row;
}

/** Makes a connector due, so that it runs within a minute. Throws `not_found`. */
export async function scheduleConnector(caller: Caller, id: string): Promise<ConnectorRow> {
  const { db, team, now } = caller;
  const { connector, application } = await getConnector(db, team.id, id);
  const own = eq(connectors.id, id);
  await db.batch([
    auditStatement(caller, newAuditEntry('connector.run', subjectOf(connector, application))),
    db.update(connectors).set({ nextRunAt: now }).where(own),
  ]);
  return { ...connector, nextRunAt: now };
}

/** Deletes a connector with what it fetched. Throws `not_found`. */
export async function deleteConnector(caller: Caller, id: string): Promise<ConnectorRow> {
  const { db, team } = caller;
  const { connector, application } = await getConnector(db, team.id, id);
  const own = eq(connectors.id, id);
  await db.batch([
    auditStatement(
      caller,
      newAuditEntry('connector.removed', subjectOf(connector, application)),
      exists(db.select({ id: connectors.id }).from(connectors).where(own)),
    ),
    db
      .delete(reportedAdRevenue)
      .where(
        and(
          eq(reportedAdRevenue.applicationId, connector.applicationId),
          eq(reportedAdRevenue.connectorId, id),
        ),
      ),
    db.delete(connectors).where(own),
  ]);
  return connector;
}

/** Encrypts the keys of connectors with the newest secret while it is rotated. */
export const reencryptConnectors = (db: Database, encryptionSecret: string): Promise<void> =>
  reencryptColumn(db, encryptionSecret, {
    table: connectors,
    key: connectors.id,
    encrypted: connectors.credentials,
  });
