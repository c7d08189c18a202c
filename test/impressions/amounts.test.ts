import { describe, expect, it } from 'vitest';
import { AppError } from '#http';
import type { ImpressionTemplate } from '#networks';
import { readCallback } from '../../src/impressions/read-callback.ts';
import { ImpressionTemplateChoice } from '../../src/teams/impression-template.ts';
import { testBounds } from '../helpers/bounds.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const EARLIEST = Date.UTC(2010, 0, 1);
const TEMPLATE: ImpressionTemplate = {
  ...(ImpressionTemplateChoice.parse(CHOICE()) as ImpressionTemplate),
};

function CHOICE() {
  return {
    ...{ id: 'id', amount: 'amount', scale: 'unit', currency: 'currency', default_currency: 'usd' },
    ...{ device: 'device', device_is: 'device_id', network: 'network', placement: 'placement' },
    ...{ ad_format: 'format', country: 'country', time: 'time' },
  };
}
const GIVEN = { id: 'i-1', amount: '0.1', device: 'd', network: 'unity', placement: 'p', format: 'f' };

const nanosOf = (amount: string, scale: ImpressionTemplate['scale']): number | string => {
  try {
    return readCallback({ ...TEMPLATE, scale }, { ...GIVEN, amount }, NOW).nanos;
  } catch (error) {
    if (error instanceof AppError) return error.details[0]?.message ?? '';
    throw error;
  }
};

describe('amounts that are not round', () => {
  it.each<[ImpressionTemplate['scale'], string, number]>([
    // Rounded to the nearest billionth, halves up.
    ['unit', '0.123456789', 123_456_789],
    ['unit', '0.1234567894', 123_456_789],
    ['unit', '0.1234567895', 123_456_790],
    ['unit', '0.0000000005', 1],
    ['unit', '0.00000000049', 0],
    ['micros', '1234.567', 1_234_567],
    ['micros', '0.0015', 2],
    ['micros', '0.0014999', 1],
    // Per thousand impressions: a third of the billionths are lost if they are cut off.
    ['ecpm', '1.234567890', 1_234_568],
    ['ecpm', '1.2345675', 1_234_568],
    ['ecpm', '1.2345674', 1_234_567],
    ['ecpm', '0.0000005', 1],
    ['ecpm', '12.345678999', 12_345_679],
  ])('%s: %s is %i billionths', (scale, amount, nanos) => expect(nanosOf(amount, scale)).toBe(nanos));

  it('does not lose on average', () => {
    const amounts = Array.from({ length: 999 }, (_, index) => `0.${String(index + 1).padStart(9, '0')}`);
    const sum = amounts.reduce((total, amount) => total + Number(nanosOf(amount, 'ecpm')), 0);
    // Of 1 to 999 thousandths of a billionth each, those from a half on are one.
    expect(sum).toBe(500);
  });
});

testBounds('the largest amount', [
  {
    name: 'units',
    ...{ at: 1_000_000_000, ask: (amount: number) => nanosOf(String(amount), 'unit') },
    ...{ below: 999_999_999 * 1e9, exact: 'is too large', above: 'is too large' },
  },
]);

const timeOf = (time: string) => {
  const { occurredAt, warnings } = readCallback(TEMPLATE, { ...GIVEN, time }, NOW);
  return [occurredAt, warnings.length];
};

testBounds('when an impression was shown', [
  {
    name: 'now',
    at: NOW,
    ask: (at: number) => timeOf(String(at)),
    ...{ below: [NOW - 1, 0], exact: [NOW, 0], above: [NOW, 1] },
  },
  {
    name: 'before any',
    at: EARLIEST,
    ask: (at: number) => timeOf(new Date(at).toISOString()),
    ...{ below: [NOW, 1], exact: [EARLIEST, 0], above: [EARLIEST + 1, 0] },
  },
  {
    name: 'the longest id',
    at: 400,
    ask: (length: number) => {
      try {
        return readCallback(TEMPLATE, { ...GIVEN, id: '1'.repeat(length) }, NOW).id?.length ?? null;
      } catch {
        return null;
      }
    },
    ...{ below: 399, exact: 400, above: null },
  },
]);
