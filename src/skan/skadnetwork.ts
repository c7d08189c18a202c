import * as z from 'zod';
import { AppError, invalidRequest } from '#http';
import { derToRaw, verifyEs256 } from '#lib/ecdsa';
import { fromBase64 } from '#lib/encoding/base64url';
import { appleKey, SKADNETWORK_KEY } from './apple-keys.ts';
import {
  appStoreId,
  type Postback,
  postbackText,
  readFields,
  trueOrFalse,
  values,
  wholeNumber,
} from './postback.ts';

/** Apple joins the values of the signed fields with this invisible character. Absent optional fields are left out. */
const SEPARATOR = '\u2063';

const OLD = ['version', 'ad-network-id', 'campaign-id', 'app-id', 'transaction-id', 'redownload'] as const;
const CURRENT = [
  'version',
  'ad-network-id',
  'source-identifier',
  'app-id',
  'transaction-id',
  'redownload',
] as const;

/**
 * The signed fields of each version, in their order. The values are not signed in any version. Source: developer.apple.com,
 * "Combining parameters for SKAdNetwork postbacks".
 */
const SIGNED_FIELDS = {
  '2.1': [...OLD, 'source-app-id'],
  '2.2': [...OLD, 'source-app-id', 'fidelity-type'],
  '3.0': [...OLD, 'source-app-id', 'fidelity-type', 'did-win'],
  '4.0': [
    ...CURRENT,
    ...(['source-app-id', 'source-domain', 'fidelity-type', 'did-win', 'postback-sequence-index'] as const),
  ],
} as const;
type Version = keyof typeof SIGNED_FIELDS;
const SKAN_VERSIONS = Object.keys(SIGNED_FIELDS) as [Version, ...Version[]];

const fields = () => ({
  'ad-network-id': postbackText(255),
  'campaign-id': wholeNumber(1e9).transform(String),
  'source-identifier': postbackText(16).regex(/^\d+$/, 'must be digits'),
  'app-id': appStoreId(),
  'transaction-id': postbackText(),
  redownload: trueOrFalse(),
  'source-app-id': appStoreId().optional(),
  // A domain has a letter, so that an app's id cannot pose as one: the signed text names no fields.
  'source-domain': postbackText(255).regex(/[a-z]/i, 'must be a domain').optional(),
  'fidelity-type': wholeNumber(1),
  'did-win': trueOrFalse(),
  'postback-sequence-index': wholeNumber(2),
});

type PostbackFields = ReturnType<typeof fields>;
/** Typed as if a version could have any of the fields. */
type SomeFields = { [Name in keyof PostbackFields]: z.ZodOptional<PostbackFields[Name]> };

/** The schema of a version: its signed fields, the signature, and the values. */
function schemaOf(version: Version) {
  const all = fields();
  const own = SIGNED_FIELDS[version].filter((name) => name !== 'version').map((name) => [name, all[name]]);
  return z.object({
    ...(Object.fromEntries(own) as SomeFields),
    version: z.literal(version),
    'attribution-signature': postbackText(256),
    ...values(),
  });
}

/** Refuses versions that cannot be verified by their names. */
function versionOf(body: unknown): Version {
  const { version } = readFields(
    z.looseObject({ version: z.string({ error: 'must be text' }).default('1.0') }),
    body,
  );
  if (version === '1.0' || version === '2.0') {
    throw refuseVersion(
      `${version} is signed with a P-192 key, which cannot be verified here; ads of SKAdNetwork 2.1 and later are accepted`,
    );
  }
  const known = SKAN_VERSIONS.find((one) => one === version);
  if (!known) throw refuseVersion(`must be one of ${SKAN_VERSIONS.join(', ')}`);
  return known;
}
const refuseVersion = (message: string) => invalidRequest([{ path: 'version', message }]);

export const badSignature = () =>
  new AppError('invalid_request', "The signature is not Apple's, or a signed field was changed");

/**
 * Reads a SKAdNetwork postback and verifies Apple's signature. Throws `invalid_request` for an unknown version, a malformed field, or a
 * signature that does not verify.
 */
export async function readSkanPostback(body: unknown): Promise<Postback> {
  const version = versionOf(body);
  const read = readFields(schemaOf(version), body);
  const signed = SIGNED_FIELDS[version].map((name) => read[name]).filter((value) => value !== undefined);
  const der = fromBase64(read['attribution-signature']);
  const signature = der && derToRaw(der);
  const message = new TextEncoder().encode(signed.join(SEPARATOR));
  const key = await appleKey(SKADNETWORK_KEY);
  if (!key || !signature || !(await verifyEs256(key, signature, message))) throw badSignature();
  const sourceApp = read['source-app-id'] ?? null;
  return {
    framework: 'skadnetwork',
    version,
    transactionId: read['transaction-id'] ?? '',
    sequence: read['postback-sequence-index'] ?? 0,
    appId: read['app-id'] ?? '',
    network: read['ad-network-id'] ?? '',
    sourceIdentifier: read['source-identifier'] ?? read['campaign-id'] ?? '',
    sourceApp: sourceApp ?? read['source-domain'] ?? null,
    fidelity: read['fidelity-type'] ?? null,
    conversion: read.redownload ? 'redownload' : 'download',
    // Before 3.0, only the winning ad's network got a postback.
    didWin: read['did-win'] ?? true,
    // The id of a source app that is signed for development.
    test: sourceApp === '0',
    fine: read['conversion-value'] ?? null,
    coarse: read['coarse-conversion-value'] ?? null,
    country: null,
    interaction: null,
  };
}
