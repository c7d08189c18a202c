import { and, eq, sql } from 'drizzle-orm';
import * as z from 'zod';
import { counterOf, retryCall } from '#counting';
import { adsets, campaigns, creatives, database, tokens } from '#db';
import { settingsOf } from '#env';
import { AppError, accessDenied } from '#http';
import { time } from '#http/answers';
import { readToken, type TokenClaims } from './token.ts';

/** The answer of `/verify-token`. */
export const VerifiedToken = z.object({
  success: z.literal(true),
  valid: z.literal(true),
  created_at: time(),
  expires_at: time(),
  creative: z
    .object({ name: z.string(), campaign: z.string(), adset: z.string() })
    .nullable()
    .meta({ description: 'The creative that the device is attributed to. Null for an organic device.' }),
  deep_link: z.string().optional().meta({ description: "The creative's deep link, if it has one." }),
});
export type VerifiedToken = z.input<typeof VerifiedToken>;

const invalid = (message: string) =>
  new AppError('invalid_request', message, { details: [{ path: 'token', message }] });

export const tokenRequired = () => invalid('Token is required');

const readDevice = (env: Env, { applicationId, shard, deviceId }: TokenClaims) =>
  retryCall(() => counterOf(env, applicationId, shard).readDevice(deviceId));

/**
 * Looks up a token. It must be genuine, belong to this application, and be neither expired, revoked nor an erased device's.
 * Throws `invalid_request` or, for another application's token, `forbidden`.
 */
export async function verifyToken(
  env: Env,
  applicationId: string,
  token: string,
  now: number,
): Promise<VerifiedToken> {
  const claims = await readToken(token, settingsOf(env).TOKEN_SECRET);
  if (!claims) throw invalid('Invalid token');
  if (claims.applicationId !== applicationId) throw accessDenied();
  if (claims.expiresAt <= now) throw invalid('Invalid token');
  const settled = claims.creditOpen ? await readDevice(env, claims) : null;
  // The token contains the creative, unless the credit was open.
  const creativeId = claims.creditOpen ? settled?.creativeId : claims.creativeId;
  const { row, creative } = await findRows(env, claims, creativeId ?? '');
  if (row && row.revokedAt !== null) throw invalid('Invalid token');
  // A row is kept for `TOKEN_ROW_DAYS`, that of a revoked token until its end. The counter knows a device until it is erased.
  if (!row && !settled && !(await readDevice(env, claims))) throw invalid('Invalid token');
  const { name, campaign, adset, deepLink } = creative ?? {};
  return {
    success: true,
    valid: true,
    created_at: new Date(claims.createdAt).toISOString(),
    expires_at: new Date(claims.expiresAt).toISOString(),
    creative: name && campaign && adset ? { name, campaign, adset } : null,
    ...(deepLink ? { deep_link: deepLink } : {}),
  };
}

/** The token's row, if it has one, and its creative, in one round trip. */
async function findRows(env: Env, { deviceId, tokenId }: TokenClaims, creativeId: string) {
  const db = database(env.DB);
  const [[row], [creative]] = await db.batch([
    db
      .select({ revokedAt: tokens.revokedAt })
      .from(tokens)
      .where(and(eq(tokens.deviceId, deviceId), eq(tokens.id, tokenId))),
    db
      .select({
        name: creatives.name,
        deepLink: creatives.deepLink,
        // In a batch, columns of one name would be one.
        campaign: sql<string>`${campaigns.name}`.as('campaign'),
        adset: sql<string>`${adsets.name}`.as('adset'),
      })
      .from(creatives)
      .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
      .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
      .where(eq(creatives.id, creativeId)),
  ]);
  return { row, creative };
}
