import { and, asc, eq, sql } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import { retryCall, tellCountersSoon } from '#counting';
import { applications, type Database, destinations, hasRow, insertWhere, isAmong, OFF_BY_HAND } from '#db';
import { settingsOf } from '#env';
import { AppError } from '#http';
import { newId } from '#lib/ids';
import { logWarning } from '#lib/log';
import { type ApplicationRow, nameOf } from '#teams';
import { kindOf } from './kinds.ts';
import type {
  Attempt,
  DeliveryFilter,
  DestinationApi,
  DestinationHealth,
  Replay,
  StoredDelivery,
} from './object/api.ts';
import { readChanges } from './read-changes.ts';
import type { DestinationChanges, NewDestination } from './requests.ts';
import { readSecrets, rotated, writeSecrets } from './secrets.ts';
import { newWebhookSecret } from './webhook-signature.ts';

const MAX_DESTINATIONS = 10;
const MAX_LISTED = 200;

export type DestinationRow = typeof destinations.$inferSelect;

/** A destination and its application, which is the team's. */
export type OwnDestination = { destination: DestinationRow; application: { id: string; name: string } };

type NamedApplication = Pick<ApplicationRow, 'id' | 'name'>;

/** How the audit log names a destination. */
const subjectOf = ({ kind, id }: Pick<DestinationRow, 'kind' | 'id'>, application: NamedApplication) =>
  `${kind} ${id} of ${nameOf(application)}`;

/** The destinations of some applications, oldest first, at most 200. The caller has checked that these belong to the team. */
export const listDestinations = (
  db: Database,
  applicationIds: readonly string[],
): Promise<DestinationRow[]> =>
  db
    .select()
    .from(destinations)
    .where(isAmong(destinations.applicationId, applicationIds))
    .orderBy(asc(destinations.id))
    .limit(MAX_LISTED);

/** The team's destination. Throws `not_found` for another team's, too. */
export async function getDestination(db: Database, teamId: string, id: string): Promise<OwnDestination> {
  const [row] = await db
    .select({ destination: destinations, application: { id: applications.id, name: applications.name } })
    .from(destinations)
    .innerJoin(applications, eq(applications.id, destinations.applicationId))
    .where(and(eq(destinations.id, id), eq(applications.teamId, teamId)));
  if (!row) throw new AppError('not_found', 'Destination not found');
  return row;
}

/** The object of a destination. Its answers have the types of `DestinationApi` instead of those that RPC makes of them. */
const objectOf = (env: Env, id: string): DestinationApi => env.DESTINATIONS.getByName(id);

/** Has the object read its destination again. Unless it hears of it, it does so within a minute. */
const tellObject = (env: Env, id: string): Promise<void> =>
  retryCall(() => objectOf(env, id).changed()).catch((error) =>
    logWarning('destination not told', error, { destination_id: id }),
  );

/**
 * Adds a destination, which is sent what is counted from then on. `secret`: that of a webhook, which is shown this once. Throws
 * `invalid_request` for what its kind refuses, and `conflict` beyond 10 destinations of an application.
 */
export async function createDestination(
  env: Env,
  caller: Caller,
  application: ApplicationRow,
  { kind, events, filter = {}, ...sent }: Omit<NewDestination, 'application_id'>,
): Promise<{ destination: DestinationRow; secret: string | null }> {
  const { db, now } = caller;
  const { KEY_ENCRYPTION_SECRET, OUTBOUND_LOCAL } = settingsOf(env);
  const { settings, credentials = {} } = await readChanges(
    kindOf(kind),
    { credentials: {}, ...sent },
    { settings: {}, allowsLocal: OUTBOUND_LOCAL },
  );
  if ((await listDestinations(db, [application.id])).length >= MAX_DESTINATIONS) {
    throw new AppError('conflict', `An application has at most ${MAX_DESTINATIONS} destinations`);
  }
  const secret = kind === 'webhook' ? newWebhookSecret() : null;
  const secrets = secret === null ? [] : [{ secret, endsAt: null }];
  const destination: DestinationRow = {
    ...{ id: newId('dst'), applicationId: application.id, kind, settings, events, filter },
    credentials: await writeSecrets(KEY_ENCRYPTION_SECRET, { credentials, secrets }),
    ...{ offSince: null, offReason: null, version: 1, toldVersion: 0, createdAt: now },
  };
  const isThere = hasRow(applications, eq(applications.id, application.id));
  await db.batch([
    insertWhere(db, destinations, destination, isThere),
    auditStatement(caller, 'destination.created', subjectOf(destination, application), isThere),
  ]);
  await tellCountersSoon(env, application.id);
  return { destination, secret };
}

