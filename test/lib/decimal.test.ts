import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readDecimal } from '#lib/decimal';
import { nanosOf, toNanos } from '#lib/money';

it.each([
  ['0', '0', 0n],
  ['.5', '0.5', 500_000_000n],
  ['5.', '5', 5_000_000_000n],
  ['+0.001', '0.001', 1_000_000n],
  ['9.5E-4', '0.00095', 950_000n],
  ['-1.5', '-1.5', -1_500_000_000n],
  [' 007.50 ', '7.50', 7_500_000_000n],
  ['1e3', '1000', 1_000_000_000_000n],
  ['1.25e+1', '12.5', 12_500_000_000n],
  ['12e-1', '1.2', 1_200_000_000n],
  ['1e-12', '0.000000000001', 0n],
  ['0.0000000005', '0.0000000005', 1n],
])('reads %j as %s', (text, plain, nanos) => {
  expect([readDecimal(text), nanosOf(text)]).toEqual([plain, nanos]);
});

it.each([
  '',
  '.',
  '+',
  '-',
  'e5',
  '1,250',
  '1 250',
  '1_000',
  '0x10',
  'Infinity',
  'NaN',
  '1.2.3',
  '1e',
  '$1',
  '--1',
])('does not guess %j', (text) => {
  expect([readDecimal(text), nanosOf(text)]).toEqual([null, null]);
});

it('reads any number that JavaScript writes', () =>
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), (number) => {
      const text = readDecimal(String(number));
      expect(Number(text)).toBe(number === 0 ? 0 : number);
      if (number >= 0) expect(nanosOf(String(number))).toBe(toNanos(number));
    }),
  ));
