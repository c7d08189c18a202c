import { expect, it } from 'vitest';
import { sha256Hex } from '#lib/crypto';
import { isAuthorized, readRevenueCatEvent } from '../../src/stores/revenuecat.ts';

const EVENT = {
  id: 'e1',
  type: 'INITIAL_PURCHASE',
  event_timestamp_ms: 1_772_000_001_000,
  purchased_at_ms: 1_772_000_000_000,
  environment: 'PRODUCTION',
  period_type: 'NORMAL',
  transaction_id: '1001',
  original_transaction_id: '1000',
  product_id: 'gold_weekly',
  currency: 'EUR',
  price: 5.41,
  price_in_purchased_currency: 4.99,
  app_user_id: 'user_1',
  original_app_user_id: '$RCAnonymousID:1',
  aliases: ['$RCAnonymousID:1', 'user_1', 'device_7'],
};
const read = (more: object = {}) => readRevenueCatEvent({ api_version: '1.0', event: { ...EVENT, ...more } });
const REFUND = {
  type: 'CANCELLATION',
  cancel_reason: 'CUSTOMER_SUPPORT',
  price: -9.99,
  price_in_purchased_currency: -9.99,
};

it('reads a payment in full, in the currency of the payment', () => {
  expect(read()).toEqual({
    store: 'revenuecat',
    id: 'e1',
    type: 'INITIAL_PURCHASE',
    kind: 'purchase',
    environment: 'production',
    transactionId: '1001',
    originalTransactionId: '1000',
    productId: 'gold_weekly',
    amount: 4_990_000_000n,
    currency: 'eur',
    percentage: null,
    customerIds: ['user_1', '$RCAnonymousID:1', 'device_7'],
    occurredAt: 1_772_000_000_000,
  });
});

it.each([
  [{ type: 'RENEWAL' }, 'renewal', 4_990_000_000n],
  [{ type: 'NON_RENEWING_PURCHASE' }, 'purchase', 4_990_000_000n],
  [{ period_type: 'TRIAL', price: 0, price_in_purchased_currency: 0 }, 'trial', 0n],
  [REFUND, 'refund', 9_990_000_000n],
  [{ price: -5, price_in_purchased_currency: -5 }, 'other', null],
  [{ type: 'RENEWAL', price_in_purchased_currency: -0.01 }, 'other', null],
  [{ type: 'NON_RENEWING_PURCHASE', price: -5, price_in_purchased_currency: null }, 'other', null],
  [{ period_type: 'TRIAL', price_in_purchased_currency: -5 }, 'other', null],
  [{ type: 'REFUND_REVERSED', price_in_purchased_currency: 5 }, 'refund_reversed', 5_000_000_000n],
  [{ type: 'CANCELLATION', cancel_reason: 'UNSUBSCRIBE', price: 0 }, 'other', null],
  [
    { type: 'CANCELLATION', cancel_reason: 'CUSTOMER_SUPPORT', price: 0, price_in_purchased_currency: 0 },
    'other',
    null,
  ],
  [{ type: 'EXPIRATION' }, 'other', null],
  [{ type: 'TRANSFER', app_user_id: undefined, transaction_id: undefined }, 'other', null],
  [{ type: 'constructor' }, 'other', null],
  [{ is_family_share: true }, 'other', null],
])('%j is a %s', (more, kind, amount) => {
  expect(read(more)).toMatchObject({ kind, amount });
});

it('takes US dollars if the currency of the payment is missing', () => {
  expect(read({ currency: null })).toMatchObject({ amount: 5_410_000_000n, currency: 'usd' });
  expect(read({ price_in_purchased_currency: null })).toMatchObject({
    amount: 5_410_000_000n,
    currency: 'usd',
  });
  expect(read({ price: null, price_in_purchased_currency: null })).toMatchObject({
    amount: null,
    currency: null,
  });
});

it('dates a refund on the day of the refund, under the payment that it gives back', () => {
  expect(read(REFUND)).toMatchObject({
    type: 'CANCELLATION.CUSTOMER_SUPPORT',
    transactionId: '1001',
    percentage: 100_000,
    occurredAt: 1_772_000_001_000,
  });
});

it.each(['SANDBOX', undefined])('does not count the environment %s', (environment) => {
  expect(read({ environment })?.environment).toBe('sandbox');
});

it.each([
  [null],
  [{}],
  [{ event: {} }],
  [{ event: { ...EVENT, id: '' } }],
  [{ event: { ...EVENT, price: '4' } }],
])('does not read %j', (body) => {
  expect(readRevenueCatEvent(body)).toBeNull();
});

it('compares the Authorization value', async () => {
  const hash = await sha256Hex('Bearer s3cret');
  expect(await isAuthorized('Bearer s3cret', hash)).toBe(true);
  for (const sent of [undefined, '', 'Bearer s3cre', 'Bearer s3cret ', hash]) {
    expect(await isAuthorized(sent, hash)).toBe(false);
    expect(await isAuthorized(sent, null)).toBe(false);
  }
});
