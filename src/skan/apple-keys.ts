import { importEs256Key } from '#lib/ecdsa';

/** Apple's public key for SKAdNetwork 2.1 and later. Source: developer.apple.com, "Verifying an install-validation postback". */
export const SKADNETWORK_KEY = 'apple-cas-identifier/0';

/**
 * P-256 keys (SPKI in base64) by the `kid` of an AdAttributionKit postback. Source: developer.apple.com/documentation/adattributionkit,
 * "Verifying a postback".
 */
const KEYS: ReadonlyMap<string, string> = new Map([
  [
    SKADNETWORK_KEY,
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWdp8GPcGqmhgzEFj9Z2nSpQVddayaPe4FMzqM9wib1+aHaaIzoHoLN9zW4K8y4SPykE3YVK3sVqW6Af0lfx3gg==',
  ],
  [
    'apple-development-identifier/0',
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAELeEDzpJEP+/qRSE5hJVC1p1J0ssUnQGMzBBbvnACBok8OVGGLgxL0myrKiy6lvRtSlLRsWit87i+vftD8AEqeQ==',
  ],
  [
    'apple-development-identifier/1',
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YzdO7eM97s/IJ25kdW5CZ3A14USE5IJ5Ha/vhWaxI6UBI1ZxCEvjrKxVluVGe6qWwF1BDFq+QHqKfH5u+wxHQ==',
  ],
]);

/** Whether a key signs postbacks of devices in development. */
export const isDevelopmentKey = (kid: string): boolean => kid !== SKADNETWORK_KEY;

/** One of Apple's keys; null for a `kid` that is none of them. */
export async function appleKey(kid: string): Promise<CryptoKey | null> {
  const spki = KEYS.get(kid);
  return spki === undefined ? null : importEs256Key(spki);
}
