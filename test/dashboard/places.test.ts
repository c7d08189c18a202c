import { expect, it } from 'vitest';
import { evenly, ticksOf } from '../../src/dashboard/charts/ticks.ts';
import { shortDays } from '../../src/dashboard/shell/dates.ts';
import { alignedTo, hoursIn, placesOf, unitOf, valuesAt } from '../../src/dashboard/tables/places.ts';

const TODAY = '2026-03-15';

it.each([
  ['2026-03-15', '2026-03-15', 'day'],
  ['2025-12-06', '2026-03-15', 'day'],
  ['2025-12-05', '2026-03-15', 'week'],
  ['2024-04-15', '2026-03-15', 'week'],
  ['2024-04-14', '2026-03-15', 'month'],
] as const)('draws %s to %s by %s', (from, to, unit) => expect(unitOf({ from, to })).toBe(unit));

it('has a place for every day that has started, with today incomplete', () => {
  const places = placesOf({ from: '2026-03-13', to: '2026-03-20', today: TODAY }, 'day');
  expect(places.map(({ key, partial }) => [key, partial])).toEqual([
    ['2026-03-13', false],
    ['2026-03-14', false],
    ['2026-03-15', true],
  ]);
  expect(places[0]?.label).toBe('Fri 13 Mar');
  expect(placesOf({ from: '2026-03-16', to: '2026-03-20', today: TODAY }, 'day')).toEqual([]);
});

it('marks weeks and months that the period or today cuts off as incomplete', () => {
  const view = { from: '2026-02-25', to: '2026-03-20', today: TODAY };
  expect(placesOf(view, 'week').map(({ key, partial }) => [key, partial])).toEqual([
    ['2026-W09', true],
    ['2026-W10', false],
    ['2026-W11', true],
  ]);
  expect(
    placesOf({ ...view, from: '2026-01-01' }, 'month').map(({ key, partial }) => [key, partial]),
  ).toEqual([
    ['2026-01', false],
    ['2026-02', false],
    ['2026-03', true],
  ]);
});

/** A view of some days in New York, at an instant. */
const inNewYork = (from: string, to: string, at: string) => ({
  ...{ from, to, today: at.slice(0, 10), now: Date.parse(at) },
  application: { timezone: 'America/New_York' },
});

it('has a place for every hour, with the current one incomplete and later ones ahead', () => {
  const places = hoursIn(inNewYork('2026-10-31', '2026-10-31', '2026-10-31T09:20:00-04:00'));
  expect(places).toHaveLength(24);
  expect(places.flatMap(({ partial }, index) => (partial ? [index] : []))).toEqual([9]);
  expect(places.findIndex(({ isAhead }) => isAhead)).toBe(10);
  expect(places[9]?.label).toBe('Sat 31 Oct, 09:00–10:00');
  const rows = [{ hour: places[9]?.key, revenue: 4 }];
  expect(valuesAt(places, 'hour', rows, 'revenue').slice(8, 11)).toEqual([0, 4, null]);
});

it('has 25 hours with distinct offsets when clocks are set back, and 23 when they are set forward', () => {
  const back = hoursIn(inNewYork('2026-11-01', '2026-11-01', '2026-11-02T12:00:00-05:00'));
  expect(back.slice(0, 4).map(({ label }) => label.slice('Sun 1 Nov, '.length))).toEqual([
    '00:00–01:00',
    '01:00–02:00 (UTC-04:00)',
    '01:00–02:00 (UTC-05:00)',
    '02:00–03:00',
  ]);
  expect([back.length, back.some(({ partial, isAhead }) => partial || isAhead)]).toEqual([25, false]);
  const forward = hoursIn(inNewYork('2026-03-08', '2026-03-08', '2026-03-09T12:00:00-04:00'));
  expect(forward).toHaveLength(23);
  expect(ticksOf(back, 'hour').map(({ text }) => text)).toEqual(['1 Nov', '06:00', '12:00', '18:00']);
  expect(ticksOf(forward, 'hour').map(({ text }) => text)).toEqual(['8 Mar', '06:00', '12:00', '18:00']);
});

it('labels two days of hours at noon and midnight', () => {
  const places = hoursIn(inNewYork('2026-10-30', '2026-10-31', '2026-11-02T12:00:00-05:00'));
  expect(ticksOf(places, 'hour')).toEqual([
    { index: 0, text: '30 Oct' },
    { index: 12, text: '12:00' },
    { index: 24, text: '31 Oct' },
    { index: 36, text: '12:00' },
  ]);
});

it('compares an hour with the same hour of the clock on another day, even if the days differ in length', () => {
  const at = '2026-11-03T12:00:00-05:00';
  const [before, now] = [
    inNewYork('2026-11-01', '2026-11-01', at),
    inNewYork('2026-11-02', '2026-11-02', at),
  ];
  const earlier = hoursIn(before);
  const figures = earlier.map((_, index) => index);
  const aligned = alignedTo(hoursIn(now), earlier, figures, 'hour');
  expect(aligned.slice(0, 4)).toEqual([0, 1, 3, 4]);
  expect(aligned).toHaveLength(24);
  // The other way round, both repetitions of the hour are compared with the same one.
  expect(alignedTo(earlier, hoursIn(now), figures.slice(0, 24), 'hour').slice(0, 4)).toEqual([0, 1, 1, 2]);
});

it.each([
  [1, [0]],
  [5, [0, 1, 2, 3, 4]],
  [7, [0, 2, 4, 6]],
  [28, [0, 7, 14, 21]],
  [90, [0, 20, 40, 60, 80]],
  [1100, [0, 220, 440, 660, 880]],
])('labels at most five of %d places', (length, indexes) => expect(evenly(length)).toEqual(indexes));

it('writes days and months below the axis', () => {
  const days = placesOf({ from: '2026-03-01', to: '2026-03-02', today: TODAY }, 'day');
  expect(ticksOf(days, 'day').map(({ text }) => text)).toEqual(['Sun 1 Mar', 'Mon 2 Mar']);
  const months = placesOf({ from: '2026-01-01', to: '2026-02-28', today: TODAY }, 'month');
  expect(ticksOf(months, 'month').map(({ text }) => text)).toEqual(['Jan 2026', 'Feb 2026']);
  const years = placesOf({ from: '2024-01-01', to: '2025-12-31', today: TODAY }, 'month');
  expect(ticksOf(years, 'month').map(({ index }) => index)).toEqual([0, 7, 14, 21]);
});

it('puts figures at their places, where a missing one is 0 or unknown as the metric requires', () => {
  const places = placesOf({ from: '2026-03-01', to: '2026-03-03', today: TODAY }, 'day');
  const rows = [
    { day: '2026-03-01', revenue: 2, ecpm: null },
    { day: '2026-03-03', revenue: 1, ecpm: 5 },
  ];
  expect(valuesAt(places, 'day', rows, 'revenue')).toEqual([2, 0, 1]);
  expect(valuesAt(places, 'day', rows, 'ecpm')).toEqual([null, null, 5]);
});

it.each([
  ['2026-03-01', '2026-03-07', '1 Mar – 7 Mar'],
  ['2026-03-01', '2026-03-01', 'Sun 1 Mar'],
  ['2025-03-01', '2025-03-07', '1 Mar – 7 Mar 2025'],
  ['2025-12-30', '2026-01-02', '30 Dec 2025 – 2 Jan 2026'],
])('writes %s to %s as %s', (from, to, text) => expect(shortDays({ from, to }, TODAY)).toBe(text));