/** Stores changes with their audit row, and tells whoever has to know. */
async function store(
  env: Env,
  caller: Caller,
  { destination, application }: OwnDestination,
  action: 'destination.changed' | 'destination.secret_rotated',
  set: Partial<DestinationRow>,
): Promise<DestinationRow> {
  const { db } = caller;
  const own = eq(destinations.id, destination.id);
  const isThere = hasRow(destinations, own);
  await db.batch([
    auditStatement(caller, action, subjectOf(destination, application), isThere),
    db
      .update(destinations)
      .set({ ...set, version: sql`${destinations.version} + 1` })
      .where(own),
  ]);
  await tellObject(env, destination.id);
  await tellCountersSoon(env, application.id);
  return { ...destination, ...set };
}

/** Changes a destination. Throws `not_found`, and `invalid_request` for what its kind refuses. Idempotent. */
export async function changeDestination(
  env: Env,
  caller: Caller,
  id: string,
  { events, filter, enabled, ...sent }: DestinationChanges,
): Promise<DestinationRow> {
  const own = await getDestination(caller.db, caller.team.id, id);
  const { destination } = own;
  const { KEY_ENCRYPTION_SECRET, OUTBOUND_LOCAL } = settingsOf(env);
  const { settings, credentials } = await readChanges(kindOf(destination.kind), sent, {
    settings: destination.settings,
    allowsLocal: OUTBOUND_LOCAL,
  });
  const off =
    enabled === false
      ? { offSince: destination.offSince ?? caller.now, offReason: destination.offReason ?? OFF_BY_HAND }
      : { offSince: null, offReason: null };
  const secrets =
    credentials === undefined
      ? {}
      : {
          credentials: await writeSecrets(KEY_ENCRYPTION_SECRET, {
            // Those that another secret encrypted are replaced, but signing secrets cannot be.
            ...(destination.kind === 'webhook'
              ? await readSecrets(KEY_ENCRYPTION_SECRET, destination.credentials)
              : { secrets: [] }),
            credentials,
          }),
        };
  return store(env, caller, own, 'destination.changed', {
    ...{ settings, ...secrets },
    ...(events === undefined ? {} : { events }),
    ...(filter === undefined ? {} : { filter }),
    ...(enabled === undefined ? {} : off),
  });
}

/** A new signing secret of a webhook. The former one signs, too, for another day. Throws `not_found`, and `conflict` for other kinds. */
export async function rotateSecret(
  env: Env,
  caller: Caller,
  id: string,
): Promise<{ destination: DestinationRow; secret: string }> {
  const own = await getDestination(caller.db, caller.team.id, id);
  if (own.destination.kind !== 'webhook') {
    throw new AppError('conflict', 'Only a webhook has a signing secret');
  }
  const { KEY_ENCRYPTION_SECRET } = settingsOf(env);
  const { credentials, secrets } = await readSecrets(KEY_ENCRYPTION_SECRET, own.destination.credentials);
  const secret = newWebhookSecret();
  const destination = await store(env, caller, own, 'destination.secret_rotated', {
    credentials: await writeSecrets(KEY_ENCRYPTION_SECRET, {
      credentials,
      secrets: rotated(secrets, secret, caller.now),
    }),
  });
  return { destination, secret };
}

/** Deletes a destination with its deliveries. Throws `not_found`. A call that failed can be repeated. */
export async function deleteDestination(env: Env, caller: Caller, id: string): Promise<DestinationRow> {
  const { db } = caller;
  const { destination, application } = await getDestination(db, caller.team.id, id);
  const own = eq(destinations.id, id);
  await db.batch([
    auditStatement(
      caller,
      'destination.removed',
      subjectOf(destination, application),
      hasRow(destinations, own),
    ),
    db.delete(destinations).where(own),
  ]);
  await tellCountersSoon(env, application.id);
  await retryCall(() => objectOf(env, id).deleteAll());
  return destination;
}

/** How a destination does. */
export const healthOf = (env: Env, id: string): Promise<DestinationHealth> =>
  retryCall(() => objectOf(env, id).health());

/** The deliveries of a destination, the newest first. `before`: those before the event with this id; empty for the first. */
export const deliveriesOf = (
  env: Env,
  id: string,
  filter: DeliveryFilter,
  before: string,
  limit: number,
): Promise<StoredDelivery[]> => retryCall(() => objectOf(env, id).deliveries(filter, before, limit));

/** Sends an event that was made up. A success switches the destination on again. Waits up to 15 s for the receiver. */
export async function testDestination(
  env: Env,
  caller: Caller,
  { destination, application }: OwnDestination,
): Promise<Attempt | { skipped: string }> {
  await auditStatement(caller, 'destination.tested', subjectOf(destination, application));
  return await objectOf(env, destination.id).sendTest();
}

/** Has deliveries sent again. Returns how many. */
export async function replayDeliveries(
  env: Env,
  caller: Caller,
  { destination, application }: OwnDestination,
  what: Replay,
): Promise<number> {
  await auditStatement(caller, 'destination.replayed', subjectOf(destination, application));
  return retryCall(() => objectOf(env, destination.id).replay(what));
}
