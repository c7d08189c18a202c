import { and, eq, isNotNull, isNull, ne, notExists, or, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { auditStatement, type Caller } from '#audit';
import { applications, auditLog, type Database, hasRow } from '#db';
import { AppError } from '#http';
import { newId } from '#lib/ids';
import { appStoreIdOf } from '#lib/store-urls';
import { applicationNotFound, nameOf } from './own-application.ts';

/** The application with an App Store id: at most one of a deployment. */
export async function findByAppStoreId(
  db: Database,
  id: string,
): Promise<{ id: string; timezone: string } | null> {
  const [found] = await db
    .select({ id: applications.id, timezone: applications.timezone })
    .from(applications)
    .where(eq(applications.appStoreId, id));
  return found ?? null;
}

/** Whether no other application has an App Store id. */
export function isFreeInAppStore(db: Database, id: string | null | undefined, except: string): SQL {
  if (!id) return sql`true`;
  const other = alias(applications, 'other');
  return notExists(
    db
      .select({ id: other.id })
      .from(other)
      .where(and(eq(other.appStoreId, id), ne(other.id, except))),
  );
}

/**
 * Stores the App Store ids of URLs that the previous release wrote, which does not know the column. An id that another application has stays with it.
 */
export async function refreshAppStoreIds(db: Database): Promise<void> {
  const { id, iosStoreUrl, appStoreId } = applications;
  const rows = await db
    .select({ id, iosStoreUrl, appStoreId })
    .from(applications)
    .where(sql`${isNotNull(iosStoreUrl)} OR ${isNotNull(appStoreId)}`)
    .orderBy(id);
  for (const row of rows) {
    const current = appStoreIdOf(row.iosStoreUrl);
    if (current === row.appStoreId) continue;
    await db
      .update(applications)
      .set({ appStoreId: current })
      .where(and(eq(id, row.id), isFreeInAppStore(db, current, row.id)));
  }
}

const changedMeanwhile = () =>
  new AppError(
    'conflict',
    'The applications or your role changed meanwhile. Look again before you repeat it.',
  );

/**
 * Confirms that an App Store app is an application's, of whichever team, and moves it there if another one has it: that one loses its App Store
 * URL, and its postbacks of the app follow in the background. Written to the audit log of each team that it concerns. Idempotent. `mayAssign` is SQL for
 * whether the caller may do so. Throws `not_found` if no application has the app or for an unknown application, and `conflict` for an
 * application with another App Store app, and while the postbacks of an earlier move are still on their way.
 */
export async function assignAppStoreApp(
  caller: Caller,
  appStoreId: string,
  applicationId: string,
  mayAssign: SQL,
): Promise<void> {
  const { db, team } = caller;
  const { id } = applications;
  const rows = await db
    .select()
    .from(applications)
    .where(or(eq(applications.appStoreId, appStoreId), eq(id, applicationId)));
  const holder = rows.find((row) => row.appStoreId === appStoreId);
  const target = rows.find((row) => row.id === applicationId);
  if (!target) throw applicationNotFound();
  if (!holder) throw new AppError('not_found', 'No application has this App Store app');
  if (holder === target) {
    if (target.confirmedAppStoreId === appStoreId) return;
  } else {
    if (target.appStoreId !== null)
      throw new AppError('conflict', 'The application has another App Store app');
    if (holder.appStoreIdFrom !== null || target.appStoreIdFrom !== null) {
      throw new AppError(
        'conflict',
        'The postbacks of an earlier move are still on their way. Repeat it in an hour.',
      );
    }
  }
  const [action, subject] =
    holder === target
      ? (['app_store_app.confirmed', `${appStoreId}: ${nameOf(target)}`] as const)
      : (['app_store_app.moved', `${appStoreId}: ${nameOf(holder)} to ${nameOf(target)}`] as const);
  const still = and(
    mayAssign,
    hasRow(applications, and(eq(id, holder.id), eq(applications.appStoreId, appStoreId))),
    holder === target
      ? undefined
      : hasRow(applications, and(eq(id, target.id), isNull(applications.appStoreId))),
  );
  const entry = newId('aud');
  const isRecorded = hasRow(auditLog, eq(auditLog.id, entry));
  const others = [...new Set([holder.teamId, target.teamId])].filter((other) => other !== team.id);
  const url = appStoreIdOf(target.iosStoreUrl) === appStoreId ? target.iosStoreUrl : storeUrlOf(appStoreId);
  const [, , assigned] = await db.batch([
    auditStatement(caller, action, subject, still, entry),
    db
      .update(applications)
      .set({ appStoreId: null, confirmedAppStoreId: null, iosStoreUrl: null })
      .where(and(eq(id, holder.id), ne(id, target.id), isRecorded)),
    db
      .update(applications)
      .set({
        ...{ appStoreId, confirmedAppStoreId: appStoreId, iosStoreUrl: url },
        ...(holder === target ? {} : { appStoreIdFrom: holder.id }),
      })
      .where(and(eq(id, target.id), isRecorded))
      .returning({ id }),
    ...others.map((other) => auditStatement({ ...caller, team: { id: other } }, action, subject, isRecorded)),
  ]);
  if (assigned.length === 0) throw changedMeanwhile();
}

const storeUrlOf = (id: string) => `https://apps.apple.com/app/id${id}`;

/** Notes that an application's postbacks of an App Store app have followed it. */
export const finishMove = (db: Database, application: string) =>
  db.update(applications).set({ appStoreIdFrom: null }).where(eq(applications.id, application));
