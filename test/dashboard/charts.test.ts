import type { HTMLElement } from 'node-html-parser';
import { describe, expect, it } from 'vitest';
import { amountsIn, NUMBERS, RATIOS } from '#lib/format';
import { LineChart, type Series } from '../../src/dashboard/charts/chart.tsx';
import { niceTop, sparkOf } from '../../src/dashboard/charts/geometry.ts';
import { Bar, Interval, Range } from '../../src/dashboard/charts/shapes.tsx';
import { heatOf } from '../../src/dashboard/tables/heat.ts';
import { barShare, draw, expectValues, numberShown, readChart, valuesIn } from '../helpers/drawing.ts';

// Drawings read back to numbers, and compared with what was to be drawn.

type ChartProps = Parameters<typeof LineChart>[0];
const chart = (props: Partial<ChartProps> & { series: readonly Series[]; labels: readonly string[] }) =>
  readChart(draw(LineChart, { title: 'Own', format: NUMBERS, ...props }));

const labels = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri'];
const evenly = labels.map((_, index) => index * 25);
describe('a line chart', () => {
  it.each<[string, Partial<ChartProps>, (number | null)[], number]>([
    ['counts', { isWhole: true }, [3, 0, 7, 1, 5], 8],
    ['amounts', { format: amountsIn('usd') }, [0.37, 12.345678901, 4.2, 9.99, 0.01], 20],
    ['ratios', { format: RATIOS }, [0.013, 0.5, 0.251, 0.999, 0.1], 1],
    ['gaps', {}, [1, null, 3, null, 17], 20],
  ])('shows %s where its axis says', (_, props, values, top) => {
    const drawn = chart({ labels, series: [{ name: 'Own', values }], ...props });
    expectValues(
      drawn.grid.map(({ value }) => value),
      [4, 3, 2, 1, 0].map((part) => (top * part) / 4),
      top,
    );
    for (const { text, value } of drawn.grid) expect(numberShown(text)).toBeCloseTo(value, 6);
    const [series] = drawn.series;
    if (!series) throw new Error('no series');
    expectValues(valuesIn(series, evenly), values, top);
    expect(drawn.labels.map(({ text, x }) => [text, x])).toEqual(
      drawn.labels.map(({ text }) => [text, evenly[labels.indexOf(text)]]),
    );
  });

  it('draws several series on one axis, each by itself', () => {
    const all = [
      [1, 2, 3, 4, 5],
      [5, 4, 3, 2, 1],
      [0, 10, 0, 10, 0],
    ];
    const drawn = chart({ labels, series: all.map((values, index) => ({ name: `${index}`, values })) });
    expect(drawn.series.map(({ classes }) => classes)).toEqual([
      ['line', 's1'],
      ['line', 's2'],
      ['line', 's3'],
    ]);
    for (const [index, series] of drawn.series.entries())
      expectValues(valuesIn(series, evenly), all[index] ?? [], 20);
    expect(drawn.series.flatMap(({ areas }) => areas)).toEqual([]);
  });

  it('stands its places where their positions are', () => {
    const xs = [0, 1, 2, 10, 40];
    const places = xs.map((x) => (x / 40) * 100);
    const values = [5, 4, 3, 2, 1];
    const drawn = chart({
      labels,
      xs,
      series: [{ name: 'Own', values }],
      markers: [{ index: 3, text: 'Release' }],
    });
    const [series] = drawn.series;
    if (!series) throw new Error('no series');
    expectValues(valuesIn(series, places), values, 8);
    expect(drawn.markers).toEqual([25]);
  });

  it.each([0.25, 1, 1.5, 3])('draws a level of %d where the axis has it', (value) => {
    const level = { value, text: 'own' };
    const drawn = chart({
      labels,
      level,
      format: RATIOS,
      series: [{ name: 'Own', values: [0.1, 0.4, 0.9, 1.1, 2] }],
    });
    expect(drawn.levels).toHaveLength(1);
    expect(drawn.levels[0]).toBeCloseTo(value, 9);
    const top = drawn.grid[0]?.value ?? 0;
    expect(top).toBeGreaterThanOrEqual(value);
  });

  it('dashes what is not complete, and nothing else', () => {
    const values = [3, 4, 5, 6, 2];
    const lines = (partial: readonly number[], more: Partial<Series> = {}) =>
      chart({ labels, partial, series: [{ name: 'Own', values, ...more }] }).series[0]?.lines.map(
        ({ points, isPartial }) => [points.map(({ x }) => x / 25), isPartial],
      );
    expect(lines([])).toEqual([[[0, 1, 2, 3, 4], false]]);
    expect(lines([4])).toEqual([
      [[0, 1, 2, 3], false],
      [[3, 4], true],
    ]);
    expect(lines([0, 4])).toEqual([
      [[0, 1], true],
      [[1, 2, 3], false],
      [[3, 4], true],
    ]);
    expect(lines([4], { isWhole: true })).toEqual([[[0, 1, 2, 3, 4], false]]);
  });

  it('fills the area below a single series, down to 0', () => {
    const values = [3, 4, 5, 6, 2];
    const [series] = chart({ labels, series: [{ name: 'Own', values }] }).series;
    const [area = []] = series?.areas ?? [];
    const ys = area.map(({ y }) => y);
    expect([ys[0], ys.at(-1)]).toEqual([0, 0]);
    expectValues(ys.slice(1, -1), values, 8);
    expect(area.map(({ x }) => x)).toEqual([0, 0, 25, 50, 75, 100, 100]);
  });

  it('draws a band between its lows and its highs', () => {
    const [low, high] = [
      [null, 1, 2, 3, 4],
      [null, 2, 5, 8, 12],
    ];
    const drawn = chart({
      labels,
      series: [
        { name: 'Own', values: [1, 1, 1, 1, 1] },
        { name: 'Later', values: [null, 1.5, 3, 4, 6], before: 0, band: { low, high } },
      ],
    });
    const [band = []] = drawn.series[1]?.bands ?? [];
    expect(band.map(({ x }) => x)).toEqual([25, 50, 75, 100, 100, 75, 50, 25]);
    expectValues(
      band.slice(0, 4).map(({ y }) => y),
      high.slice(1),
      20,
    );
    expectValues(
      band.slice(4).map(({ y }) => y),
      low.slice(1).reverse(),
      20,
    );
  });

  it('names series where they end', () => {
    const figure = draw(LineChart, {
      ...{ title: 'Own', format: NUMBERS, labels },
      series: [
        { name: 'low', values: [9, 9, 9, 9, 5] },
        { name: 'high', values: [1, 1, 1, 15, null] },
      ],
    });
    const ends = figure
      .querySelectorAll('[data-series]')
      .map((own) => [own.getAttribute('data-series'), own.getAttribute('data-end')]);
    // In percent from the top, which is 20.
    expect(ends).toEqual([
      ['1', '25'],
      ['0', '75'],
    ]);
  });
});

