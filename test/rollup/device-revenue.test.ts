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
    Object.entries(own).map(([band, [ad, purchase]]) => [band, { ad, purchase }]);
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
  expect(() => readRevenue('usd|nonsense')).toThrow('not the revenue of a device');
});
