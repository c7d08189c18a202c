import { and, asc, eq, gt, isNull } from 'drizzle-orm';
import * as z from 'zod';
import { apiKeys, applications, type Database, teams } from '#db';
import { AppError, requiredText } from '#http';
import { CURRENCIES } from '#lib/currencies';
import { newId } from '#lib/ids';
import { isTimezone } from '#lib/time';
import { makeApiKey } from './keys.ts';

const storeUrl = z
  .url({ protocol: /^https$/, error: 'must be an https URL' })
  .max(2048, 'must be at most 2048 characters')
  .nullable();

const windowHours = (min: number) => {
  const error = `must be a whole number from ${min} to 2160`;
  return z.number({ error }).int(error).min(min, error).max(2160, error);
};

const fields = {
  name: requiredText(255),
  timezone: requiredText(64).refine(isTimezone, 'must be an IANA time zone'),
  currency: requiredText(3)
    .toLowerCase()
    .refine((code) => CURRENCIES.has(code), 'must be an ISO 4217 code'),
  data_collection: z.boolean({ error: 'must be true or false' }),
  ios_store_url: storeUrl,
  android_store_url: storeUrl,
  fallback_url: storeUrl,
  attribution_window_hours: windowHours(1),
  probabilistic_window_hours: windowHours(0),
};

const { name, ...settings } = fields;
export const NewApplication = z.object({ name, ...z.object(settings).partial().shape });
export type NewApplication = z.infer<typeof NewApplication>;
export const ApplicationChanges = z.object(fields).partial();
export type ApplicationChanges = z.infer<typeof ApplicationChanges>;

export const NewApiKey = z.object({
  /** How long the key that this one replaces goes on working. */
  grace_hours: z
    .number({ error: 'must be a number from 0 to 72' })
    .min(0, 'must be a number from 0 to 72')
    .max(72, 'must be a number from 0 to 72')
    .default(0),
});

export type ApplicationRow = typeof applications.$inferSelect;

/** An application as the team API shows it. */
export function showApplication(row: ApplicationRow) {
  return {
    id: row.id,
    name: row.name,
    timezone: row.timezone,
    currency: row.currency,
    data_collection: row.dataCollection,
    ios_store_url: row.iosStoreUrl,
    android_store_url: row.androidStoreUrl,
    fallback_url: row.fallbackUrl,
    attribution_window_hours: row.attributionWindowHours,
    probabilistic_window_hours: row.probabilisticWindowHours,
    created_at: new Date(row.createdAt).toISOString(),
  };
}

function toColumns(changes: ApplicationChanges): Partial<ApplicationRow> {
  const columns = {
    name: changes.name,
    timezone: changes.timezone,
    currency: changes.currency,
    dataCollection: changes.data_collection,
    iosStoreUrl: changes.ios_store_url,
    androidStoreUrl: changes.android_store_url,
    fallbackUrl: changes.fallback_url,
    attributionWindowHours: changes.attribution_window_hours,
    probabilisticWindowHours: changes.probabilistic_window_hours,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

export async function createTeam(
  db: Database,
  teamName: string,
  now: number,
): Promise<{ id: string; name: string }> {
  const team = { id: newId('team'), name: teamName, createdAt: now };
  await db.insert(teams).values(team);
  return { id: team.id, name: team.name };
}

/** Creates the application and its first API key together or not at all; the key is returned this once. */
export async function createApplication(
  db: Database,
  teamId: string,
  wanted: NewApplication,
  encryptionSecret: string,
  now: number,
): Promise<{ application: ApplicationRow; apiKey: string }> {
  const id = newId('app');
  const { apiKey, row } = await makeApiKey(id, encryptionSecret, now);
  const values = { ...toColumns(wanted), id, teamId, name: wanted.name, createdAt: now };
  const [inserted] = await db.batch([
    db.insert(applications).values(values).returning(),
    db.insert(apiKeys).values(row),
  ]);
  const [application] = inserted;
  if (!application) throw new Error('the new application was not returned');
  return { application, apiKey };
}

/** One page of a team's applications, oldest first; `cursor` is the last id of the page before. */
export async function listApplications(
  db: Database,
  teamId: string,
  page: { limit: number; cursor: string },
) {
  return db
    .select()
    .from(applications)
    .where(and(eq(applications.teamId, teamId), gt(applications.id, page.cursor)))
    .orderBy(asc(applications.id))
    .limit(page.limit);
}

/** Null also for another team's application, which must not be told apart from one that does not exist. */
export async function findApplication(
  db: Database,
  teamId: string,
  id: string,
): Promise<ApplicationRow | null> {
  const [row] = await db
    .select()
    .from(applications)
    .where(and(eq(applications.id, id), eq(applications.teamId, teamId)));
  return row ?? null;
}

/** The same; throws `not_found` instead of answering null. */
export async function getApplication(db: Database, teamId: string, id: string): Promise<ApplicationRow> {
  const row = await findApplication(db, teamId, id);
  if (!row) throw new AppError('not_found', 'Application not found');
  return row;
}

/** Takes effect within 60 s everywhere: isolates remember an application that long. */
export async function changeApplication(
  db: Database,
  teamId: string,
  id: string,
  changes: ApplicationChanges,
) {
  const current = await getApplication(db, teamId, id);
  const columns = toColumns(changes);
  if (Object.keys(columns).length === 0) return current;
  const [row] = await db
    .update(applications)
    .set(columns)
    .where(and(eq(applications.id, id), eq(applications.teamId, teamId)))
    .returning();
  if (!row) throw new AppError('not_found', 'Application not found');
  return row;
}

/** Replaces the application's API key. The one before it works until the grace is over, any older one as it was set then. */
export async function replaceApiKey(
  db: Database,
  teamId: string,
  id: string,
  graceHours: number,
  encryptionSecret: string,
  now: number,
): Promise<string> {
  await getApplication(db, teamId, id);
  const { apiKey, row } = await makeApiKey(id, encryptionSecret, now);
  await db.batch([
    db
      .update(apiKeys)
      .set({ expiresAt: now + graceHours * 3_600_000 })
      .where(and(eq(apiKeys.applicationId, id), isNull(apiKeys.expiresAt))),
    db.insert(apiKeys).values(row),
  ]);
  return apiKey;
}
