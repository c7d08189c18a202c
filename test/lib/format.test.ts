import fc from 'fast-check';
import { expect, it } from 'vitest';
import { amountsIn, type FigureFormat, money, NOTHING, NUMBERS, RATIOS } from '#lib/format';

it.each([
  [1234.5, 'usd', '$1,234.50'],
  [0, 'usd', '$0.00'],
  [0.5, 'usd', '$0.50'],
  [0.5921, 'usd', '$0.59'],
  [-0.28, 'eur', '−€0.28'],
  [0.0917, 'usd', '$0.0917'],
  [0.05, 'usd', '$0.05'],
  [0.00035, 'usd', '$0.00035'],
  [0.000001, 'usd', '$0.000001'],
  [152, 'jpy', '¥152'],
  [0.5, 'jpy', '¥0.50'],
  [null, 'usd', NOTHING],
])('%s %s reads %s', (amount, currency, text) => {
  expect(money(amount, currency)).toBe(text);
});

const columnOf = ({ text, places }: FigureFormat, values: readonly number[]) =>
  values.map((value) => text(value, places(values)));

it.each([
  ['amounts', amountsIn('usd'), [1234.5, 0.004, 0], ['$1,234.50', '<$0.01', '$0.00']],
  ['losses', amountsIn('usd'), [-74.5, -0.001], ['−$74.50', '$0.00']],
  ['small amounts', amountsIn('usd'), [0.0571, 0.0003], ['$0.0571', '$0.0003']],
  ['amounts below one', amountsIn('usd'), [0.117, 0.0412], ['$0.117', '$0.041']],
  ['whole cents', amountsIn('usd'), [0.5, 0.12], ['$0.50', '$0.12']],
  ['amounts without minor units', amountsIn('jpy'), [152.4, 3], ['¥152', '¥3']],
  ['ratios', RATIOS, [0.777, 0.36], ['77.7%', '36.0%']],
  ['large ratios', RATIOS, [0.777, 3.25], ['78%', '325%']],
  ['whole ratios', RATIOS, [0.5, 0], ['50%', '0%']],
  ['means', NUMBERS, [436, 431.25], ['436.0', '431.3']],
  ['large means', NUMBERS, [9203.7, 0.5], ['9,204', '1']],
])('writes a column of %s with the decimals of its largest', (_, format, values, texts) => {
  expect(columnOf(format, values)).toEqual(texts);
});

it('writes all figures of a column with the same decimals', () => {
  const figure = fc.oneof(
    fc.double({ min: 0, max: 3, noNaN: true }),
    fc.double({ min: 0, max: 1e7, noNaN: true }),
  );
  const decimalsIn = (text: string) => text.replace('%', '').split('.')[1]?.length ?? 0;
  fc.assert(
    fc.property(
      fc.constantFrom(amountsIn('usd'), amountsIn('jpy'), RATIOS, NUMBERS),
      fc.array(figure, { minLength: 1 }),
      (format, values) => {
        expect(new Set(columnOf(format, values).map(decimalsIn)).size).toBe(1);
      },
    ),
  );
});
