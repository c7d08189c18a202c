import { Buffer } from 'node:buffer';
import { createSign, generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { readGooglePush } from '../../src/stores/google-play.ts';
import { GoogleKeys, verifyGoogleToken } from '../../src/stores/google-token.ts';

const NOW = Date.parse('2026-03-01T00:00:00Z');
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const { privateKey: foreignKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' };
const expected = {
  audience: 'https://attr.example.com/stores/google/secret',
  email: 'push@game.iam.gserviceaccount.com',
};

const claims = {
  iss: 'https://accounts.google.com',
  aud: expected.audience,
  email: expected.email,
  email_verified: true,
  iat: NOW / 1000 - 10,
  exp: NOW / 1000 + 3590,
};
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
function sign(own: object = {}, header: object = {}, key = privateKey): string {
  const signed = `${encode({ alg: 'RS256', kid: 'k1', typ: 'JWT', ...header })}.${encode({ ...claims, ...own })}`;
  return `${signed}.${createSign('sha256').update(signed).sign(key).toString('base64url')}`;
}

let fetched: number;
let keys: GoogleKeys;
beforeEach(() => {
  fetched = 0;
  keys = new GoogleKeys(async () => {
    fetched++;
    return { keys: [{ kty: 'EC', kid: 'other' }, jwk] };
  });
});
const verify = (token: string, now = NOW) => verifyGoogleToken(token, expected, keys, now);

describe('the token of a push', () => {
  it('is accepted for its audience and account', async () => {
    expect(await verify(sign())).toBe(true);
    expect(await verify(sign({ iss: 'accounts.google.com' }))).toBe(true);
  });

  it.each([
    ['another audience', sign({ aud: 'https://other.example.com' })],
    ['another account', sign({ email: 'attacker@other.iam.gserviceaccount.com' })],
    ['an account that is not verified', sign({ email_verified: false })],
    ['no account', sign({ email: undefined })],
    ['another issuer', sign({ iss: 'https://example.com' })],
    ['an end in the past', sign({ exp: NOW / 1000 - 61 })],
    ['a beginning in the future', sign({ iat: NOW / 1000 + 61 })],
    ['no end', sign({ exp: undefined })],
    ['no signature algorithm', sign({}, { alg: 'none' })],
    ['an algorithm with a shared key', sign({}, { alg: 'HS256' })],
    ['a key that Google does not have', sign({}, { kid: 'k2' })],
    ['no key', sign({}, { kid: undefined })],
    ['a forged signature', sign({}, {}, foreignKey)],
    ['nothing', ''],
    ['no signature', sign().split('.').slice(0, 2).join('.')],
  ])('is refused with %s', async (_, token) => {
    expect(await verify(token)).toBe(false);
  });

  it('is refused with any character changed', async () => {
    const token = sign();
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom('A', 'z', '9'), async (at, character) => {
        fc.pre(token[at] !== character);
        expect(await verify(token.slice(0, at) + character + token.slice(at + 1))).toBe(false);
      }),
    );
  });

  it('fetches the keys once an hour, and once a minute for those it does not know', async () => {
    for (let time = 0; time < 3_600_000; time += 600_000) {
      expect(await verify(sign({ exp: NOW / 1000 + 9_000 }), NOW + time)).toBe(true);
    }
    expect(fetched).toBe(1);
    const unknown = sign({ exp: NOW / 1000 + 9_000 }, { kid: 'k2' });
    for (let time = 0; time < 120_000; time += 10_000) await verify(unknown, NOW + 3_000_000 + time);
    expect(fetched).toBe(3);
    expect(await verify(sign({ exp: NOW / 1000 + 9_000 }), NOW + 7_200_000)).toBe(true);
    expect(fetched).toBe(4);
  });

  it('does not ask for keys before the claims are right, and reports a failure to fetch them', async () => {
    await verify(sign({ aud: 'x' }));
    expect(fetched).toBe(0);
    const failing = new GoogleKeys(() => Promise.reject(new Error('no network')));
    await expect(verifyGoogleToken(sign(), expected, failing, NOW)).rejects.toThrow('no network');
  });

  it('makes no valid push wait for the fetch of another one, or for a minute after a failure', async () => {
    const answers: (() => void)[] = [];
    let isDown = true;
    const slow = new GoogleKeys(() => {
      if (isDown) return Promise.reject(new Error('no network'));
      return new Promise((resolve) => answers.push(() => resolve({ keys: [jwk] })));
    });
    const ask = (kid: string, now: number) => verifyGoogleToken(sign({}, { kid }), expected, slow, now);
    await expect(ask('k1', NOW)).rejects.toThrow('no network');
    isDown = false;
    const cold = [ask('k1', NOW + 1), ask('k1', NOW + 2)];
    await vi.waitUntil(() => answers.length === 2);
    answers[1]?.();
    expect(await cold[1]).toBe(true);
    expect(await ask('k1', NOW + 3)).toBe(true);
    answers[0]?.();
    expect(await cold[0]).toBe(true);
    for (const kid of ['forged', 'another']) expect(await ask(kid, NOW + 4)).toBe(false);
    expect(answers).toHaveLength(2);
  });
});

