import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  addRevenue,
  bandOf,
  REVENUE_DAYS,
  readRevenue,
  type StoredRevenue,
} from '../../src/rollup/device/device-revenue.ts';

type Kind = 'ad' | 'purchase' | 'returned';

it('adds up revenue by currency, kind and age band, whatever the intermediate storage', () => {
  let text = '{}';
  const add = (kind: Kind, currency: string, age: number, nanos: number) => {
    const stored = JSON.parse(text);
    addRevenue(stored, kind, currency, bandOf(age), nanos);
    text = JSON.stringify(stored);
  };
  add('ad', 'usd', -2, 5);
  add('ad', 'usd', 0, 7);
  add('purchase', 'usd', 3, 4_990_000);
  add('purchase', 'usd', 2, 10_000);
  add('purchase', 'eur', 366, 1);
  add('ad', 'eur', 365, 2);
  add('ad', 'usd', 10_000, Number.MAX_SAFE_INTEGER);
  const bands = (own: Record<number, [ad: number, purchase: number]>) =>
    Object.entries(own).map(([band, [ad, purchase]]) => [band, { ad, purchase, returned: 0 }]);
  expect(
    readRevenue(JSON.parse(text)).map(({ currency, bands: own }) => [currency, Object.entries(own)]),
  ).toEqual([
    ['usd', bands({ 0: [12, 0], 2: [0, 5_000_000], 10: [Number.MAX_SAFE_INTEGER, 0] })],
    ['eur', bands({ 9: [2, 0], 10: [0, 1] })],
  ]);
});

it('does not grow with the number of events', () => {
  const stored = {};
  for (let event = 0; event < 50_000; event++) addRevenue(stored, 'ad', 'usd', bandOf(event % 500), 12_345);
  expect(JSON.stringify(stored).length).toBeLessThan(26 * (REVENUE_DAYS.length + 1));
});

it('is empty without revenue, and once a refund was reversed', () => {
  expect(readRevenue(null)).toEqual([]);
  const stored: StoredRevenue = {};
  addRevenue(stored, 'returned', 'usd', 2, 500);
  expect(readRevenue(stored)).toHaveLength(1);
  addRevenue(stored, 'returned', 'usd', 2, -500);
  expect(readRevenue(stored)).toEqual([]);
});

it('refuses what it did not write', () => {
  for (const stored of [{ usd: { nonsense: { ad: 1 } } }, { usd: null }, { usd: { 0: null } }] as unknown[])
    expect(() => readRevenue(stored as StoredRevenue), JSON.stringify(stored)).toThrow();
  for (const stored of ['usd', { usd: 5 }, { usd: 'x' }] as unknown[])
    expect(() => addRevenue(stored as object as Record<string, never>, 'ad', 'usd', 0, 1)).toThrow();
});

const earnings = fc.array(
  fc.record({
    age: fc.integer({ min: -3, max: 500 }),
    ad: fc.nat(10 ** 12),
    purchase: fc.nat(10 ** 12),
    other: fc.nat(10 ** 12),
  }),
  { maxLength: 12 },
);
/** Days of bands of another release: some that this one has, and some that it lacks. */
const otherDays = fc
  .uniqueArray(fc.oneof(fc.constantFrom(...REVENUE_DAYS), fc.nat(400)), { minLength: 1, maxLength: 14 })
  .map((days) => days.sort((one, other) => one - other));

/** What a release with these bands and these sums in this order stored. */
function storedBy(days: readonly number[], sums: ('ad' | 'purchase' | 'other')[]) {
  return (own: { age: number; ad: number; purchase: number; other: number }[]) => {
    const bands: Record<string, Record<string, number>> = {};
    for (const [at, day] of [...days, Number.POSITIVE_INFINITY].entries()) {
      const within = own.filter(({ age }) => age <= day && age > (days[at - 1] ?? Number.NEGATIVE_INFINITY));
      const totals = sums.map((of) => [of, within.reduce((total, one) => total + one[of], 0)] as const);
      const earned = totals.filter(([, total]) => total !== 0);
      if (earned.length > 0)
        bands[day === Number.POSITIVE_INFINITY ? 'later' : day] = Object.fromEntries(earned);
    }
    return Object.keys(bands).length === 0 ? null : { usd: bands };
  };
}

it('writes its bands by the days that they end on, and its sums by their names', () => {
  fc.assert(
    fc.property(earnings, (own) => {
      const stored: StoredRevenue = {};
      for (const { age, ad, purchase } of own) {
        if (ad > 0) addRevenue(stored, 'ad', 'usd', bandOf(age), ad);
        if (purchase > 0) addRevenue(stored, 'purchase', 'usd', bandOf(age), purchase);
      }
      expect(stored).toEqual(storedBy(REVENUE_DAYS, ['ad', 'purchase'])(own) ?? {});
    }),
  );
});

/** Revenue up to each of the days, without rounding. */
const sumsOf = (stored: StoredRevenue) => {
  const [{ bands } = { bands: [] }] = readRevenue(stored);
  return [...REVENUE_DAYS, Number.POSITIVE_INFINITY].map((_, last) => {
    const sum = (of: 'ad' | 'purchase') =>
      bands.slice(0, last + 1).reduce((total, own) => total + (own?.[of] ?? 0), 0);
    return [sum('ad'), sum('purchase')];
  });
};

it('keeps what another release stored: with a band less, one in the middle, another sum before these, or one less', () => {
  fc.assert(
    fc.property(otherDays, earnings, (days, own) => {
      const until = (of: 'ad' | 'purchase', last: number) =>
        own.reduce((total, one) => total + (one.age <= last ? one[of] : 0), 0);
      const both: StoredRevenue = storedBy(days, ['other', 'ad', 'purchase'])(own);
      const one: StoredRevenue = storedBy(days, ['purchase'])(own);
      const sums = sumsOf(both);
      for (const [index, last] of [...REVENUE_DAYS, Number.POSITIVE_INFINITY].entries()) {
        // Up to a day that the other release had no band for, only what is certain.
        const known = last === Number.POSITIVE_INFINITY || days.includes(last) ? last : null;
        if (known !== null) expect(sums[index]).toEqual([until('ad', known), until('purchase', known)]);
        if (known !== null) expect(sumsOf(one)[index]).toEqual([0, until('purchase', known)]);
      }
      // Once something is added, it says the same, and that.
      const more = both ?? {};
      addRevenue(more, 'ad', 'usd', 0, 1);
      expect(sumsOf(more)).toEqual(sums.map(([ad = 0, purchase]) => [ad + 1, purchase]));
    }),
  );
  // Of a band with nothing else than an unknown sum, nothing is left.
  expect(readRevenue({ usd: { 0: { other: 9 } as object } })).toEqual([]);
  expect(readRevenue({ usd: { 45: { ad: 1 }, 30: { ad: 2 } } })).toEqual(
    readRevenue({ usd: { 30: { ad: 2 }, 60: { ad: 1 } } }),
  );
});
