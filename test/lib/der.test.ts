import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { extensionIds } from '../../src/lib/encoding/der.ts';
import { INTERMEDIATE, LEAF } from '../stores/signer.ts';

/** Made with openssl for this test: the ids of Apple's extensions are in the values of others. */
const OTHER =
  'MIIBpTCCAUygAwIBAgIUcIKeaEuj/KY6x8mMl5A03zYsikcwCgYIKoZIzj0EAwIwEDEOMAwGA1UEAwwFT3RoZXIwIBcNMjYxMTI4MDkxMzAxWhgPMjEyNjExMDQwOTEzMDFaMBAxDjAMBgNVBAMMBU90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5R2arfN6U7swST9NqIC+NjAVIppMAue7CQbKyc6CGpXAxKLc/WfraEcV/8H/UuaYcQoTynLxdur1koB2yF7eU6OBgTB/MB0GA1UdDgQWBBSnS9LDcgWD7k+nQSaIevkT56sDmzAfBgNVHSMEGDAWgBSnS9LDcgWD7k+nQSaIevkT56sDmzAPBgNVHRMBAf8EBTADAQH/MBMGAyoDBAQMBgoqhkiG92NkBgsBMBcGAyoDBQQQMA4GCiqGSIb3Y2QGAgEFADAKBggqhkjOPQQDAgNHADBEAiAvb5Jtrqmvi6dd0FnHCG61u/FMfGZGeyUaUQiM4VeGXQIgZ1qg4sjUEmex/WtdjOjm+e/9BoSw2ogUvEfD2CiFAxg=';
const LEAF_EXTENSION = '2a864886f76364060b01';
const INTERMEDIATE_EXTENSION = '2a864886f76364060201';

it('finds the extensions of a certificate', () => {
  expect(extensionIds(Buffer.from(LEAF, 'base64'))).toEqual(['551d13', LEAF_EXTENSION, '551d0e', '551d23']);
  expect(extensionIds(Buffer.from(INTERMEDIATE, 'base64'))).toContain(INTERMEDIATE_EXTENSION);
});

it('takes no other bytes of a certificate for an extension', () => {
  const der = Buffer.from(OTHER, 'base64');
  expect(new X509Certificate(der).subject).toBe('CN=Other');
  for (const id of [LEAF_EXTENSION, INTERMEDIATE_EXTENSION]) {
    expect(der.toString('hex')).toContain(id);
    expect(extensionIds(der)).not.toContain(id);
  }
});

it('finds nothing in other bytes, and ends', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => Array.isArray(extensionIds(bytes))));
  const der = Buffer.from(LEAF, 'base64');
  for (let length = 0; length < der.length; length++)
    expect(extensionIds(der.subarray(0, length))).toEqual([]);
});
