import { X509Certificate } from 'node:crypto';
import * as z from 'zod';
import { invalidRequest } from '#http';
import { RecentMap } from '#lib/collections/recent-map';
import { importEs256Key, verifyEs256 } from '#lib/ecdsa';
import { fromBase64 } from '#lib/encoding/base64url';
import { extensionIds } from '#lib/encoding/der';
import { PINNED } from './apple-root.ts';
import { parseJws } from './jws.ts';

/** The extensions of Apple's certificates that sign for the App Store: 1.2.840.113635.100.6.11.1 and …100.6.2.1, in DER. */
const LEAF_EXTENSION = '2a864886f76364060b01';
const INTERMEDIATE_EXTENSION = '2a864886f76364060201';

const Header = z.object({ alg: z.literal('ES256'), x5c: z.array(z.string()).length(3) });

function certificate(base64: string): X509Certificate | null {
  const der = fromBase64(base64);
  try {
    return der && new X509Certificate(der);
  } catch {
    return null;
  }
}

/** A chain that leads to a root, and when all of its certificates are valid, in epoch milliseconds. */
type Chain = {
  /** The public key of the certificate that signs, in base64, and once it was needed as a key. */
  spki: string;
  key?: CryptoKey;
  validFrom: number;
  validTo: number;
};

/** Verifying a chain takes longer than its signature, and the App Store signs for months with the same. */
const MAX_REMEMBERED = 20;
/** By the root and what leads to it. Chains that are not trusted are not remembered, so that forged ones take no room. */
const remembered = new RecentMap<string, Chain>(MAX_REMEMBERED);

const isIssuedBy = (own: X509Certificate, issuer: X509Certificate): boolean =>
  own.checkIssued(issuer) && own.verify(issuer.publicKey);

function verifyChain(texts: readonly [leaf: string, intermediate: string, root: string]): Chain | null {
  const [leaf, intermediate, root] = texts.map(certificate);
  if (!leaf || !intermediate || !root) return null;
  const isTrusted =
    intermediate.ca &&
    isIssuedBy(intermediate, root) &&
    isIssuedBy(leaf, intermediate) &&
    extensionIds(leaf.raw).includes(LEAF_EXTENSION) &&
    extensionIds(intermediate.raw).includes(INTERMEDIATE_EXTENSION);
  if (!isTrusted) return null;
  const all = [leaf, intermediate, root];
  return {
    spki: leaf.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    validFrom: Math.max(...all.map(({ validFrom }) => Date.parse(validFrom))),
    validTo: Math.min(...all.map(({ validTo }) => Date.parse(validTo))),
  };
}

/**
 * The chain of the certificate that signed, if it leads to the root through one intermediate and all are valid at `now`. The third certificate
 * that was sent is ignored: whoever sends the chain could put any there. Null otherwise.
 */
export function trustedLeaf(
  [leaf = '', intermediate = '']: readonly string[],
  root: string,
  now: number,
): Chain | null {
  const name = JSON.stringify([leaf, intermediate, root]);
  let chain = remembered.get(name) ?? null;
  if (chain === null) {
    chain = verifyChain([leaf, intermediate, root]);
    if (chain) remembered.set(name, chain);
  }
  return chain && chain.validFrom <= now && now <= chain.validTo ? chain : null;
}

/** A fault of what Apple's servers are meant to have sent. */
export const refuse = (message: string) => invalidRequest([{ path: 'signedPayload', message }]);

/** Why certificates are not trusted: an expired one is told apart, because a service may still send what it signed before. */
function chainFault(chain: readonly string[], now: number): string {
  const isCurrent = chain
    .slice(0, 2)
    .map(certificate)
    .every((one) => one === null || (Date.parse(one.validFrom) <= now && now <= Date.parse(one.validTo)));
  return isCurrent
    ? 'has certificates that do not lead to Apple Root CA - G3'
    : 'has a certificate that is expired or not valid yet';
}

/**
 * The payload of a JWS that the App Store signed. Throws `invalid_request` if its certificates do not lead to `root`, if one of them is not valid at
 * `now` (epoch milliseconds), or if the signature is not theirs. Revocation is not checked.
 */
export async function verifyAppStoreJws(
  text: string,
  { root = PINNED.root, now }: { root?: string; now: number },
): Promise<unknown> {
  const jws = parseJws(text);
  if (!jws) throw refuse('is not a JWS');
  const header = Header.safeParse(jws.header);
  if (!header.success) throw refuse('must be signed with ES256, and its header x5c have three certificates');
  const chain = trustedLeaf(header.data.x5c, root, now);
  if (!chain) throw refuse(chainFault(header.data.x5c, now));
  chain.key ??= await importEs256Key(chain.spki);
  if (!(await verifyEs256(chain.key, jws.signature, jws.signed)))
    throw refuse('has a signature that is not Apple’s');
  return jws.payload;
}
