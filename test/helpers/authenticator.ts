import { toBase64Url } from '#lib/encoding/base64url';
import { ORIGIN } from './person.ts';

// A passkey as a browser would use it: WebAuthn with an ES256 key and no attestation. Source: https://www.w3.org/TR/webauthn-3/

const join = (...parts: (Uint8Array | number[])[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(parts.flatMap((part) => [...part]));
const text = (value: string) => join(new TextEncoder().encode(value));
const hash = async (bytes: Uint8Array<ArrayBuffer>) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

type Cbor = number | string | Uint8Array | Map<number | string, Cbor>;

/** CBOR with lengths below 65,536. */
function cbor(value: Cbor): Uint8Array {
  const head = (major: number, size: number) => {
    if (size < 24) return [(major << 5) | size];
    return size < 256 ? [(major << 5) | 24, size] : [(major << 5) | 25, size >> 8, size & 255];
  };
  if (typeof value === 'number') return join(value < 0 ? head(1, -1 - value) : head(0, value));
  if (typeof value === 'string') return join(head(3, text(value).length), text(value));
  if (value instanceof Uint8Array) return join(head(2, value.length), value);
  return join(head(5, value.size), ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)]));
}

/** An ECDSA signature in DER, as authenticators write it. */
function toDer(raw: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array) => {
    const start = bytes.findIndex((byte) => byte !== 0);
    const short = bytes.slice(start);
    const body = (short[0] ?? 0) > 127 ? join([0], short) : short;
    return join([2, body.length], body);
  };
  const parts = join(integer(raw.slice(0, 32)), integer(raw.slice(32)));
  return join([0x30, parts.length], parts);
}

const PRESENT = 1;
const VERIFIED = 4;
const ATTESTED = 64;

export type Challenge = { challenge: string };

export async function createAuthenticator({ verifiesUser = true }: { verifiesUser?: boolean } = {}) {
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const { publicKey, privateKey } = keys as CryptoKeyPair;
  const point = new Uint8Array((await crypto.subtle.exportKey('raw', publicKey)) as ArrayBuffer);
  const id = crypto.getRandomValues(new Uint8Array(16));
  const rpId = await hash(text(new URL(ORIGIN).hostname));
  const flags = PRESENT | (verifiesUser ? VERIFIED : 0);
  const clientData = (type: string, { challenge }: Challenge) =>
    text(JSON.stringify({ type, challenge, origin: ORIGIN, crossOrigin: false }));
  const own = { id: toBase64Url(id), rawId: toBase64Url(id), type: 'public-key', clientExtensionResults: {} };

  /** The answer to the challenge for a new passkey. */
  function create(challenge: Challenge): string {
    const key = cbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, point.slice(1, 33)],
        [-3, point.slice(33)],
      ]),
    );
    const data = join(rpId, [flags | ATTESTED], [0, 0, 0, 0], new Uint8Array(16), [0, id.length], id, key);
    const attestation = cbor(
      new Map<string, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', data],
      ]),
    );
    const response = {
      clientDataJSON: toBase64Url(clientData('webauthn.create', challenge)),
      attestationObject: toBase64Url(attestation),
      transports: ['internal'],
    };
    return JSON.stringify({ ...own, response });
  }

  /** The answer to the challenge of a sign-in. */
  async function get(challenge: Challenge): Promise<string> {
    const client = clientData('webauthn.get', challenge);
    const authenticatorData = join(rpId, [flags], [0, 0, 0, 0]);
    const signed = await crypto.subtle.sign(
      { name: 'ECDSA', hash: 'SHA-256' },
      privateKey,
      join(authenticatorData, await hash(client)),
    );
    const response = {
      clientDataJSON: toBase64Url(client),
      authenticatorData: toBase64Url(authenticatorData),
      signature: toBase64Url(toDer(new Uint8Array(signed))),
    };
    return JSON.stringify({ ...own, response });
  }

  return { create, get };
}

export type Authenticator = Awaited<ReturnType<typeof createAuthenticator>>;
