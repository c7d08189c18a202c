import { fromBase64Url, toBase64Url } from './encoding/base64url.ts';
import { toHex } from './encoding/hex.ts';

const encoder = new TextEncoder();

/** 32 random bytes as base64url: 256 bits, 43 characters. */
export function randomSecret(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/** SHA-256 as lower-case hex. For high-entropy secrets only: it is too fast for passwords. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(text));
  return toHex(new Uint8Array(digest));
}

// While a secret is rotated, it is several texts, separated by spaces: the first signs and encrypts, and each verifies and decrypts.

/** The texts of a secret, the newest first. */
export const secretsIn = (secret: string): string[] => secret.split(' ').filter((one) => one !== '');

const newestOf = (secret: string): string => secretsIn(secret)[0] ?? secret;

// Importing a key costs more than using it, every request needs one, and an isolate sees only a handful of secrets.
const hmacKeys = new Map<string, CryptoKey>();

async function importHmacKey(secret: string): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const usages = ['sign', 'verify'];
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, usages);
  hmacKeys.set(secret, key);
  return key;
}

const hmacKeyOf = (secret: string): CryptoKey | Promise<CryptoKey> =>
  hmacKeys.get(secret) ?? importHmacKey(secret);

async function aesKeyOf(secret: string): Promise<CryptoKey> {
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(secret));
  return crypto.subtle.importKey('raw', digest, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

/** HMAC-SHA-256 with the newest secret, 32 bytes. */
export async function hmac(secret: string, message: Uint8Array | string): Promise<Uint8Array> {
  const data = typeof message === 'string' ? encoder.encode(message) : message;
  const key = await hmacKeyOf(newestOf(secret));
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, data));
}

/** Compares in constant time (WebCrypto's own verification). */
export async function verifyHmac(
  secret: string,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  for (const one of secretsIn(secret)) {
    if (await crypto.subtle.verify('HMAC', await hmacKeyOf(one), signature, message)) return true;
  }
  return false;
}

/** AES-256-GCM under SHA-256(newest secret): base64url of a random 12-byte nonce and the ciphertext with its tag. */
export async function encryptText(secret: string, plain: string): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const key = await aesKeyOf(newestOf(secret));
  const cipher = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, key, encoder.encode(plain));
  const joined = new Uint8Array(nonce.length + cipher.byteLength);
  joined.set(nonce);
  joined.set(new Uint8Array(cipher), nonce.length);
  return toBase64Url(joined);
}

/** Returns null if the text was tampered with or encrypted with another secret. */
export async function decryptText(secret: string, encrypted: string): Promise<string | null> {
  const joined = fromBase64Url(encrypted);
  if (!joined) return null;
  for (const one of secretsIn(secret)) {
    const plain = await decryptWith(one, joined);
    if (plain !== null) return plain;
  }
  return null;
}

/** What a former secret encrypted, encrypted with the newest one; null if it is already, or if none decrypts it. */
export async function reencryptText(secret: string, encrypted: string): Promise<string | null> {
  const [newest = secret, ...former] = secretsIn(secret);
  if ((await decryptText(newest, encrypted)) !== null) return null;
  const plain = await decryptText(former.join(' '), encrypted);
  return plain === null ? null : encryptText(newest, plain);
}

async function decryptWith(secret: string, joined: Uint8Array): Promise<string | null> {
  const key = await aesKeyOf(secret);
  try {
    const iv = joined.slice(0, 12);
    return new TextDecoder().decode(
      await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, joined.slice(12)),
    );
  } catch {
    return null;
  }
}
