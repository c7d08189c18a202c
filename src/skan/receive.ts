import { and, asc, desc, eq, inArray, isNotNull, lt, or, type SQL, sql } from 'drizzle-orm';
import {
  applications,
  type Database,
  database,
  deleteSome,
  excluded,
  POSTBACK_DAYS,
  retryTransient,
  skanPostbacks,
  teams,
} from '#db';
import { DAY_MS, dayIn } from '#lib/time';
import { findByAppStoreId, finishMove, refreshAppStoreIds } from '#teams';
import type { Postback } from './postback.ts';

/**
 * Stores a verified postback for the application that has its App Store id, or without one if there is none yet. Idempotent: the first copy
 * of a (transaction id, sequence) stays as it is. Further ones are counted as repeats, and as conflicts if their values differ: Apple signs
 * no values, so whoever saw a postback could send it again with others.
 */
export async function storePostback(d1: D1Database, postback: Postback, now: number): Promise<void> {
  const db = database(d1);
  const application = await retryTransient(() => findByAppStoreId(db, postback.appId));
  const { transactionId, sequence, test, repeats, conflicts, fine, coarse } = skanPostbacks;
  const isOther = sql`(${fine} IS NOT ${excluded(fine)} OR ${coarse} IS NOT ${excluded(coarse)})`;
  const row = {
    ...postback,
    applicationId: application?.id ?? '',
    receivedAt: now,
    day: dayIn(application?.timezone ?? 'UTC', now),
  };
  await retryTransient(() =>
    db
      .insert(skanPostbacks)
      .values(row)
      .onConflictDoUpdate({
        target: [transactionId, sequence, test],
        set: { repeats: sql`${repeats} + 1`, conflicts: sql`${conflicts} + ${isOther}` },
      }),
  );
}

const LISTED = 20;

/**
 * The newest postbacks of an application, tests included, and those of apps that no application has if the deployment has a single team: they belong
 * to nobody yet.
 */
export async function listPostbacks(db: Database, application: string) {
  const newest = (owner: string, isTest: boolean, more?: SQL) =>
    db
      .select()
      .from(skanPostbacks)
      .where(and(eq(applicationId, owner), eq(test, isTest), more))
      .orderBy(desc(receivedAt))
      .limit(LISTED);
  const lists = await db.batch([
    newest(application, false),
    newest(application, true),
    newest('', false, isOneTeam),
    newest('', true, isOneTeam),
  ]);
  return lists
    .flat()
    .sort((left, right) => right.receivedAt - left.receivedAt)
    .slice(0, LISTED);
}

/** How long a postback waits for its application, and how long a test is kept. */
const KEPT_MS = 30 * DAY_MS;
const AT_ONCE = 1_000;
const ROUNDS = 10;

const { applicationId, transactionId, sequence, test, receivedAt } = skanPostbacks;
const key = [transactionId, sequence, test];

/** Spelled as in the index `skan_postbacks_passing`. */
const isPassing = sql`(application_id = '' OR test = 1)`;
const unclaimed = sql`${applicationId} = ''`;

const isOwners = sql`${applications.confirmedAppStoreId} = ${applications.appStoreId}`;
const isOneTeam = sql`(SELECT count(*) FROM ${teams}) = 1`;

/**
 * Gives postbacks to the application that has their App Store id by now: those that wait, unless several teams share the deployment and its owner
 * has not confirmed the application, and those of an app that was moved. A bounded number at once: the next call continues.
 */
export async function assignPostbacks(db: Database): Promise<void> {
  await assignAll(db, and(isPassing, unclaimed, or(isOwners, isOneTeam)));
  const { id, appStoreIdFrom } = applications;
  const moving = await db
    .select({ id, from: appStoreIdFrom })
    .from(applications)
    .where(isNotNull(appStoreIdFrom));
  for (const { id: to, from } of moving) {
    if (await assignAll(db, and(eq(applicationId, from ?? ''), eq(id, to)))) await finishMove(db, to);
  }
}

/** Returns whether nothing is left. */
async function assignAll(db: Database, which: SQL | undefined): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    if ((await assign(db, which)) < AT_ONCE) return true;
  }
  return false;
}

/** `assignPostbacks`, then deletes tests and what is still without an application after 30 days, and others after `POSTBACK_DAYS`. */
export async function keepPostbacks(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  await refreshAppStoreIds(db);
  await assignPostbacks(db);
  await deleteAll(db, and(isPassing, lt(receivedAt, now - KEPT_MS)));
  await deleteAll(
    db,
    and(
      // By application, so that an index finds the oldest.
      inArray(applicationId, db.select({ id: applications.id }).from(applications)),
      eq(test, false),
      lt(receivedAt, now - POSTBACK_DAYS * DAY_MS),
    ),
  );
}

async function deleteAll(db: Database, which: SQL | undefined): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    if ((await deleteSome(db, skanPostbacks, which, AT_ONCE)) < AT_ONCE) return;
  }
}

/** Returns how many it found, at most 1,000. */
async function assign(db: Database, which: SQL | undefined): Promise<number> {
  const rows = await db
    .select({
      ...{ transactionId, sequence, test, receivedAt, from: applicationId },
      id: applications.id,
      timezone: applications.timezone,
    })
    .from(skanPostbacks)
    .innerJoin(applications, eq(applications.appStoreId, skanPostbacks.appId))
    .where(which)
    .orderBy(asc(receivedAt))
    .limit(AT_ONCE);
  const assigned = rows.map((row) => [
    ...[row.transactionId, row.sequence, Number(row.test), row.from],
    ...[row.id, dayIn(row.timezone, row.receivedAt)],
  ]);
  if (assigned.length === 0) return 0;
  const named = [...key, applicationId].map(
    (column, place) => sql`${column} = value ->> ${sql.raw(String(place))}`,
  );
  await retryTransient(() =>
    db.run(sql`UPDATE ${skanPostbacks} SET application_id = value ->> 4, day = value ->> 5
      FROM json_each(${JSON.stringify(assigned)})
      WHERE ${and(...named)}`),
  );
  return assigned.length;
}
