import { and, asc, desc, inArray, isNotNull, lt, or, type SQL, sql } from 'drizzle-orm';
import type { StoreEvent } from '#catalogue';
import { homeShard, queryCounters, type ShardedApplication } from '#counting';
import { applications, columnList, type Database, database, retryTransient, storeNotifications } from '#db';
import { chunksOf } from '#lib/collections/chunks';
import { newId } from '#lib/ids';
import { logWarning } from '#lib/log';
import { DAY_MS } from '#lib/time';
import { sendEvent } from '#rollup';

// An application with several counters: a payment or a refund of no known device is counted by the counter that counted the client's event of the same
// transaction. It is held until one has.

/** How long a payment waits for the client's event of it. Then it counts without a device. */
const PAYMENT_WAITS_MS = 3 * DAY_MS;

const ROWS_AT_ONCE = 500;
const PAGES = 5;
const SENDS_AT_ONCE = 25;

const { applicationId, store, notificationId, kind, receivedAt, eventId, shard, held } = storeNotifications;
const key = [applicationId, store, notificationId];

/** The counters of an application that know the purchases of these transactions. */
export async function shardsOfPurchases(
  env: Env,
  application: ShardedApplication,
  transactions: readonly string[],
): Promise<Map<string, number>> {
  const known = await queryCounters(env, application, (counter) => counter.knownPurchases([...transactions]));
  // Of several, which a payment without a device may have, always the same one.
  return new Map(known.flatMap((ids, of) => ids.map((id) => [id, of] as const)).toReversed());
}

const transactionsOf = ({ tr_id, original_tr_id }: Pick<StoreEvent, 'tr_id' | 'original_tr_id'>) =>
  original_tr_id === undefined ? [tr_id] : [tr_id, original_tr_id];

type HeldRow = Omit<Awaited<ReturnType<typeof selectHeld>>[number], 'held'> & { held: StoreEvent };

/**
 * Sends held notifications whose counter is known by now, and payments that have waited for long enough without a device. Each is sent to one counter
 * with one id: both are stored before it is sent, and a notification is held until it was.
 */
export async function sendHeldNotifications(env: Env, now: number): Promise<void> {
  const db = database(env.DB);
  // First what has waited, all of which is sent: however much waits after it, it does not keep others from their turn.
  const isDue = and(inArray(kind, ['purchase', 'renewal', 'trial']), lt(receivedAt, now - PAYMENT_WAITS_MS));
  for (let page = 0; page < PAGES; page++) {
    const rows = (await selectHeld(db, or(isDue, isNotNull(shard)), asc(receivedAt))) as HeldRow[];
    await sendRows(env, rows, now);
    if (rows.length < ROWS_AT_ONCE) break;
  }
  let before = Number.MAX_SAFE_INTEGER;
  for (let page = 0; page < PAGES; page++) {
    const rows = (await selectHeld(db, lt(receivedAt, before), desc(receivedAt))) as HeldRow[];
    await sendRows(env, rows, now);
    if (rows.length < ROWS_AT_ONCE) break;
    before = rows.at(-1)?.receivedAt ?? 0;
  }
}

const selectHeld = (db: Database, which: SQL | undefined, order: SQL) =>
  db
    .select({
      ...{ applicationId, store, notificationId, eventId, shard, held, receivedAt },
      shards: applications.shards,
    })
    .from(storeNotifications)
    .innerJoin(applications, sql`${applications.id} = ${applicationId}`)
    .where(and(sql`${held} IS NOT NULL`, which))
    .orderBy(order)
    .limit(ROWS_AT_ONCE);

async function sendRows(env: Env, rows: readonly HeldRow[], now: number): Promise<void> {
  const db = database(env.DB);
  const claimed = await claim(
    db,
    await decide(
      env,
      rows.filter((row) => row.eventId === null),
      now,
    ),
  );
  const decided = rows.filter((row) => row.eventId !== null);
  for (const sent of chunksOf([...decided, ...claimed], SENDS_AT_ONCE)) {
    await Promise.all(
      sent.map((row) =>
        sendEvent(
          env,
          // The cron waits for it.
          () => undefined,
          { ...row.held, id: row.eventId ?? '', ...(row.shard ? { shard: row.shard } : {}) },
          false,
        ),
      ),
    );
    const keys = JSON.stringify(sent.map((row) => [row.applicationId, row.store, row.notificationId]));
    await retryTransient(() =>
      db.run(sql`UPDATE ${storeNotifications} SET held = NULL
        WHERE (${columnList(key)}) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${keys}))`),
    );
  }
}

type Decided = HeldRow & { eventId: string; shard: number };

/** The rows whose counter is known, with it. */
async function decide(env: Env, rows: readonly HeldRow[], now: number): Promise<Decided[]> {
  const decided: Decided[] = [];
  for (const [id, own] of Map.groupBy(rows, (row) => row.applicationId)) {
    const shards = own[0]?.shards ?? 1;
    const transactions = [...new Set(own.flatMap((row) => transactionsOf(row.held)))];
    const known = await shardsOfPurchases(env, { id, shards }, transactions).catch((error) => {
      // Those of other applications do not wait for it.
      logWarning('counters of held notifications not asked', error, { application_id: id });
    });
    if (!known) continue;
    for (const row of own) {
      const names = transactionsOf(row.held);
      const found = names.map((name) => known.get(name)).find((one) => one !== undefined);
      const isBack = row.held.status === 'refunded' || row.held.status === 'refund_reversed';
      const isOver = !isBack && row.receivedAt < now - PAYMENT_WAITS_MS;
      // All payments of a subscription without a device are in one counter.
      const of = found ?? (isOver ? homeShard(names.at(-1) ?? '', shards) : undefined);
      // The id is new, because counters forget old ones.
      if (of !== undefined) decided.push({ ...row, eventId: newId('evt'), shard: of });
    }
  }
  return decided;
}

/** Stores what was decided, with the id of its event. Returns the rows that no other run had decided before. */
async function claim(db: Database, decided: readonly Decided[]): Promise<Decided[]> {
  if (decided.length === 0) return [];
  const claims = decided.map((row) => [
    ...[row.applicationId, row.store, row.notificationId],
    ...[row.eventId, row.shard],
  ]);
  const named = key.map((column, place) => sql`${column} = value ->> ${sql.raw(String(place))}`);
  const rows = await retryTransient(() =>
    db.all<{ event_id: string }>(
      sql`UPDATE ${storeNotifications} SET event_id = value ->> 3, shard = value ->> 4, reason = NULL
        FROM json_each(${JSON.stringify(claims)}) WHERE ${and(sql`${eventId} IS NULL`, ...named)} RETURNING event_id`,
    ),
  );
  const own = new Set(rows.map((row) => row.event_id));
  return decided.filter((row) => own.has(row.eventId));
}
