import * as z from 'zod';
import { AppError } from '#http';
import { verifyEs256 } from '#lib/ecdsa';
import { fromBase64Url } from '#lib/encoding/base64url';
import { parseJsonBytes } from '#lib/encoding/json-bytes';
import { appleKey, isDevelopmentKey } from './apple-keys.ts';
import {
  appStoreId,
  CONVERSIONS,
  oneWord,
  type Postback,
  postbackText,
  readFields,
  trueOrFalse,
  values,
  wholeNumber,
} from './postback.ts';
import { badSignature } from './skadnetwork.ts';

const Body = z.lazy(() =>
  z.object({
    'jws-string': postbackText(8192),
    ...values(),
    'ad-interaction-type': oneWord(['click', 'view']).nullish(),
    'country-code': z
      .string()
      .regex(/^[a-z]{2}$/i, 'must be a two-letter country code')
      .nullish(),
  }),
);

const Payload = z.lazy(() =>
  z.object({
    'ad-network-identifier': postbackText(255),
    'source-identifier': postbackText(16).regex(/^\d+$/, 'must be digits'),
    'advertised-item-identifier': appStoreId(),
    'conversion-type': oneWord(CONVERSIONS),
    'postback-identifier': postbackText(),
    'did-win': trueOrFalse(),
    'postback-sequence-index': wholeNumber(2),
    'publisher-item-identifier': appStoreId().nullish(),
  }),
);

const Header = z.object({ kid: z.string(), alg: z.literal('ES256') });

/** The payload of a postback's JWS, without verification; null if there is none. */
export function unverifiedPayload(body: unknown): unknown {
  const parsed = z.looseObject({ 'jws-string': z.string() }).safeParse(body);
  return parsed.success ? parseJsonBytes(fromBase64Url(parsed.data['jws-string'].split('.')[1] ?? '')) : null;
}

/**
 * Reads an AdAttributionKit postback and verifies the JWS with the key that its header names. Postbacks signed with a development key are
 * tests. Throws `invalid_request` for a malformed field, an unknown key, or a signature that does not verify.
 */
export async function readAakPostback(body: unknown): Promise<Postback> {
  const read = readFields(Body, body);
  const [header = '', payload = '', signature = '', ...rest] = read['jws-string'].split('.');
  const named = Header.safeParse(parseJsonBytes(fromBase64Url(header)));
  if (!named.success || rest.length > 0) {
    throw new AppError(
      'invalid_request',
      'jws-string must be a JWS that is signed with ES256 and names its key',
    );
  }
  const { kid } = named.data;
  const key = await appleKey(kid);
  if (!key) throw new AppError('invalid_request', "jws-string is not signed with one of Apple's keys");
  const bytes = fromBase64Url(signature);
  const message = new TextEncoder().encode(`${header}.${payload}`);
  if (!bytes || !(await verifyEs256(key, bytes, message))) throw badSignature();
  const signed = readFields(Payload, parseJsonBytes(fromBase64Url(payload)));
  const sourceApp = signed['publisher-item-identifier'] ?? null;
  return {
    framework: 'adattributionkit',
    version: null,
    transactionId: signed['postback-identifier'],
    sequence: signed['postback-sequence-index'],
    appId: signed['advertised-item-identifier'],
    network: signed['ad-network-identifier'],
    sourceIdentifier: signed['source-identifier'],
    sourceApp,
    fidelity: null,
    conversion: signed['conversion-type'],
    didWin: signed['did-win'],
    test: isDevelopmentKey(kid),
    fine: read['conversion-value'] ?? null,
    coarse: read['coarse-conversion-value'] ?? null,
    country: read['country-code']?.toLowerCase() ?? null,
    interaction: read['ad-interaction-type'] ?? null,
  };
}
