import { eq, lt, sql } from 'drizzle-orm';
import { countersOf, retryCall } from '#counting';
import { type Database, database, excluded, retryTransient, storeNotifications } from '#db';
import { findNamedDevice, type NamedDevice } from '#devices';
import { sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { sendEvent } from '#rollup';
import type { IntakeApplication } from '#teams';
import type { StoreNotification } from './notification.ts';
import { reasonNotCounted, toStoreEvent } from './to-event.ts';

/** A customer may have more names than are worth asking for. */
const MAX_NAMES = 20;

const contentOf = ({ type, kind, environment, amount, ...rest }: StoreNotification): string =>
  JSON.stringify([
    ...[type, kind, environment, rest.transactionId, rest.originalTransactionId],
    ...[amount === null ? null : String(amount), rest.currency, rest.percentage],
  ]);

/** What became of a notification: the event that counts it, or why none does. */
export type Received = { eventId: string | null; reason: string | null };

/**
 * Stores a verified notification and sends its event to the queue. Idempotent: a notification that arrives again has the same event, which counts
 * once. If it tells something else then, the first copy stands. Throws `unavailable` if the queue does not accept the event.
 */
export async function receiveNotification(
  env: Env,
  application: IntakeApplication,
  notification: StoreNotification,
  now: number,
): Promise<Received> {
  const reason = reasonNotCounted(notification);
  const place = reason === null ? await placeOf(env, application, notification) : null;
  const kept = await keep(env, application, notification, reason ?? faultOf(place), now);
  const { eventId, isOther } = kept;
  if (eventId === null || isOther || !place) return kept;
  const event = toStoreEvent(notification, { id: eventId, application, now, ...place });
  await sendEvent(env, event, place.device?.creditOpen === true);
  return kept;
}

function faultOf(place: Place | null): string | null {
  if (place === null) return 'is of no known device, which an application with several counters needs';
  return place.device?.test ? 'is of a test device' : null;
}

type Place = { device: NamedDevice | null; shard: number };

/**
 * The counter that counts a notification: that of its device, or the one that knows its transaction. Null if an application has several and none
 * does: the client's own event of the same payment may then be counted by any of them.
 */
async function placeOf(
  env: Env,
  application: IntakeApplication,
  { customerIds, transactionId, originalTransactionId }: StoreNotification,
): Promise<Place | null> {
  const device = await findNamedDevice(env, application, customerIds.slice(0, MAX_NAMES));
  if (device) return { device, shard: device.shard };
  const { id, shards } = application;
  if (shards === 1) return { device, shard: 0 };
  const ids = [transactionId, originalTransactionId].filter((one) => one !== null);
  const known = await Promise.all(
    countersOf(env, id, shards).map((counter) => retryCall(async () => await counter.knowsTransaction(ids))),
  );
  const shard = known.indexOf(true);
  return shard === -1 ? null : { device, shard };
}

/** Stores the notification, or counts a further copy. The event's id is stored before the event is sent, so that each copy sends the same. */
async function keep(
  env: Env,
  application: IntakeApplication,
  notification: StoreNotification,
  reason: string | null,
  now: number,
): Promise<Received & { isOther: boolean }> {
  const { store, id: notificationId, type, kind, environment, transactionId } = notification;
  const contentHash = await sha256Hex(contentOf(notification));
  const columns = storeNotifications;
  const isOther = sql`(${columns.contentHash} <> ${excluded(columns.contentHash)})`;
  const [row] = await retryTransient(() =>
    database(env.DB)
      .insert(storeNotifications)
      .values({
        ...{ applicationId: application.id, store, notificationId, type, kind, environment, transactionId },
        ...{ eventId: reason === null ? newId('evt') : null, reason, contentHash, receivedAt: now },
      })
      .onConflictDoUpdate({
        target: [columns.applicationId, columns.store, columns.notificationId],
        set: {
          repeats: sql`${columns.repeats} + 1`,
          conflicts: sql`${columns.conflicts} + ${isOther}`,
        },
      })
      .returning({
        eventId: columns.eventId,
        reason: columns.reason,
        contentHash: columns.contentHash,
      }),
  );
  if (!row) throw new Error('The notification was not stored');
  return { eventId: row.eventId, reason: row.reason, isOther: row.contentHash !== contentHash };
}

const LISTED = 20;

/** The newest notifications of an application. */
export async function listNotifications(db: Database, applicationId: string) {
  return db
    .select()
    .from(storeNotifications)
    .where(eq(storeNotifications.applicationId, applicationId))
    .orderBy(sql`${storeNotifications.receivedAt} DESC`)
    .limit(LISTED);
}

const KEPT_MS = 400 * DAY_MS;
const ROWS_AT_ONCE = 1_000;

/** Deletes notifications that are older than any copy of them that a store may send. */
export async function pruneNotifications(d1: D1Database, now: number): Promise<void> {
  const { applicationId, store, notificationId, receivedAt } = storeNotifications;
  const db = database(d1);
  const key = sql`${applicationId}, ${store}, ${notificationId}`;
  const old = db
    .select({ applicationId, store, notificationId })
    .from(storeNotifications)
    .where(lt(receivedAt, now - KEPT_MS))
    .limit(ROWS_AT_ONCE);
  await retryTransient(() => db.delete(storeNotifications).where(sql`(${key}) IN ${old}`).run());
}
