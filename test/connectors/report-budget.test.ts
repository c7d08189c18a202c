import { afterEach, expect, it, vi } from 'vitest';
import { ReportBudget } from '../../src/connectors/report-budget.ts';

const MB = 1024 * 1024;
const made: ReportBudget[] = [];
const budget = () => {
  const one = new ReportBudget();
  made.push(one);
  return one;
};

afterEach(() => {
  vi.useRealTimers();
  for (const one of made.splice(0)) one.release();
});

it('lets small reports be read beside a large one, and no other large one', () => {
  const [large, small, other] = [budget(), budget(), budget()];
  expect(large.read(MB + 1)).toBe(true);
  expect([small.read(MB), small.read(1)]).toEqual([true, false]);
  expect(other.read(MB + 1)).toBe(false);
  expect(large.read(20 * MB)).toBe(true);
});

it('gives the turn to the next one once the large report is stored', async () => {
  const [large, next] = [budget(), budget()];
  large.read(2 * MB);
  expect(next.read(2 * MB)).toBe(false);
  const waits: number[] = [];
  await next.turn(async (ms) => {
    waits.push(ms);
    if (waits.length === 3) large.release();
  });
  expect(waits).toHaveLength(3);
  expect([next.read(MB), large.read(MB)]).toEqual([true, false]);
  // Whoever does not hold it releases nothing.
  large.release();
  expect(large.read(MB)).toBe(false);
});

it.each([
  ['just before', -1, false],
  ['when', 0, true],
])(
  'gives the turn of a run that was cut off to another one %s 20 minutes have passed',
  (_, more, expected) => {
    const start = Date.UTC(2026, 2, 1);
    vi.useFakeTimers({ now: start });
    const [lost, other] = [budget(), budget()];
    lost.read(2 * MB);
    vi.setSystemTime(start + 20 * 60_000 + more);
    expect(other.read(2 * MB)).toBe(expected);
  },
);
