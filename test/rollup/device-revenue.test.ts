import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bandOf, DeviceRevenue, REVENUE_DAYS, readRevenue } from '../../src/rollup/device/device-revenue.ts';

it('adds up revenue by currency, kind and age band, whatever the intermediate storage', () => {
  let text = '';
  const add = (kind: 'ad' | 'purchase', currency: string, age: number, nanos: number) => {
    const revenue = DeviceRevenue.parse(text);
    revenue.addToBand(kind, currency, bandOf(age), nanos);
    text = revenue.toString();
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
  expect(readRevenue(text).map(({ currency, bands: own }) => [currency, Object.entries(own)])).toEqual([
    ['usd', bands({ 0: [12, 0], 2: [0, 5_000_000], 10: [Number.MAX_SAFE_INTEGER, 0] })],
    ['eur', bands({ 9: [2, 0], 10: [0, 1] })],
  ]);
});

it('does not grow with the number of events', () => {
  const revenue = DeviceRevenue.parse('');
  for (let event = 0; event < 50_000; event++) revenue.addToBand('ad', 'usd', bandOf(event % 500), 12_345);
  const text = revenue.toString();
  expect(text.length).toBeLessThan(12 * (REVENUE_DAYS.length + 1));
  expect(DeviceRevenue.parse(text).toString()).toBe(text);
});

it('is empty without revenue, and refuses a text that it did not write', () => {
  expect(DeviceRevenue.parse('').toString()).toBe('');
  expect(readRevenue('')).toEqual([]);
  for (const text of ['usd|nonsense', 'usd|09n8.', 'usd|-A1', 'usd|0A'])
    expect(() => readRevenue(text)).toThrow();
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
function storedBy(days: readonly number[], sums: [letter: string, of: 'ad' | 'purchase' | 'other'][]) {
  return (own: { age: number; ad: number; purchase: number; other: number }[]) => {
    const bands = [...days, Number.POSITIVE_INFINITY].flatMap((day, at) => {
      const within = own.filter(({ age }) => age <= day && age > (days[at - 1] ?? Number.NEGATIVE_INFINITY));
      const texts = sums.map(([letter, of]) => {
        const sum = within.reduce((total, one) => total + one[of], 0);
        return sum === 0 ? '' : letter + sum.toString(36);
      });
      return texts.join('') === ''
        ? []
        : [(day === Number.POSITIVE_INFINITY ? '' : day.toString(36)) + texts.join('')];
    });
    return bands.length === 0 ? '' : ['usd', ...bands].join('|');
  };
}

it('writes its bands by the days that they end on, and its sums by their letters', () => {
  fc.assert(
    fc.property(earnings, (own) => {
      const revenue = DeviceRevenue.parse('');
      for (const { age, ad, purchase } of own) {
        revenue.addToBand('ad', 'usd', bandOf(age), ad);
        revenue.addToBand('purchase', 'usd', bandOf(age), purchase);
      }
      const stored = storedBy(REVENUE_DAYS, [
        ['A', 'ad'],
        ['P', 'purchase'],
      ])(own);
      expect(sumsOf(`${revenue}`)).toEqual(sumsOf(stored));
    }),
  );
  const revenue = DeviceRevenue.parse('');
  revenue.addToBand('ad', 'usd', bandOf(20), 1);
  revenue.addToBand('purchase', 'usd', bandOf(400), 35);
  expect(`${revenue}`).toBe('usd|uA1|Pz');
});

/** Revenue up to each of the days, without rounding. */
const sumsOf = (text: string) => {
  const [{ bands } = { bands: [] }] = readRevenue(text);
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
      const both = storedBy(days, [
        ['Z', 'other'],
        ['A', 'ad'],
        ['P', 'purchase'],
      ])(own);
      const one = storedBy(days, [['P', 'purchase']])(own);
      const sums = sumsOf(both);
      for (const [index, last] of [...REVENUE_DAYS, Number.POSITIVE_INFINITY].entries()) {
        // Up to a day that the other release had no band for, only what is certain.
        const known = last === Number.POSITIVE_INFINITY || days.includes(last) ? last : null;
        if (known !== null) expect(sums[index]).toEqual([until('ad', known), until('purchase', known)]);
        if (known !== null) expect(sumsOf(one)[index]).toEqual([0, until('purchase', known)]);
      }
      // Stored again, it says the same.
      expect(sumsOf(`${DeviceRevenue.parse(both)}`)).toEqual(sums);
    }),
  );
  // Of a band with nothing else than an unknown sum, nothing is left.
  expect(readRevenue(`${DeviceRevenue.parse('usd|0Z9')}`)).toEqual([]);
  expect(readRevenue('usd|19A1|uA2')).toEqual(readRevenue('usd|uA2|1oA1'));
});
