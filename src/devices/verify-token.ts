import { and, eq } from 'drizzle-orm';
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

async function settledCreative(env: Env, { applicationId, shard, deviceId }: TokenClaims) {
  const device = await retryCall(() => counterOf(env, applicationId, shard).readDevice(deviceId));
  return device?.creativeId ?? null;
}

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
  // The token contains the creative, unless the credit was open. Its row exists as long as the device does.
  const creativeId = claims.creditOpen ? await settledCreative(env, claims) : claims.creativeId;
  const [row] = await database(env.DB)
    .select({
      revokedAt: tokens.revokedAt,
      name: creatives.name,
      deepLink: creatives.deepLink,
      campaign: campaigns.name,
      adset: adsets.name,
    })
    .from(tokens)
    .leftJoin(creatives, eq(creatives.id, creativeId ?? ''))
    .leftJoin(adsets, eq(adsets.id, creatives.adsetId))
    .leftJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .where(and(eq(tokens.deviceId, claims.deviceId), eq(tokens.id, claims.tokenId)));
  if (!row || row.revokedAt !== null) throw invalid('Invalid token');
  const { name, campaign, adset, deepLink } = row;
  return {
    success: true,
    valid: true,
    created_at: new Date(claims.createdAt).toISOString(),
    expires_at: new Date(claims.expiresAt).toISOString(),
    creative: name === null || campaign === null || adset === null ? null : { name, campaign, adset },
    ...(deepLink === null ? {} : { deep_link: deepLink }),
  };
}
