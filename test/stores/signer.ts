import { Buffer } from 'node:buffer';
import { createSign } from 'node:crypto';

/** Certificates like Apple's, made with openssl for these tests: the root, the intermediate and the leaf with the object ids of the App Store. */
export const TEST_ROOT =
  'MIIBozCCAUmgAwIBAgIUZEhI/FY0B3aaF7OrOXhGO7TdC4AwCgYIKoZIzj0EAwIwJjESMBAGA1UEAwwJVGVzdCBSb290MRAwDgYDVQQKDAdFeGFtcGxlMCAXDTI2MTEyMzEzMjI1MloYDzIxMjYxMDMwMTMyMjUyWjAmMRIwEAYDVQQDDAlUZXN0IFJvb3QxEDAOBgNVBAoMB0V4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT8qUkAKwAVn2QDg01L3pebV2RpdE+zC4I4f1xPiDgdYW7XrnTintiCefJqdhg1SRKVquX9EMnQefXznDxF9te+o1MwUTAdBgNVHQ4EFgQUlMHyWqC2oK7uuySAt8lpJFe5fxQwHwYDVR0jBBgwFoAUlMHyWqC2oK7uuySAt8lpJFe5fxQwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAo/gN5fbpywNbPFDHdOSvg8DMrxzX6mIOK6i0HnPwZzECIHqhg1ahf3t+hzTn08aUQYnn0xy0RurgdfuFX63QQFiR';
export const INTERMEDIATE =
  'MIIBvTCCAWOgAwIBAgIUMok7LEVLjv4byjtmxNnc1G1SzkcwCgYIKoZIzj0EAwIwJjESMBAGA1UEAwwJVGVzdCBSb290MRAwDgYDVQQKDAdFeGFtcGxlMCAXDTI2MTEyMzEzMjI1MloYDzIxMjYwNzIyMTMyMjUyWjAuMRowGAYDVQQDDBFUZXN0IEludGVybWVkaWF0ZTEQMA4GA1UECgwHRXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFe1sdi1GGLY8GLJI4+uEoRkEPAuZs4W/n+Mn2msryrDM6O0IhDeC/MFQlY1mNCQRulzrONzBThPyyubU/xcqRCjZTBjMA8GA1UdEwEB/wQFMAMBAf8wEAYKKoZIhvdjZAYCAQQCBQAwHQYDVR0OBBYEFJuARonPYIR6DZHhqpXkAahxSmRZMB8GA1UdIwQYMBaAFJTB8lqgtqCu7rskgLfJaSRXuX8UMAoGCCqGSM49BAMCA0gAMEUCIDnY0CKXhZ10W2rZrmyIB7DxrloOKlfOSRiYeYNAA3a0AiEA61eDvYVUV/U8RMFOBQogYrW0rRvLV+gDRFFgdYiumjM=';
export const LEAF =
  'MIIBtzCCAV2gAwIBAgIUGETnMHpRHLUmIba1TT2f/z9u5C4wCgYIKoZIzj0EAwIwLjEaMBgGA1UEAwwRVGVzdCBJbnRlcm1lZGlhdGUxEDAOBgNVBAoMB0V4YW1wbGUwIBcNMjYxMTIzMTMyMjUyWhgPMjEyNjA0MTMxMzIyNTJaMCYxEjAQBgNVBAMMCVRlc3QgTGVhZjEQMA4GA1UECgwHRXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABL4yKmP5WJ0x6ddbj3QfgrnskxO6vNw39Y/oeuuF0Qeg5tUQCYOufLOc8RncGH1QBm+89WGZhJClIAIVufRghqajXzBdMAkGA1UdEwQCMAAwEAYKKoZIhvdjZAYLAQQCBQAwHQYDVR0OBBYEFBUTfN+vED7yNk+eZuj5Pg9qBJQxMB8GA1UdIwQYMBaAFJuARonPYIR6DZHhqpXkAahxSmRZMAoGCCqGSM49BAMCA0gAMEUCIQCfDFW8q4eZNTH0+WvTq+jnen81kX7Xkc+OXqp8ezpALgIgDJGtMYrVlLoKGA4hLyDirB0TJHUiCt7jcBm0jNZxcCs=';
