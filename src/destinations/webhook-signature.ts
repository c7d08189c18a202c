import { Buffer } from 'node:buffer';

// Standard Webhooks, https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

const PREFIX = 'whsec_';
/** The specification asks for 24 to 64. */
const SECRET_BYTES = 32;

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = (): string =>
  PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString('base64');

async function signWith(secret: string, text: string): Promise<string> {
  const bytes = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text));
  return `v1,${Buffer.from(new Uint8Array(signature)).toString('base64')}`;
}

/**
 * The headers that prove who sent a body. `secrets`: one, or while it is rotated the new and the former one, so that a receiver may have either.
 * `at`: the time of the attempt, in epoch milliseconds; receivers refuse what is older than five minutes.
 */
export async function signWebhook(
  { id, body, secrets }: { id: string; body: string; secrets: readonly string[] },
  at: number,
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const seconds = String(Math.floor(at / 1000));
  const text = `${id}.${seconds}.${body}`;
  const signatures = await Promise.all(secrets.map((secret) => signWith(secret, text)));
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') };
}
