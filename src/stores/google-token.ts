import * as z from 'zod';
import { HOUR_MS } from '#lib/time';
import { parseJws } from './jws.ts';

// The token with which Google Cloud Pub/Sub signs a push. Source: docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions

export const GOOGLE_KEYS_URL = 'https://www.googleapis.com/oauth2/v3/certs';

const ISSUERS = ['https://accounts.google.com', 'accounts.google.com'];
/** Clocks may differ by this. */
const SKEW_MS = 60_000;
const KEYS_LAST_MS = HOUR_MS;
/** A token may name any key, so keys are not fetched again for each that is unknown. */
const FETCH_AGAIN_AFTER_MS = 60_000;

const Key = z.object({ kid: z.string(), kty: z.literal('RSA'), n: z.string(), e: z.string() });
const Keys = z.object({ keys: z.array(z.unknown()) });
const Header = z.object({ alg: z.literal('RS256'), kid: z.string() });
const Claims = z.object({
  iss: z.enum(ISSUERS),
  aud: z.string(),
  email: z.string(),
  email_verified: z.literal(true),
  exp: z.number(),
  iat: z.number(),
});

const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

/**
 * Google's public keys, kept for an hour. `load` fetches the document at `GOOGLE_KEYS_URL`: when there are none, and once a minute for tokens that name
 * a key which is not among them.
 */
export class GoogleKeys {
  private readonly load: () => Promise<unknown>;
  private keys = new Map<string, CryptoKey>();
  private fetchedAt = Number.NEGATIVE_INFINITY;

  constructor(load: () => Promise<unknown>) {
    this.load = load;
  }

  /**
   * The key of an id; null if Google has none. Throws if the keys could not be fetched. Requests that find none at the same time each fetch them: one
   * cannot wait for the work of another, which ends with that.
   */
  async find(kid: string, now: number): Promise<CryptoKey | null> {
    const age = now - this.fetchedAt;
    const known = age < KEYS_LAST_MS ? this.keys.get(kid) : undefined;
    if (known) return known;
    if (age >= FETCH_AGAIN_AFTER_MS) {
      this.keys = await importKeys(await this.load());
      this.fetchedAt = now;
    }
    return this.keys.get(kid) ?? null;
  }
}

async function importKeys(document: unknown): Promise<Map<string, CryptoKey>> {
  const keys = Keys.parse(document).keys.flatMap((key) => Key.safeParse(key).data ?? []);
  const imported = keys.map(async ({ kid, kty, n, e }) => {
    const key = await crypto.subtle.importKey('jwk', { kty, n, e }, RSA, false, ['verify']);
    return [kid, key] as const;
  });
  return new Map(await Promise.all(imported));
}

/**
 * Whether a push comes from the expected subscription: the token is Google's, valid at `now` (epoch milliseconds), and for this audience and
 * service account. Anyone can have Google sign a token for an audience, so the account is checked as well.
 */
export async function verifyGoogleToken(
  token: string,
  expected: { audience: string; email: string },
  keys: GoogleKeys,
  now: number,
): Promise<boolean> {
  const jws = parseJws(token);
  const header = Header.safeParse(jws?.header);
  const claims = Claims.safeParse(jws?.payload);
  if (!jws || !header.success || !claims.success) return false;
  const { aud, email, exp, iat } = claims.data;
  const isMeant = aud === expected.audience && email === expected.email;
  const isCurrent = now < exp * 1000 + SKEW_MS && iat * 1000 <= now + SKEW_MS;
  if (!isMeant || !isCurrent) return false;
  const key = await keys.find(header.data.kid, now);
  return key !== null && crypto.subtle.verify(RSA.name, key, jws.signature, jws.signed);
}
