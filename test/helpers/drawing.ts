import { jsx } from 'hono/jsx';
import { type HTMLElement, parse } from 'node-html-parser';
import { expect } from 'vitest';

// Reads a drawing back to the numbers that its reader takes from it: by the labels of its axis, not by how it was drawn.

export type Point = { x: number; y: number };
type Line = { points: Point[]; isPartial: boolean };

type DrawnChart = {
  /** The labels of the grid, from top to bottom, and the value that each line stands for. */
  grid: { text: string; value: number }[];
  /** By series: lines and dots, areas and bands, with `y` as a value and `x` as a share of the axis in percent. */
  series: { classes: string[]; lines: Line[]; areas: Point[][]; bands: Point[][] }[];
  /** The values of horizontal lines. */
  levels: number[];
  /** The shares of the axis at which days are marked, in percent. */
  markers: number[];
  /** The labels below the axis, and where they stand. */
  labels: { text: string; x: number }[];
};

const numberIn = (element: HTMLElement, name: string): number => {
  const text = element.getAttribute(name);
  if (text === undefined || text === '' || Number.isNaN(Number.parseFloat(text))) {
    throw new Error(`<${element.rawTagName} ${name}="${text}"> has no number`);
  }
  return Number.parseFloat(text);
};

const classesOf = (element: HTMLElement) => (element.getAttribute('class') ?? '').split(' ').filter(Boolean);

/** The number that a label shows: `1,234.5`, `12 %`, `−3` or `€4.50`. */
export function numberShown(text: string): number {
  const digits = text.replaceAll(/[^\d.−-]/g, '').replace('−', '-');
  const number = Number(digits);
  if (digits === '' || Number.isNaN(number)) throw new Error(`${JSON.stringify(text)} shows no number`);
  return text.includes('%') ? number / 100 : number;
}

const coordinates = (element: HTMLElement): Point[] =>
  (element.getAttribute('points') ?? '')
    .split(' ')
    .filter(Boolean)
    .map((pair) => {
      const [x = Number.NaN, y = Number.NaN] = pair.split(',').map(Number);
      return { x, y };
    });

/** A line chart, whose scale is that of its own grid: two of its lines and their labels. */
export function readChart(figure: HTMLElement): DrawnChart {
  const texts = figure.querySelectorAll('.ticks span').map(({ text }) => text);
  const heights = figure.querySelectorAll('line.grid').map((line) => {
    const [from, to] = [numberIn(line, 'y1'), numberIn(line, 'y2')];
    if (from !== to) throw new Error('a line of the grid is not level');
    return from;
  });
  if (texts.length !== heights.length || texts.length < 2)
    throw new Error('the grid has other lines than labels');
  const [first = 0, last = 0] = [heights[0], heights.at(-1)];
  const [above, below] = [numberShown(texts[0] ?? ''), numberShown(texts.at(-1) ?? '')];
  const valueAt = (y: number) => below + ((y - last) / (first - last)) * (above - below);
  const toValues = (element: HTMLElement) => coordinates(element).map(({ x, y }) => ({ x, y: valueAt(y) }));
  return {
    grid: texts.map((text, index) => ({ text, value: valueAt(heights[index] ?? Number.NaN) })),
    series: figure.querySelectorAll('g[data-line]').map((group) => ({
      classes: classesOf(group),
      lines: group.querySelectorAll('polyline').map((line) => ({
        points: toValues(line),
        isPartial: classesOf(line).includes('partial'),
      })),
      areas: group.querySelectorAll('polygon.area').map(toValues),
      bands: group.querySelectorAll('polygon.band').map(toValues),
    })),
    levels: figure.querySelectorAll('line.level').map((line) => {
      const [from, to] = [numberIn(line, 'y1'), numberIn(line, 'y2')];
      if (from !== to) throw new Error('a level is not level');
      return valueAt(from);
    }),
    markers: figure.querySelectorAll('line.marker').map((line) => numberIn(line, 'x1')),
    labels: figure.querySelectorAll('svg.x-axis text').map((label) => ({
      text: label.text,
      x: numberIn(label, 'x'),
    })),
  };
}

/** The values of a series by place, read from its lines; a place without a point has none. */
export function valuesIn(
  { lines }: DrawnChart['series'][number],
  places: readonly number[],
): (number | null)[] {
  const points = lines.flatMap((line) => line.points);
  return places.map((place) => points.find(({ x }) => Math.abs(x - place) < 0.006)?.y ?? null);
}

/** The share of a bar that is filled. */
export const barShare = (bar: HTMLElement): number => {
  const [whole, filled] = bar.querySelectorAll('rect');
  if (!whole || !filled) throw new Error('a bar has two parts');
  return numberIn(filled, 'width') / numberIn(whole, 'width');
};

/** The shade of a cell, from 1 to 10; 0 without one. */
export function shadeOf(cell: HTMLElement): number {
  const own = classesOf(cell).flatMap((name) => /^h(\d+)$/.exec(name)?.[1] ?? []);
  if (own.length > 1) throw new Error('a cell has several shades');
  return Number(own[0] ?? 0);
}

export const isFew = (cell: HTMLElement): boolean => classesOf(cell).includes('few');

/** Draws a component as its page would. */
export const draw = <Props extends object>(component: (props: Props) => unknown, props: Props): HTMLElement =>
  parse(String(jsx(component as never, props as never)));

/** Whether what was read is what was to be drawn: drawings round to a hundredth of a percent of the height, which is `top`. */
export function expectValues(
  found: readonly (number | null)[],
  values: readonly (number | null)[],
  top: number,
): void {
  const isSame = (index: number) => {
    const [own, wanted] = [found[index] ?? null, values[index] ?? null];
    if (own === null || wanted === null) return own === wanted;
    return Math.abs(own - wanted) <= top * 1e-4;
  };
  const off = values.flatMap((value, index) =>
    isSame(index) ? [] : [{ index, value, found: found[index] }],
  );
  expect([off, found.length]).toEqual([[], values.length]);
}
