import { expect, it } from 'vitest';
import { money, NOTHING } from '#lib/format';

it.each([
  [1234.5, 'usd', '$1,234.50'],
  [0, 'usd', '$0.00'],
  [0.5, 'usd', '$0.50'],
  [0.5921, 'usd', '$0.59'],
  [-0.28, 'eur', '-€0.28'],
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
