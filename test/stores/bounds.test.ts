import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GoogleKeys } from '../../src/stores/google-token.ts';
import type { StoreNotification } from '../../src/stores/notification.ts';
import { reasonNotCounted, toStoreEvent } from '../../src/stores/to-event.ts';
import { testBounds } from '../helpers/bounds.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
/** The first moment that a store may tell of. */
const EARLIEST = Date.UTC(2010, 0, 1);

const NOTIFICATION: StoreNotification = {
  ...{ store: 'apple', id: 'n-1', type: 'DID_RENEW', kind: 'renewal', environment: 'production' },
  ...{ transactionId: 't-2', originalTransactionId: 't-1', productId: 'gold’s & more (50%)' },
  ...{ amount: 4_990_000_001n, currency: 'eur', percentage: null, customerIds: [], occurredAt: NOW },
};

const eventOf = (changes: Partial<StoreNotification>, now = NOW, timezone = 'UTC') =>
  toStoreEvent(
    { ...NOTIFICATION, ...changes },
    { id: 'evt_1', application: { id: 'app_1', timezone }, device: null, shard: 0, now },
  );

const datedAs = (occurredAt: number) => {
  const { occurred_at, day, received_at } = eventOf({ occurredAt });
  expect(received_at).toBe(NOW);
  return [occurred_at, day];
};
const TODAY = '2026-11-20';

testBounds('when a payment happened', [
  {
    name: 'in the past, and in the future of a store’s clock',
    ...{ at: NOW, ask: datedAs },
    ...{ below: [NOW - 1, TODAY], exact: [NOW, TODAY], above: [NOW, TODAY] },
  },
  {
    name: 'a day ahead',
    ...{ at: NOW + 86_400_000, ask: datedAs },
    ...{ below: [NOW, TODAY], exact: [NOW, TODAY], above: [NOW, TODAY] },
  },
  {
    name: 'before any store',
    ...{ at: EARLIEST, ask: datedAs },
    ...{ below: [NOW, TODAY], exact: [EARLIEST, '2010-01-01'], above: [EARLIEST + 1, '2010-01-01'] },
  },
  {
    name: 'at midnight of the application',
    at: Date.UTC(2026, 10, 20, 5),
    ask: (occurredAt: number) => eventOf({ occurredAt }, NOW, 'America/New_York').day,
    ...{ below: '2026-11-19', exact: TODAY, above: TODAY },
  },
]);

const reasonFor = (changes: Partial<StoreNotification>) => reasonNotCounted({ ...NOTIFICATION, ...changes });

testBounds('what is counted', [
  {
    name: 'an amount without a currency',
    ...{ at: 0, ask: (amount: number) => reasonFor({ amount: BigInt(amount), currency: null }) },
    ...{ below: null, exact: null, above: 'has no currency' },
  },
]);

describe('amounts of stores', () => {
  it('are counted below a milliard of units', () => {
    expect(reasonFor({ amount: 10n ** 18n - 1n })).toBeNull();
    expect(reasonFor({ amount: 10n ** 18n })).toBe('has an amount that is too large');
  });

  /** Of a payment of 4.990000001: what a share of it takes back. */
  it.each([
    [100_000, 0n],
    [99_999, (4_990_000_001n * 99_999n) / 100_000n],
    [33_333, 1_663_316_700n],
    [1, 49_900n],
    [0, 0n],
  ])('a refund of %i thousandths of a percent', (percentage, nanos) => {
    const refund = { kind: 'refund', percentage } as const;
    expect(eventOf(refund).value_nanos).toBe(Number(nanos));
    expect(reasonFor(refund)).toBeNull();
  });

  it('keep each billionth, and names as they are', () => {
    expect(eventOf({})).toMatchObject({ value_nanos: 4_990_000_001, item_id: 'gold’s & more (50%)' });
  });
});

const PUBLIC_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });

/** How often the keys of Google are fetched for a key, first at `NOW` and then later. */
const fetches = (kid: string) => async (after: number) => {
  let count = 0;
  const keys = new GoogleKeys(() => {
    count++;
    return Promise.resolve({ keys: [{ ...PUBLIC_KEY, kid: 'known' }] });
  });
  for (const now of [NOW, NOW + after]) await keys.find(kid, now);
  return count;
};

testBounds('Google’s keys are fetched', [
  { name: 'again after an hour', at: 3_600_000, ask: fetches('known'), ...{ below: 1, exact: 2, above: 2 } },
  {
    name: 'once a minute for an unknown key',
    at: 60_000,
    ask: fetches('other'),
    ...{ below: 1, exact: 2, above: 2 },
  },
]);
