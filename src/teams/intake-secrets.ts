import { and, eq, gt, isNull, or } from 'drizzle-orm';
import { auditStatement, type Caller } from '#audit';
import { type Database, intakeSecrets } from '#db';
import { newIntakeSecret } from '#lib/credentials';
import { sha256Hex } from '#lib/crypto';
import { HOUR_MS } from '#lib/time';
import { type ApplicationRow, nameOf } from './own-application.ts';

/** Makes an application's intake secret, which is returned only here. The previous one works until the grace period ends. */
export async function replaceIntakeSecret(
  caller: Caller,
  application: ApplicationRow,
  graceHours: number,
): Promise<string> {
  const { db, now } = caller;
  const secret = newIntakeSecret();
  const row = { hash: await sha256Hex(secret), applicationId: application.id, createdAt: now };
  const own = eq(intakeSecrets.applicationId, application.id);
  await db.batch([
    db
      .update(intakeSecrets)
      .set({ expiresAt: now + graceHours * HOUR_MS })
      .where(and(own, isNull(intakeSecrets.expiresAt))),
    db.insert(intakeSecrets).values(row),
    auditStatement(caller, 'intake_secret.created', `${nameOf(application)}, grace ${graceHours} h`),
  ]);
  return secret;
}

/** The intake secrets of an application that work, each with its expiry (epoch milliseconds), null for the current one. */
export async function listIntakeSecrets(db: Database, application: ApplicationRow, now: number) {
  const { applicationId, createdAt, expiresAt } = intakeSecrets;
  return db
    .select({ createdAt, expiresAt })
    .from(intakeSecrets)
    .where(and(eq(applicationId, application.id), or(isNull(expiresAt), gt(expiresAt, now))));
}
