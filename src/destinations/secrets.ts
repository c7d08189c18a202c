import { decryptText, encryptText } from '#lib/crypto';
import { DAY_MS } from '#lib/time';

/** How long a former signing secret signs, too. */
export const ROTATED_FOR_MS = DAY_MS;

/** A signing secret; `endsAt` (epoch milliseconds) is null for the newest. */
type SigningSecret = { secret: string; endsAt: number | null };

/** What is secret of a destination. It is stored encrypted. */
export type DestinationSecrets = {
  credentials: Record<string, string>;
  /** Of a webhook, the newest first. */
  secrets: SigningSecret[];
};

export const writeSecrets = (encryptionSecret: string, own: DestinationSecrets): Promise<string> =>
  encryptText(encryptionSecret, JSON.stringify(own));

/** Throws an error that says what to do if another secret encrypted them. */
export async function readSecrets(encryptionSecret: string, encrypted: string): Promise<DestinationSecrets> {
  const text = await decryptText(encryptionSecret, encrypted);
  if (text !== null) return JSON.parse(text);
  throw new Error('The credentials were encrypted under another secret; set them again');
}

/** The secrets that sign at a time. */
export const activeSecrets = (secrets: readonly SigningSecret[], now: number): string[] =>
  secrets.flatMap(({ secret, endsAt }) => (endsAt === null || endsAt > now ? secret : []));

/** A new secret before those that sign at a time, of which the newest signs for another day. */
export const rotated = (secrets: readonly SigningSecret[], secret: string, now: number): SigningSecret[] => [
  { secret, endsAt: null },
  ...secrets
    .filter(({ endsAt }) => endsAt === null)
    .map((former) => ({ ...former, endsAt: now + ROTATED_FOR_MS })),
];