describe('the top of an axis', () => {
  it.each([false, true])('is at least the value and divides into four, whole: %s', (isWhole) => {
    for (let power = -6; power <= 9; power++) {
      for (const digits of [1, 1.000001, 1.99, 2, 2.01, 2.5, 3.3333, 4, 4.000001, 5, 7.7, 8, 9.99]) {
        const value = digits * 10 ** power;
        const top = niceTop(value, isWhole);
        expect(top * (1 + 1e-9)).toBeGreaterThanOrEqual(value);
        expect(top).toBeLessThanOrEqual(Math.max(2.51 * value, isWhole ? 4 : 0));
        if (isWhole) expect(Math.abs(top / 4 - Math.round(top / 4))).toBeLessThan(1e-6);
      }
    }
  });
});

const numbers = (element: HTMLElement | null, ...names: string[]) =>
  names.map((name) => Number(element?.getAttribute(name)));

describe('shapes', () => {
  it.each([
    [-0.5, 0],
    [0, 0],
    [0.1234, 0.1234],
    [1, 1],
    [1.5, 1],
  ])('a bar of %d', (share, drawn) => expect(barShare(draw(Bar, { share }))).toBeCloseTo(drawn, 4));

  it.each([
    [2, 3, 7, 10, [20, 70, 30]],
    [0, 3, 20, 10, [0, 100, 30]],
  ])('a range from %d, %d to %d of %d', (low, value, high, top, [from = 0, to = 0, middle = 0]) => {
    const range = draw(Range, { low, value, high, top });
    const [x = 0, width = 0] = numbers(range.querySelector('rect.band'), 'x', 'width');
    expect([x, x + width]).toEqual([from, to]);
    expect(numbers(range.querySelector('line.middle'), 'x1', 'x2')).toEqual([middle, middle]);
  });

  it.each([
    [-2, 3, 8, 10, [40, 90, 65]],
    [-8, -3, -2, 10, [10, 40, 35]],
    [-30, 0, 30, 10, [0, 100, 50]],
  ])('a difference from %d, %d to %d of ±%d', (low, value, high, extent, [from = 0, to = 0, middle = 0]) => {
    const interval = draw(Interval, { low, value, high, extent, isReal: true });
    const [x = 0, width = 0] = numbers(interval.querySelector('rect'), 'x', 'width');
    expect([x, x + width]).toEqual([from, to]);
    expect(numbers(interval.querySelector('line.middle'), 'x1', 'x2')).toEqual([middle, middle]);
    expect(numbers(interval.querySelector('line.zero'), 'x1')).toEqual([50]);
    const svg = interval.querySelector('svg');
    expect(svg?.getAttribute('class')).toBe(`interval ${value > 0 ? 'up' : 'down'}`);
  });

  it('a curve without axes keeps the order and the distances of its values', () => {
    const values = [3, null, 7, 5];
    const points = (sparkOf(values) ?? '').split(' ').map((pair) => pair.split(',').map(Number));
    expect(points).toEqual([
      [0, 22],
      [66.7, 2],
      [100, 12],
    ]);
    for (const flat of [[], [3], [3, 3], [null, 3]]) expect(sparkOf(flat)).toBeNull();
  });
});

describe('shades', () => {
  it.each([
    [
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    ],
    [
      [0, 0.4, 5, 10],
      [0, 1, 5, 10],
    ],
    [
      [-1, 0, 10],
      [0, 0, 10],
    ],
    [[5], [10]],
    [
      [4.4, 5.6, 10],
      [4, 6, 10],
    ],
  ])('of %j', (values, shades) => {
    const of = heatOf(values);
    expect(values.map((value) => Number(of(value).slice(1)))).toEqual(shades);
    expect(of(null)).toBe('');
  });

  it('do not pale before one outlier among many', () => {
    const values = Array.from({ length: 40 }, (_, index) => index + 1);
    const of = heatOf([...values, 10_000]);
    expect([of(10_000), of(40), of(20), of(1)]).toEqual(['h10', 'h10', 'h5', 'h1']);
  });
});
