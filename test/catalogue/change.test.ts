import { expect, it } from 'vitest';
import { changeOf } from '#catalogue';

it.each([
  ['revenue', 15, 10, { in: 'share', by: 0.5 }],
  ['revenue', 5, 10, { in: 'share', by: -0.5 }],
  ['profit', -2.5, -3, { in: 'amount', by: 0.5 }],
  ['profit', -4, 1, { in: 'amount', by: -5 }],
  ['profit', 4, -1, { in: 'amount', by: 5 }],
  ['revenue', 7, 0, { in: 'amount', by: 7 }],
  ['revenue', 0, 7, { in: 'amount', by: -7 }],
  ['revenue', 0, 0, null],
  ['revenue', null, 7, null],
  ['cpi', 7, null, null],
  ['roas', 0.25, 0.5, { in: 'points', by: -0.25 }],
  ['retention_d1', 0.5, 0, { in: 'points', by: 0.5 }],
] as const)('of %s to %d from %d', (metric, now, before, expected) => {
  expect(changeOf(metric, now, before)).toEqual(expected);
});
