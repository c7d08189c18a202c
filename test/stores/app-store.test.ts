import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { describeNotification, readAppStoreNotification } from '../../src/stores/app-store.ts';
import { trustedLeaf, verifyAppStoreJws } from '../../src/stores/apple-chain.ts';
import { PINNED } from '../../src/stores/apple-root.ts';
import { APP_STORE } from './vectors.ts';

const NOW = Date.parse('2026-03-01T00:00:00Z');
const trust = { root: APP_STORE.TEST_CA, now: NOW };
const APP = { bundleId: 'com.example' };
const { TEST_NOTIFICATION: JWS } = APP_STORE;
const [header = '', payload = '', signature = ''] = JWS.split('.');

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const withChain = (chain: unknown, more: object = {}) =>
  `${encode({ alg: 'ES256', x5c: chain, ...more })}.${payload}.${signature}`;
const [leaf = '', intermediate = '', third = ''] = JSON.parse(
  Buffer.from(header, 'base64url').toString(),
).x5c;

describe('signed data', () => {
  it.each(['TEST_NOTIFICATION', 'TRANSACTION_INFO', 'RENEWAL_INFO', 'WRONG_BUNDLE_ID'] as const)(
    'of Apple’s library verifies with its test CA, and not with Apple’s own: %s',
    async (name) => {
      expect(await verifyAppStoreJws(APP_STORE[name], trust)).toMatchObject({});
      await expect(verifyAppStoreJws(APP_STORE[name], { now: NOW })).rejects.toThrow('signedPayload');
    },
  );

  it('is refused with any character changed', async () => {
    const accepted: number[] = [];
    for (const [at, own] of [...JWS].entries()) {
      const changed = `${JWS.slice(0, at)}${own === 'A' ? 'B' : 'A'}${JWS.slice(at + 1)}`;
      const answer = await verifyAppStoreJws(changed, trust).catch((error: unknown) => error);
      if (!String(answer).includes('signedPayload')) accepted.push(at);
    }
    expect(accepted).toEqual([]);
  });

  it('is refused with any field of its payload changed', async () => {
    const fields: Record<string, unknown> = JSON.parse(Buffer.from(payload, 'base64url').toString());
    for (const [field, value] of Object.entries(fields)) {
      const other = typeof value === 'number' ? value + 1 : typeof value === 'string' ? `${value}1` : {};
      const changed = Buffer.from(JSON.stringify({ ...fields, [field]: other })).toString('base64url');
      const jws = `${header}.${changed}.${signature}`;
      await expect(verifyAppStoreJws(jws, trust), field).rejects.toThrow('signedPayload');
    }
  });

  it.each([
    ['no chain', APP_STORE.MISSING_X5C],
    ['an empty chain', withChain([])],
    ['two certificates', withChain([leaf, intermediate])],
    ['four certificates', withChain([leaf, intermediate, third, third])],
    ['certificates that are none', withChain(['AAAA', 'AAAA', 'AAAA'])],
    ['another algorithm', withChain([leaf, intermediate, third], { alg: 'none' })],
    ['leaf and intermediate exchanged', withChain([intermediate, leaf, third])],
    ['the root as intermediate', withChain([leaf, APP_STORE.TEST_CA, third])],
    ['nothing', ''],
    ['two parts', `${header}.${payload}`],
  ])('is refused with %s', async (_, jws) => {
    await expect(verifyAppStoreJws(jws, trust)).rejects.toThrow('signedPayload');
  });

  it.each([
    ['before a certificate is valid', '2023-01-01T00:00:00Z'],
    ['after one has expired', '2033-06-01T00:00:00Z'],
  ])('is refused %s', async (_, day) => {
    await expect(verifyAppStoreJws(JWS, { ...trust, now: Date.parse(day) })).rejects.toThrow('signedPayload');
  });
});

