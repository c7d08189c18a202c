import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClientTotal, LoggedEvent } from '#catalogue';
import {
  addToTotals,
  type DeviceTotals,
  joinParts,
  MIXED,
  readComparedTotal,
  readTotals,
  writeTotals,
} from '../../src/counting/devices/totals.ts';

type Sent = { currency: string; nanos: number; claimedNanos: number | undefined };

/** Around the limits that matter: some thousandths of a millionth per event, and 10^12 nanos, which start another part. */
const nanos = fc.oneof(fc.nat(4_000), fc.constantFrom(999_999_999_000, 1e12, 1e12 + 1_000, 3e15));
const sent: fc.Arbitrary<Sent> = fc
  .record({
    currency: fc.constantFrom('usd', 'usd', 'usd', '', 'eur'),
    nanos,
    claimedNanos: fc.option(nanos, { nil: undefined }),
  })
  // Revenue without a currency is unknown, and adds nothing.
  .map((own) => (own.currency === '' ? { ...own, nanos: 0 } : own));

const total = {
  claimed: (event: Sent) => (event.claimedNanos === undefined ? undefined : event.claimedNanos / 1e9),
  currencyOf: (event: Sent) => event.currency,
  earned: (event: Sent) => event.nanos,
} as unknown as ClientTotal<LoggedEvent>;

it('compares the largest total of a client with what was counted of one currency', () => {
  fc.assert(
    fc.property(fc.array(sent, { minLength: 1, maxLength: 6 }), (events) => {
      let totals: DeviceTotals | null = null;
      for (const event of events) {
        totals = addToTotals(totals, event as unknown as LoggedEvent, total);
        // A run ends between any two events.
        totals = readTotals(writeTotals(totals));
      }
      if (!totals) throw new Error('there is an event');
      const counted = events.reduce((sum, event) => sum + BigInt(event.nanos), 0n);
      const claims = events.flatMap(({ claimedNanos }) => claimedNanos ?? []);
      const currencies = new Set(events.flatMap(({ currency }) => currency || []));
      const [currency] = currencies;
      const compared = readComparedTotal(writeTotals(totals));
      expect(joinParts(totals.countedHigh, totals.countedLow)).toBe(counted);
      if (claims.length === 0) {
        expect(compared).toBeNull();
        return;
      }
      const client = BigInt(Math.max(...claims));
      const gap = client > counted ? client - counted : counted - client;
      const isOne = currencies.size === 1;
      expect(compared).toMatchObject({
        currency: isOne ? currency : MIXED,
        hasGap: isOne && gap > 1_000n * BigInt(events.length),
      });
      expect(joinParts(compared?.clientHigh ?? 0, compared?.clientLow ?? 0)).toBe(client);
    }),
    { numRuns: 500 },
  );
});

it('takes no total from a client that none can have', () => {
  for (const claimedNanos of [-1, 1e27, 1e30]) {
    const totals = addToTotals(
      null,
      { currency: 'usd', nanos: 5, claimedNanos } as unknown as LoggedEvent,
      total,
    );
    expect(readComparedTotal(writeTotals(totals))).toBeNull();
  }
});

it('names the numbers that it stores, and reads what another release stored: with one less, and with one in the middle', () => {
  const totals: DeviceTotals = {
    ...{ events: 3, currency: 'usd', countedHigh: 2, countedLow: 5 },
    ...{ clientHigh: 0, clientLow: 36 },
  };
  expect(writeTotals(totals)).toBe('usdE3H2L5C0D10');
  expect(readTotals('usdE3R9H2L5C0D10')).toEqual(totals);
  expect(readTotals('usdD10C0L5H2E3')).toEqual(totals);
  expect(readTotals('usdH2L5C0D10')).toEqual({ ...totals, events: 0 });
  expect(readTotals('usdE3L5C0D10')).toEqual({ ...totals, countedHigh: 0 });
  expect(readTotals('E3H2L5')).toEqual({ ...totals, currency: '', clientHigh: null, clientLow: null });
  for (const text of ['', 'usd', '[3,"usd",0,2,5,0,7]', 'usdE', 'usdE3-'])
    expect(() => readTotals(text)).toThrow();
});
