import { expect, it } from 'vitest';
import { LineChart } from '../../src/dashboard/charts/chart.tsx';
import { withForecasts } from '../../src/dashboard/charts/forecast.ts';
import { forecastsOf } from '../../src/dashboard/pages/reports/predicted-ltv.tsx';
import { Page } from '../helpers/page.ts';

const DAYS = [0, 1, 2, 7, 14];
const format = (value: number | null) => (value === null ? '–' : value.toFixed(2));

it('goes on from the last known day of each curve, within a band that opens from there', () => {
  const found = withForecasts(
    [
      { name: 'March', values: [1, 2, 4, null, null] },
      { name: 'April', values: [1, null, null, null, null] },
    ],
    DAYS,
    { ahead: 10, forecasts: [{ low: 1, value: 2, high: 5 }, null] },
    format,
  );
  expect([found.days, found.ends]).toEqual([[0, 1, 2, 12], [12]]);
  const [march, april, predicted] = found.series;
  expect([march?.values, march?.drawn]).toEqual([
    [1, 2, 4, null],
    [1, 2, 4, null],
  ]);
  expect(april?.values).toEqual([1, null, null, null]);
  expect(predicted).toEqual({
    name: 'March, predicted',
    before: 0,
    values: [null, null, null, 6],
    drawn: [null, null, 4, 6],
    texts: ['–', '–', '–', '6.00, likely between 5.00 and 9.00'],
    band: { low: [null, null, 4, 5], high: [null, null, 4, 9] },
  });
  expect(found.series).toHaveLength(3);
});

it('draws a longer curve without a gap where the prediction of a shorter one ends', () => {
  const { days, series } = withForecasts(
    [
      { name: 'Old', values: [0, 1, 2, 7, 14] },
      { name: 'New', values: [0, 1, null, null, null] },
    ],
    DAYS,
    { ahead: 9, forecasts: [null, { low: 0, value: 3, high: 6 }] },
    format,
  );
  expect(days).toEqual([0, 1, 2, 7, 10, 14]);
  expect([series[0]?.values, series[0]?.drawn]).toEqual([
    [0, 1, 2, 7, null, 14],
    [0, 1, 2, 7, 10, 14],
  ]);
  expect(series[2]?.drawn).toEqual([null, 1, 1 + 1 / 3, 1 + (3 * 6) / 9, 4, null]);
});

it('draws the band with room for its upper edge, and says the range in the readout', () => {
  const { days, series } = withForecasts(
    [{ name: 'March', values: [1, 2, 4, null, null] }],
    DAYS,
    { ahead: 2, forecasts: [{ low: 0, value: 2, high: 4 }] },
    format,
  );
  const drawn = new Page(
    String(
      LineChart({
        title: 'LTV',
        labels: days.map((day) => `Day ${day}`),
        xs: days,
        format: { text: format, places: () => 2 },
        series,
      }),
    ),
  );
  // The top is 8: the upper edge reaches it, and the lower one stays at the last known value.
  expect(drawn.one('polygon.band').getAttribute('points')).toBe(
    '50.00,50.00 100.00,0.00 100.00,50.00 50.00,50.00',
  );
  expect(drawn.chart.series.map(({ name, texts }) => [name, texts])).toEqual([
    ['March', ['1.00', '2.00', '4.00', '–']],
    ['March, predicted', ['–', '–', '–', '6.00, likely between 4.00 and 8.00']],
  ]);
});

it('is per device of the cohort', () => {
  const cohort = { cohort_from: '2026-03-01', cohort_to: '2026-03-07' };
  const amounts = { predicted_revenue: 8, predicted_revenue_low: 4, predicted_revenue_high: 12 };
  const asked = { cohort: 'week', group: '' };
  const found = forecastsOf(
    { horizon_days: 30, data: [{ ...cohort, ...amounts, size: 4 }] } as never,
    [cohort, { ...cohort, cohort_from: '2026-02-20' }] as never,
    asked as never,
    { today: '2026-03-31' } as never,
  );
  expect(found).toEqual({ ahead: 30, forecasts: [{ value: 2, low: 1, high: 3 }, null] });
});