/** The same leaf, which ended before it began. */
export const EXPIRED_LEAF =
  'MIIBtDCCAVugAwIBAgIUGETnMHpRHLUmIba1TT2f/z9u5C8wCgYIKoZIzj0EAwIwLjEaMBgGA1UEAwwRVGVzdCBJbnRlcm1lZGlhdGUxEDAOBgNVBAoMB0V4YW1wbGUwHhcNMjYxMTIzMTMyMjUyWhcNMjYxMTIyMTMyMjUyWjAmMRIwEAYDVQQDDAlUZXN0IExlYWYxEDAOBgNVBAoMB0V4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS+Mipj+VidMenXW490H4K57JMTurzcN/WP6HrrhdEHoObVEAmDrnyznPEZ3Bh9UAZvvPVhmYSQpSACFbn0YIamo18wXTAJBgNVHRMEAjAAMBAGCiqGSIb3Y2QGCwEEAgUAMB0GA1UdDgQWBBQVE3zfrxA+8jZPnmbo+T4PagSUMTAfBgNVHSMEGDAWgBSbgEaJz2CEeg2R4aqV5AGocUpkWTAKBggqhkjOPQQDAgNHADBEAiB7J2RihI/zRjHTSMnmIOIegP0m7L/hzUVP9Xdd1rDNFgIgT4qFlCIJzgyRFHDsKuwWnPy1DGcOI9OhHb1nvD+qzFw=';
const LEAF_KEY =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgFjnw9P3Ddy43srt7OTTH46ghN3njA/DZLrUIWaMmIH2hRANCAAS+Mipj+VidMenXW490H4K57JMTurzcN/WP6HrrhdEHoObVEAmDrnyznPEZ3Bh9UAZvvPVhmYSQpSACFbn0YIam';

const key = { key: Buffer.from(LEAF_KEY, 'base64'), format: 'der', type: 'pkcs8' } as const;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWS as the App Store signs it. `payload` may be JSON text, for numbers that JavaScript cannot hold. */
export function signAsApple(
  payload: unknown,
  chain: readonly string[] = [LEAF, INTERMEDIATE, TEST_ROOT],
): string {
  const body = typeof payload === 'string' ? Buffer.from(payload).toString('base64url') : encode(payload);
  const signed = `${encode({ alg: 'ES256', x5c: chain })}.${body}`;
  const signature = createSign('sha256')
    .update(signed)
    .sign({ ...key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** A notification of the App Store with a transaction, both signed. */
export function signNotification(
  type: string,
  transaction: object | null,
  {
    data,
    chain,
    ...more
  }: { data?: object; chain?: readonly string[]; notificationUUID?: string; subtype?: string } = {},
): { signedPayload: string } {
  const signedTransactionInfo = transaction && signAsApple({ ...TRANSACTION, ...transaction });
  return {
    signedPayload: signAsApple(
      {
        ...{
          notificationType: type,
          notificationUUID: crypto.randomUUID(),
          version: '2.0',
          signedDate: Date.now(),
        },
        ...more,
        data: {
          ...{ environment: 'Production', bundleId: 'com.example.game', appAppleId: 525463029 },
          ...(signedTransactionInfo ? { signedTransactionInfo } : {}),
          ...data,
        },
      },
      chain,
    ),
  };
}

const TRANSACTION = {
  ...{ transactionId: '2000000001', originalTransactionId: '2000000001', bundleId: 'com.example.game' },
  ...{
    productId: 'gold',
    price: 9990,
    currency: 'USD',
    environment: 'Production',
    transactionReason: 'PURCHASE',
  },
  ...{ inAppOwnershipType: 'PURCHASED', purchaseDate: Date.parse('2026-03-02T10:00:00Z') },
};