describe('a push', () => {
  const push = (data: object) => ({
    message: {
      data: Buffer.from(JSON.stringify(data)).toString('base64'),
      messageId: '136969346945',
      attributes: {},
    },
    subscription: 'projects/game/subscriptions/rtdn',
  });
  const base = { version: '1.0', packageName: 'com.example', eventTimeMillis: '1772000000000' };
  const read = (data: object) => readGooglePush(push({ ...base, ...data }), 'com.example');

  it('about a voided purchase is a refund of its order', () => {
    const voidedPurchaseNotification = {
      purchaseToken: 't',
      orderId: 'GPA.1111-2222..3',
      productType: 1,
      refundType: 1,
    };
    expect(read({ voidedPurchaseNotification })).toEqual({
      store: 'google',
      id: '136969346945',
      type: 'voidedPurchaseNotification',
      kind: 'refund',
      environment: 'production',
      transactionId: 'GPA.1111-2222..3',
      originalTransactionId: 'GPA.1111-2222',
      productId: null,
      amount: null,
      currency: null,
      percentage: 100_000,
      customerIds: [],
      occurredAt: 1_772_000_000_000,
    });
    expect(
      read({ voidedPurchaseNotification: { ...voidedPurchaseNotification, refundType: 2 } })?.percentage,
    ).toBeNull();
  });

  it.each([
    [
      { subscriptionNotification: { notificationType: 2, purchaseToken: 't' } },
      'subscriptionNotification.2',
      'production',
    ],
    [
      { oneTimeProductNotification: { notificationType: 1, sku: 'gold' } },
      'oneTimeProductNotification.1',
      'production',
    ],
    [{ testNotification: { version: '1.0' } }, 'testNotification', 'sandbox'],
    [{ somethingNew: {} }, 'unknown', 'production'],
  ])('%j is kept without an amount', (data, type, environment) => {
    expect(read(data)).toMatchObject({ kind: 'other', type, environment, amount: null });
  });

  it.each([[null], [{}]])('that is none is refused: %j', (body) => {
    expect(() => readGooglePush(body, 'com.example')).toThrow();
  });

  it.each([
    [{ message: { data: 'not base64!', messageId: '1' } }],
    [{ message: { data: 'AAAA', messageId: '1' } }],
    [push({ ...base, packageName: 'com.other' })],
    [push({ ...base, voidedPurchaseNotification: {} })],
  ])('that is malformed or of another app counts nothing: %j', (body) => {
    expect(readGooglePush(body, 'com.example')).toMatchObject({
      ...{ kind: 'other', type: 'of another app, or unreadable', environment: 'production' },
      ...{ transactionId: null, percentage: null, occurredAt: null },
    });
  });
});
