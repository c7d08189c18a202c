import { and, eq, inArray, isNull, lt, or, sql } from 'drizzle-orm';
import type { StoreEvent } from '#catalogue';
import {
  applications,
  type Database,
  database,
  deleteSome,
  excluded,
  NOTIFICATION_DAYS,
  retryTransient,
  storeNotifications,
} from '#db';
import { findNamedDevice, type NamedDevice } from '#devices';
import type { Fault, KeepAlive } from '#http';
import { sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { sendEvent } from '#rollup';
import type { IntakeApplication } from '#teams';
import { shardsOfPurchases } from './held.ts';
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
export type NotificationOutcome = {
  eventId: string | null;
  reason: string | null;
  /** What of it was dropped, or taken for something else. */
  warnings?: readonly Fault[];
};

/**
 * Stores a verified notification and sends its event to the queue. Idempotent: a notification that arrives again has the same event and counter, and counts
 * once. If it tells something else then, the first copy stands. Throws `unavailable` if the queue does not accept the event.
 */
export async function receiveNotification(
  env: Env,
  keepAlive: KeepAlive,
  application: IntakeApplication,
  notification: StoreNotification,
  now: number,
): Promise<NotificationOutcome> {
  const reason = reasonNotCounted(notification);
  const place = reason === null ? await placeOf(env, application, notification) : null;
  const eventAt = (id: string, shard: number | null, device = place?.device ?? null) =>
    toStoreEvent(notification, { id, application, device, shard: shard ?? 0, now });
  const held = place?.shard === null ? eventAt('', null) : null;
  const stored = { reason: reason ?? faultOf(place), shard: place?.shard ?? null, held };
  const { eventId, isOther, ...kept } = await keep(env, application, notification, stored, now);
  const outcome = { eventId, reason: kept.reason };
  if (isOther) return { ...outcome, warnings: [{ path: '', message: OTHER_COPY }] };
  if (eventId === null || !place) return outcome;
  // An earlier copy may have been sent to another counter, before its device was known.
  const shard = kept.shard ?? place.shard;
  const device = place.device?.shard === shard ? place.device : null;
  const event = eventAt(eventId, shard, device);
  await sendEvent(env, keepAlive, event, device?.creditOpen === true);
  return { ...outcome, ...(event.warnings && { warnings: event.warnings }) };
}

const OTHER_COPY = 'tells something else than its first copy, which stands';

const WAITS =
  'waits: no device or purchase is known, and the application has several counters. A payment counts without a device after 3 days, a refund once its purchase has arrived';

function faultOf(place: DeviceAndShard | null): string | null {
  if (place?.shard === null) return WAITS;
  return place?.device?.test ? 'is of a test device' : null;
}

/** `shard`: null if it is not known yet. */
type DeviceAndShard = { device: NamedDevice | null; shard: number | null };

/**
 * The counter that counts a notification: that of its device, or the one that knows its transaction. An application may have several and none does: the
 * client's own event of the same payment may then be counted by any of them.
 */
async function placeOf(
  env: Env,
  application: IntakeApplication,
  { customerIds, transactionId, originalTransactionId }: StoreNotification,
): Promise<DeviceAndShard> {
  const device = await findNamedDevice(env, application, customerIds.slice(0, MAX_NAMES));
  if (device) return { device, shard: device.shard };
  if (application.shards === 1) return { device, shard: 0 };
  const ids = [transactionId, originalTransactionId].filter((one) => one !== null);
  const known = await shardsOfPurchases(env, application, ids);
  return { device, shard: ids.map((id) => known.get(id)).find((one) => one !== undefined) ?? null };
}

/** Stores the notification, or counts a further copy. The event's id is stored before the event is sent, so that each copy sends the same. */
async function keep(
  env: Env,
  application: IntakeApplication,
  notification: StoreNotification,
  { reason, shard, held }: { reason: string | null; shard: number | null; held: StoreEvent | null },
  now: number,
): Promise<NotificationOutcome & { shard: number | null; isOther: boolean }> {
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
        ...{ shard: reason === null ? shard : null, held },
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
        shard: columns.shard,
      }),
  );
  if (!row) throw new Error('The notification was not stored');
  return { ...row, isOther: row.contentHash !== contentHash };
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

/** A refund is held until its purchase is counted. */
const HELD_MS = 400 * DAY_MS;
const ROWS_AT_ONCE = 1_000;

/** Deletes notifications that are older than any copy of them that a store may send, and held ones after 400 days. At most 1,000 per call. */
export async function pruneNotifications(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  const { applicationId, receivedAt, held } = storeNotifications;
  const isOld = and(
    // By application, so that an index finds the oldest.
    inArray(applicationId, db.select({ id: applications.id }).from(applications)),
    lt(receivedAt, now - NOTIFICATION_DAYS * DAY_MS),
    or(isNull(held), lt(receivedAt, now - HELD_MS)),
  );
  await deleteSome(db, storeNotifications, isOld, ROWS_AT_ONCE);
}