describe('a chain of certificates', () => {
  const good = [APP_STORE.OID_TEST_LEAF, APP_STORE.OID_TEST_INTERMEDIATE, third];
  const root = APP_STORE.OID_TEST_ROOT;
  const real = [APP_STORE.REAL_LEAF, APP_STORE.REAL_INTERMEDIATE, ''];

  it('is trusted if it leads to the root, whatever the third certificate is', () => {
    expect(trustedLeaf(good, root, NOW)).not.toBeNull();
    expect(trustedLeaf([...good.slice(0, 2), 'AAAA'], root, NOW)).not.toBeNull();
    expect(trustedLeaf(real, PINNED.root, NOW)).not.toBeNull();
  });

  it.each([
    ['a leaf without Apple’s object id', [APP_STORE.LEAF_WITHOUT_OID, good[1] ?? '', third], root],
    ['an intermediate without it', [good[0] ?? '', APP_STORE.INTERMEDIATE_WITHOUT_OID, third], root],
    ['another root', good, PINNED.root],
    ['a real chain and a test root', real, root],
    ['no certificates', [], root],
    ['certificates that are none', ['AAAA', 'AAAA', 'AAAA'], root],
    ['leaf and intermediate exchanged', good.toReversed().slice(1), root],
    ['the root as intermediate', [good[0] ?? '', root, root], root],
    ['an intermediate of another chain', [good[0] ?? '', APP_STORE.REAL_INTERMEDIATE, third], root],
  ])('is not trusted with %s', (_, chain, ownRoot) => {
    expect(trustedLeaf(chain, ownRoot, NOW)).toBeNull();
  });

  it.each([
    ['before the leaf', good, root, '2023-01-01T00:00:00Z'],
    ['after it', good, root, '2033-06-01T00:00:00Z'],
    ['before the real leaf', real, PINNED.root, '2025-09-19T19:44:50Z'],
    ['after the real leaf', real, PINNED.root, '2027-10-13T17:47:24Z'],
  ])('is not trusted %s', (_, chain, ownRoot, day) => {
    expect(trustedLeaf(chain, ownRoot, Date.parse(day))).toBeNull();
  });

  it('is not trusted with any bit of a certificate changed', () => {
    const bytes = good.slice(0, 2).map((text) => Buffer.from(text, 'base64'));
    return fc.assert(
      fc.property(fc.nat(1), fc.nat(), (which, at) => {
        const changed = bytes.map((own) => Buffer.from(own));
        const own = changed[which] ?? Buffer.alloc(1);
        const bit = at % (own.length * 8);
        own[bit >> 3] = (own[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const chain = changed.map((one) => one.toString('base64'));
        expect(trustedLeaf(chain, root, NOW)).toBeNull();
      }),
      { numRuns: 300 },
    );
  });
});

describe('a chain that was verified before', () => {
  const verified = () => vi.spyOn(X509Certificate.prototype, 'verify');
  afterEach(() => vi.restoreAllMocks());

  it('is not verified again, but checked to be valid at each time', () => {
    const [root, real] = [PINNED.root, [APP_STORE.REAL_LEAF, APP_STORE.REAL_INTERMEDIATE]];
    expect(trustedLeaf(real, root, NOW)).not.toBeNull();
    const spy = verified();
    expect(trustedLeaf(real, root, NOW)).not.toBeNull();
    expect(trustedLeaf(real, root, Date.parse('2027-10-13T17:47:24Z'))).toBeNull();
    expect(trustedLeaf(real, root, Date.parse('2025-09-19T19:44:50Z'))).toBeNull();
    expect(spy).not.toHaveBeenCalled();
    expect(trustedLeaf(real, APP_STORE.OID_TEST_ROOT, NOW)).toBeNull();
  });

  it('is verified if any of it differs, also where a chain that is trusted was before', () => {
    const [good, root] = [
      [APP_STORE.OID_TEST_LEAF, APP_STORE.OID_TEST_INTERMEDIATE],
      APP_STORE.OID_TEST_ROOT,
    ];
    expect(trustedLeaf(good, root, NOW)).not.toBeNull();
    expect(trustedLeaf([APP_STORE.LEAF_WITHOUT_OID, good[1] ?? ''], root, NOW)).toBeNull();
    expect(trustedLeaf([good[0] ?? '', APP_STORE.INTERMEDIATE_WITHOUT_OID], root, NOW)).toBeNull();
    expect(trustedLeaf(good, PINNED.root, NOW)).toBeNull();
    expect(trustedLeaf(good, root, NOW)).not.toBeNull();
  });

  it('keeps its key, which verifies what else it signed', async () => {
    const read = () => verifyAppStoreJws(JWS, trust);
    await read();
    const spy = vi.spyOn(crypto.subtle, 'importKey');
    expect(await read()).toMatchObject({});
    await expect(verifyAppStoreJws(`${header}.${encode({})}.${signature}`, trust)).rejects.toThrow(
      'signature',
    );
    expect(spy).not.toHaveBeenCalled();
  });
});

it('pins Apple Root CA G3', async () => {
  const der = Buffer.from(PINNED.root, 'base64');
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', der)).toString('hex');
  expect(digest).toBe('63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179');
});

it('reads a notification, of its own app only', async () => {
  expect(await readAppStoreNotification(JWS, APP, trust)).toEqual({
    store: 'apple',
    id: '9ad56bd2-0bc6-42e0-af24-fd996d87a1e6',
    type: 'TEST',
    kind: 'other',
    environment: 'sandbox',
    transactionId: null,
    originalTransactionId: null,
    productId: null,
    amount: null,
    currency: null,
    percentage: null,
    customerIds: [],
    occurredAt: 1681314324000,
  });
  await expect(readAppStoreNotification(JWS, { bundleId: 'com.other' }, trust)).rejects.toThrow(
    'signedPayload',
  );
  expect(await readAppStoreNotification(JWS, { ...APP, appAppleId: '1234' }, trust)).toMatchObject({});
  await expect(readAppStoreNotification(JWS, { ...APP, appAppleId: '1235' }, trust)).rejects.toThrow(
    'signedPayload',
  );
  await expect(readAppStoreNotification(APP_STORE.WRONG_BUNDLE_ID, APP, trust)).rejects.toThrow(
    'signedPayload',
  );
});

describe('a notification about a transaction', () => {
  const PAID = {
    transactionId: '2000000123456790',
    originalTransactionId: '2000000123456789',
    bundleId: 'com.example',
    productId: 'gold_monthly',
    price: 10990,
    currency: 'EUR',
    environment: 'Production',
    appAccountToken: '7e3fb204-2ab0-4a8d-9f39-3f1a9c2d5e11',
    purchaseDate: 1_772_000_000_000,
  };
  const describe_ = (type: string, more: object = {}, data: object = {}, subtype?: string) =>
    describeNotification(
      {
        notificationType: type,
        subtype,
        notificationUUID: 'n1',
        signedDate: 1_772_000_001_000,
        data: { bundleId: 'com.example', environment: 'Production', ...data },
      },
      { ...PAID, ...more },
      APP,
    );

  it.each([
    ['SUBSCRIBED', {}, 'purchase', 10_990_000_000n],
    ['ONE_TIME_CHARGE', {}, 'purchase', 10_990_000_000n],
    ['DID_RENEW', {}, 'renewal', 10_990_000_000n],
    ['SUBSCRIBED', { transactionReason: 'RENEWAL' }, 'renewal', 10_990_000_000n],
    ['SUBSCRIBED', { offerDiscountType: 'FREE_TRIAL', price: 0 }, 'trial', 0n],
    ['SUBSCRIBED', { offerDiscountType: 'FREE_TRIAL' }, 'trial', 0n],
    ['SUBSCRIBED', { inAppOwnershipType: 'FAMILY_SHARED' }, 'other', null],
    ['SUBSCRIBED', { transactionId: undefined }, 'other', null],
    ['REFUND', {}, 'refund', 10_990_000_000n],
    ['REFUND_REVERSED', {}, 'refund_reversed', 10_990_000_000n],
    ['REFUND', { offerDiscountType: 'FREE_TRIAL', price: 0 }, 'refund', 0n],
    ['REFUND_DECLINED', {}, 'other', null],
    ['EXPIRED', {}, 'other', null],
    ['SOMETHING_NEW', {}, 'other', null],
    ['constructor', {}, 'other', null],
  ])('%s %j is a %s', (type, more, kind, amount) => {
    expect(describe_(type, more)).toMatchObject({ type, kind, amount });
  });

  it('is read in full', () => {
    const revoked = { revocationDate: 1_773_000_000_000, revocationPercentage: 50_000 };
    expect(describe_('REFUND', revoked, {}, 'X')).toEqual({
      store: 'apple',
      id: 'n1',
      type: 'REFUND.X',
      kind: 'refund',
      environment: 'production',
      transactionId: '2000000123456790',
      originalTransactionId: '2000000123456789',
      productId: 'gold_monthly',
      amount: 10_990_000_000n,
      currency: 'eur',
      percentage: 50_000,
      customerIds: ['7e3fb204-2ab0-4a8d-9f39-3f1a9c2d5e11', '7E3FB204-2AB0-4A8D-9F39-3F1A9C2D5E11'],
      occurredAt: 1_773_000_000_000,
    });
    expect(describe_('REFUND')?.percentage).toBe(100_000);
    expect(describe_('DID_RENEW')).toMatchObject({ percentage: null, occurredAt: 1_772_000_000_000 });
  });

  it('does not count unless both parts say production', () => {
    const sandbox = { environment: 'Sandbox' };
    expect(describe_('DID_RENEW', sandbox, sandbox)?.environment).toBe('sandbox');
    expect(describe_('DID_RENEW', { environment: undefined }, { environment: 'Xcode' })?.environment).toBe(
      'sandbox',
    );
    expect(() => describe_('DID_RENEW', sandbox)).toThrow('signedPayload');
    expect(() => describe_('DID_RENEW', { bundleId: 'com.other' })).toThrow('signedPayload');
    expect(() => describe_('DID_RENEW', { price: -1 })).toThrow('signedPayload');
    // The transaction's own signature failed.
    expect(() =>
      describeNotification({ notificationType: 'REFUND', notificationUUID: 'n1' }, null, APP),
    ).toThrow('signedPayload');
  });
});
