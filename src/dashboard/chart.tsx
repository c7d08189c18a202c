import { daysOf } from '#lib/calendar';
import { NOTHING } from './format.ts';
import type { View } from './view.ts';

export type Series = { name: string; values: readonly (number | null)[] };

const TICKS = 4;

/**
 * A report's rows over every day of the period that has begun. A day without a row is a day on which nothing came: `nothing` is
 * 0 for what is added up and null for a ratio.
 */
export function overDays<Row extends { day?: unknown }>(
  view: Pick<View, 'from' | 'to' | 'today'>,
  rows: readonly Row[],
  figureOf: (row: Row) => unknown,
  nothing: number | null,
): { labels: string[]; values: (number | null)[] } {
  const last = view.to < view.today ? view.to : view.today;
  const labels = last < view.from ? [] : daysOf(view.from, last);
  const byDay = new Map(rows.map((row) => [String(row.day), row]));
  const values = labels.map((day) => {
    const row = byDay.get(day);
    if (!row) return nothing;
    const value = figureOf(row);
    return typeof value === 'number' ? value : null;
  });
  return { labels, values };
}

/** The smallest round number that is at least `value` and has `TICKS` round parts. */
export function niceTop(value: number): number {
  if (value <= 0) return 1;
  const step = value / TICKS;
  const power = 10 ** Math.floor(Math.log10(step));
  const factor = [1, 2, 2.5, 5, 10].find((candidate) => candidate * power >= step * (1 - 1e-9)) ?? 10;
  return factor * power * TICKS;
}

/** The polylines of a series in a square of 100: a gap where there is no value, so that nothing is made up. */
function linesOf(values: readonly (number | null)[], places: readonly number[], top: number): string[] {
  const lines: string[][] = [[]];
  for (const [index, value] of values.entries()) {
    if (value === null) lines.push([]);
    else lines.at(-1)?.push(`${(places[index] ?? 0).toFixed(2)},${(100 - (value / top) * 100).toFixed(2)}`);
  }
  // A lone point is drawn as a line of no length, which its round cap makes a dot.
  return lines
    .filter((line) => line.length > 0)
    .map((line) => (line.length === 1 ? [...line, ...line] : line).join(' '));
}

/**
 * Curves, drawn by the server. The drawing stretches with the page while words and lines keep their size; what it says stands in
 * the table beside it. `xs` are the places of the labels where they are not evenly apart.
 */
export const LineChart = ({
  title,
  labels,
  series,
  format,
  xs,
}: {
  title: string;
  labels: readonly string[];
  series: readonly Series[];
  format: (value: number | null) => string;
  xs?: readonly number[];
}) => {
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  if (known.length === 0) return <p class="empty">No figures in this period.</p>;
  const top = niceTop(Math.max(...known));
  const at = xs ?? labels.map((_, index) => index);
  const [first = 0, last = 0] = [at[0], at.at(-1)];
  const places = at.map((x) => (last === first ? 50 : ((x - first) / (last - first)) * 100));
  const points = {
    places,
    labels,
    series: series.map(({ name, values }) => ({ name, texts: values.map((value) => format(value ?? null)) })),
  };
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => (top * (TICKS - index)) / TICKS);
  const middle = labels[Math.floor((labels.length - 1) / 2)] ?? '';
  return (
    <figure class="chart">
      <figcaption class="legend">
        {series.map(({ name }, index) => (
          <span>
            <svg class={`key s${index + 1}`} viewBox="0 0 24 8" aria-hidden="true">
              <line x1="1" y1="4" x2="23" y2="4" />
            </svg>
            {name}
          </span>
        ))}
      </figcaption>
      <div class="plot-frame">
        <div class="ticks" aria-hidden="true">
          {ticks.map((tick) => (
            <span>{format(tick)}</span>
          ))}
        </div>
        <div class="plot" data-chart={JSON.stringify(points)}>
          <svg
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
            role="img"
            aria-label={`${title}; the table has the figures`}
          >
            {ticks.map((_, index) => (
              <line class="grid" x1="0" x2="100" y1={(index * 100) / TICKS} y2={(index * 100) / TICKS} />
            ))}
            {series.map(({ values }, index) => (
              <g class={`line s${index + 1}`}>
                {linesOf(values, places, top).map((line) => (
                  <polyline points={line} />
                ))}
              </g>
            ))}
          </svg>
        </div>
        <div class="x-labels" aria-hidden="true">
          <span>{labels[0] ?? NOTHING}</span>
          {labels.length > 2 && !xs && <span>{middle}</span>}
          {labels.length > 1 && <span>{labels.at(-1)}</span>}
        </div>
      </div>
    </figure>
  );
};

/** A share from 0 to 1 as a bar; the number stands beside it. */
export const Bar = ({ share }: { share: number }) => (
  <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="rest" width="100" height="10" />
    <rect width={(Math.min(1, Math.max(0, share)) * 100).toFixed(2)} height="10" />
  </svg>
);
