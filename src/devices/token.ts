import { RecentMap } from '#lib/collections/recent-map';
import { hmac, verifyHmac } from '#lib/crypto';
import { fromBase64Url, toBase64Url } from '#lib/encoding/base64url';
import { idFromBytes, idToBytes } from '#lib/ids';
import { dayFromNumber, dayNumber } from '#lib/time';

/** What a token says about its device, so that `/webhook` needs no database lookup. */
export type TokenClaims = {
  tokenId: string;
  applicationId: string;
  deviceId: string;
  /** Null for an organic install. */
  creativeId: string | null;
  /** Day 0 (`YYYY-MM-DD`), in the application's time zone at the time of issue. */
  acquiredDay: string;
  /** The number of the counter that the device is in, 0 to 63. */
  shard: number;
  /** Whether the device's credit was not settled yet at the time of issue, so that its creative may be another now. */
  creditOpen?: boolean;
  /** Epoch milliseconds, whole seconds. */
  createdAt: number;
  expiresAt: number;
};

// version | token, application, device, creative (16 bytes each) | acquired day (int32) | issued, expires (uint32 seconds) | shard (byte)
const VERSION = 1;
/** Of a token that was issued while the credit was open. */
const VERSION_OPEN = 2;
const OFFSET = {
  token: 1,
  application: 17,
  device: 33,
  creative: 49,
  acquiredDay: 65,
  createdAt: 69,
  expiresAt: 73,
  shard: 77,
};
const LENGTH = 78;
const NO_CREATIVE = idFromBytes('crt', new Uint8Array(16));

/** Signs claims into an opaque URL-safe text of 148 characters: `base64url(claims) . base64url(HMAC)`. */
export async function signToken(claims: TokenClaims, secret: string): Promise<string> {
  const bytes = new Uint8Array(LENGTH);
  const view = new DataView(bytes.buffer);
  bytes[0] = claims.creditOpen ? VERSION_OPEN : VERSION;
  bytes.set(idToBytes(claims.tokenId), OFFSET.token);
  bytes.set(idToBytes(claims.applicationId), OFFSET.application);
  bytes.set(idToBytes(claims.deviceId), OFFSET.device);
  if (claims.creativeId) bytes.set(idToBytes(claims.creativeId), OFFSET.creative);
  view.setInt32(OFFSET.acquiredDay, dayNumber(claims.acquiredDay));
  view.setUint32(OFFSET.createdAt, Math.floor(claims.createdAt / 1000));
  view.setUint32(OFFSET.expiresAt, Math.floor(claims.expiresAt / 1000));
  bytes[OFFSET.shard] = claims.shard;
  const signature = await hmac(secret, bytes);
  return `${toBase64Url(bytes)}.${toBase64Url(signature)}`;
}

// A device sends its events in bursts, and verifying a signature takes a tenth of the time of a webhook, so recently verified tokens are
// cached, in at most some 10 MB. A token never changes; its application and expiry are checked each time.
const MAX_REMEMBERED = 20_000;
const genuine = new RecentMap<string, { secret: string; claims: TokenClaims }>(MAX_REMEMBERED);

/** The claims of a token that this deployment signed, expired or not; null for anything else. */
export async function readToken(token: string, secret: string): Promise<TokenClaims | null> {
  const remembered = genuine.get(token);
  if (remembered?.secret === secret) return remembered.claims;
  const claims = await checkToken(token, secret);
  if (!claims) return null;
  genuine.set(token, { secret, claims });
  return claims;
}

/**
 * Events are accepted until this time: for as long after the token's expiry as it was valid. Clients keep a token for ever, and its
 * signature still identifies the device.
 */
export const takesEventsUntil = ({ createdAt, expiresAt }: Pick<TokenClaims, 'createdAt' | 'expiresAt'>) =>
  2 * expiresAt - createdAt;

async function checkToken(token: string, secret: string): Promise<TokenClaims | null> {
  const [encoded = '', signed = '', ...rest] = token.split('.');
  const bytes = fromBase64Url(encoded);
  const signature = fromBase64Url(signed);
  if (!bytes || !signature || rest.length > 0) return null;
  if (bytes.length !== LENGTH || (bytes[0] !== VERSION && bytes[0] !== VERSION_OPEN)) return null;
  if (!(await verifyHmac(secret, bytes, signature))) return null;
  const view = new DataView(bytes.buffer);
  const creativeId = idFromBytes('crt', bytes, OFFSET.creative);
  return {
    tokenId: idFromBytes('tok', bytes, OFFSET.token),
    applicationId: idFromBytes('app', bytes, OFFSET.application),
    deviceId: idFromBytes('dev', bytes, OFFSET.device),
    creativeId: creativeId === NO_CREATIVE ? null : creativeId,
    acquiredDay: dayFromNumber(view.getInt32(OFFSET.acquiredDay)),
    shard: view.getUint8(OFFSET.shard),
    ...(bytes[0] === VERSION_OPEN ? { creditOpen: true } : {}),
    createdAt: view.getUint32(OFFSET.createdAt) * 1000,
    expiresAt: view.getUint32(OFFSET.expiresAt) * 1000,
  };
}
