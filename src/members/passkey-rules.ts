import { and, eq } from 'drizzle-orm';
import { type Database, passkeys } from '#db';

/**
 * Throws what better-auth takes for a refused sign-in unless a passkey stands for both factors: whoever used it was recognized by its device, by a
 * fingerprint or PIN, and adding it is in the audit log.
 */
export async function requireFullPasskey(
  db: Database,
  credentialId: string,
  { userVerified }: { userVerified: boolean },
): Promise<void> {
  const [known] = await db
    .select({ id: passkeys.id })
    .from(passkeys)
    .where(and(eq(passkeys.credentialID, credentialId), eq(passkeys.confirmed, true)));
  if (known && userVerified) return;
  const { APIError } = await import('better-auth/api');
  throw new APIError('UNAUTHORIZED');
}
