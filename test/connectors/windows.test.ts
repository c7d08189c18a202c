import { describe, expect, it } from 'vitest';
import { KINDS } from '../../src/connectors/kinds.ts';
import { dailyWindow, isPending, latestDay, nextDailyAt, nextWindow } from '../../src/connectors/windows.ts';
import type { Backfill } from '../../src/db/index.ts';
import { addDays, DAY_MS, daysBetween, HOUR_MS } from '../../src/lib/time.ts';
import { type Bound, testBounds } from '../helpers/bounds.ts';

const { meta: costs, max } = KINDS;
const NEW = { lastSuccessAt: null, account: null, backfill: null };
const NOW = Date.UTC(2026, 10, 20, 12);
const ZONE = 'America/New_York';

const daysAfter = (kind: typeof costs | typeof max) => (since: number) => {
  const { from, to } = dailyWindow(kind, { ...NEW, lastSuccessAt: NOW - since }, ZONE, NOW);
  return daysBetween(from, to) + 1;
};
const latest =
  (kind: typeof costs | typeof max, zone = ZONE) =>
  (now: number) =>
    latestDay(kind, NEW, zone, now);
const next =
  (kind: typeof costs | typeof max, zone = ZONE) =>
  (now: number) =>
    new Date(nextDailyAt(kind, NEW, zone, now)).toISOString();

/** In New York, midnight is at 5 and 4 a.m. at 9 in UTC until clocks change. */
const MIDNIGHT = Date.UTC(2026, 10, 20, 5);
const BACKFILL: Backfill = { from: '2026-03-01', to: '2026-03-17', next: '2026-03-01', dailyAt: NOW };

testBounds('windows of connectors', [
  {
    name: 'costs of the day before, by the time zone',
    ...{ at: MIDNIGHT, ask: latest(costs) },
    ...{ below: '2026-11-18', exact: '2026-11-19', above: '2026-11-19' },
  },
  {
    name: 'costs of the day before, by the account’s time zone',
    at: Date.UTC(2026, 10, 20),
    ask: (now: number) =>
      latestDay(
        costs,
        { ...NEW, account: { name: '', currency: 'usd', timezone: 'UTC' } as never },
        ZONE,
        now,
      ),
    ...{ below: '2026-11-18', exact: '2026-11-19', above: '2026-11-19' },
  },
  {
    name: 'ad revenue of the day before, once it is ready',
    ...{ at: Date.UTC(2026, 10, 20, max.readyHour), ask: latest(max) },
    ...{ below: '2026-11-18', exact: '2026-11-19', above: '2026-11-19' },
  },
  {
    name: 'costs read at 4 a.m.',
    at: MIDNIGHT + 4 * HOUR_MS,
    ask: next(costs),
    below: '2026-11-20T09:00:00.000Z',
    exact: '2026-11-21T09:00:00.000Z',
    above: '2026-11-21T09:00:00.000Z',
  },
  {
    name: 'ad revenue read once it is ready',
    at: Date.UTC(2026, 10, 20, max.readyHour),
    ask: next(max),
    below: '2026-11-20T08:00:00.000Z',
    exact: '2026-11-21T08:00:00.000Z',
    above: '2026-11-21T08:00:00.000Z',
  },
  // Clocks are set back on the first of November 2026, and forward on the 8th of March.
  {
    name: '4 a.m. after clocks are set back',
    at: Date.UTC(2026, 10, 1, 9),
    ask: next(costs),
    below: '2026-11-01T09:00:00.000Z',
    exact: '2026-11-02T09:00:00.000Z',
    above: '2026-11-02T09:00:00.000Z',
  },
  {
    name: '4 a.m. after clocks are set forward',
    at: Date.UTC(2026, 2, 8, 8),
    ask: next(costs),
    below: '2026-03-08T08:00:00.000Z',
    exact: '2026-03-09T08:00:00.000Z',
    above: '2026-03-09T08:00:00.000Z',
  },
  ...[0, 1, 2, 10, 24, 25].map(
    (days): Bound => ({
      name: `costs, ${days} days after the last success`,
      ...{ at: days * DAY_MS, ask: daysAfter(costs) },
      below: Math.min(30, Math.max(7, days - 1 + 6)),
      exact: Math.min(30, Math.max(7, days + 6)),
      above: Math.min(30, Math.max(7, days + 6)),
    }),
  ),
  { name: 'ad revenue at once', at: 0, ask: daysAfter(max), below: 2, exact: 2, above: 3 },
  { name: 'ad revenue after a day', at: DAY_MS, ask: daysAfter(max), below: 3, exact: 3, above: 4 },
  { name: 'ad revenue after five days', at: 5 * DAY_MS, ask: daysAfter(max), below: 7, exact: 7, above: 7 },
  {
    name: 'ad revenue after a clock that was ahead',
    at: -HOUR_MS,
    ask: daysAfter(max),
    below: 2,
    exact: 2,
    above: 2,
  },
  {
    name: 'the daily run is due during a backfill',
    ...{
      at: NOW,
      ask: (now: number) => nextWindow(costs, { ...NEW, backfill: BACKFILL }, ZONE, now).isBackfill,
    },
    ...{ below: true, exact: false, above: false },
  },
  {
    name: 'the last day of a backfill',
    at: 17,
    ask: (day: number) => isPending({ ...BACKFILL, next: `2026-03-${day}` }),
    ...{ below: true, exact: true, above: false },
  },
]);

describe('steps of a backfill', () => {
  it('cover each day once', () => {
    const days: string[] = [];
    let backfill = BACKFILL;
    const steps: number[] = [];
    while (isPending(backfill)) {
      const { from, to, isBackfill } = nextWindow(costs, { ...NEW, backfill }, ZONE, NOW - 1);
      expect(isBackfill).toBe(true);
      steps.push(daysBetween(from, to) + 1);
      for (let day = from; day <= to; day = addDays(day, 1)) days.push(day);
      backfill = { ...backfill, next: addDays(to, 1) };
    }
    expect(steps).toEqual([7, 7, 3]);
    expect(days).toEqual(Array.from({ length: 17 }, (_, index) => addDays('2026-03-01', index)));
  });

  it('reads a week when it is new', () => {
    for (const kind of [costs, max]) {
      const { from, to } = dailyWindow(kind, NEW, ZONE, NOW);
      expect(daysBetween(from, to) + 1).toBe(7);
      expect(to).toBe(latestDay(kind, NEW, ZONE, NOW));
    }
  });
});
