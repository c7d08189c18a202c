import { and, eq, gt, isNull } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import { apiKeys, type Database } from '#db';
import { decryptText } from '#lib/crypto';
import { HOUR_MS } from '#lib/time';
import { makeApiKey } from './api-key.ts';
import { type ApplicationRow, applicationNotFound, nameOf } from './own-application.ts';

/** Replaces the application's API key. The previous key works until the grace period ends; older ones keep their expiry. */
export async function replaceApiKey(
  caller: Caller,
  application: ApplicationRow,
  graceHours: number,
  encryptionSecret: string,
): Promise<string> {
  const { db, now } = caller;
  const { apiKey, row } = await makeApiKey(application.id, encryptionSecret, now);
  await db.batch([
    db
      .update(apiKeys)
      .set({ expiresAt: now + graceHours * HOUR_MS })
      .where(and(eq(apiKeys.applicationId, application.id), isNull(apiKeys.expiresAt))),
    db.insert(apiKeys).values(row),
    auditStatement(caller, 'api_key.regenerated', `${nameOf(application)}, grace ${graceHours} h`),
  ]);
  return apiKey;
}

/** Returns the application's current API key. The audit log records it before it is shown. */
export async function revealApiKey(
  caller: Caller,
  application: ApplicationRow,
  encryptionSecret: string,
): Promise<string> {
  const { db } = caller;
  const [, found] = await db.batch([
    auditStatement(caller, 'api_key.shown', nameOf(application)),
    db
      .select({ encrypted: apiKeys.encrypted })
      .from(apiKeys)
      .where(and(eq(apiKeys.applicationId, application.id), isNull(apiKeys.expiresAt))),
  ]);
  const [row] = found;
  if (!row) throw applicationNotFound();
  const apiKey = await decryptText(encryptionSecret, row.encrypted);
  if (apiKey === null) throw new Error('the API key was encrypted under another secret');
  return apiKey;
}

/** Earlier keys of an application that still work, each with its expiry (epoch milliseconds). */
export async function listKeysInGrace(db: Database, application: ApplicationRow, now: number) {
  return db
    .select({ expiresAt: apiKeys.expiresAt })
    .from(apiKeys)
    .where(and(eq(apiKeys.applicationId, application.id), gt(apiKeys.expiresAt, now)));
}
