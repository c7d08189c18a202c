import { evenly, type Tick } from './axis.ts';

export type Series = {
  name: string;
  values: readonly (number | null)[];
  /** The index of the series whose earlier values these are. They are drawn in a paler shade of its colour. */
  before?: number;
  /** Whether the whole series is complete, even if places of the chart are not. */
  isWhole?: boolean;
  /** The values to draw, if they differ from the known ones: a line between two of them. */
  drawn?: readonly (number | null)[];
  /** What the values lack; null where they lack nothing. */
  lacks?: readonly (string | null)[];
  /** The texts that the readout shows instead of the values. */
  texts?: readonly string[];
  /** The range in which the values probably lie. */
  band?: { low: readonly (number | null)[]; high: readonly (number | null)[] };
};

/** An event at a place, by the place's index. */
export type Marker = { index: number; text: string };

const TICKS = 4;

/** The smallest round number of at least `value` that divides into `TICKS` round parts; whole ones if there is nothing in between. */
export function niceTop(value: number, isWhole = false): number {
  if (value <= 0) return isWhole ? TICKS : 1;
  const step = isWhole ? Math.max(1, value / TICKS) : value / TICKS;
  const power = 10 ** Math.floor(Math.log10(step));
  const factors = isWhole && power === 1 ? [1, 2, 3, 5, 10] : [1, 2, 2.5, 5, 10];
  const factor = factors.find((candidate) => candidate * power >= step * (1 - 1e-9)) ?? 10;
  return factor * power * TICKS;
}

/** The values of the grid lines, from top to bottom. */
const gridOf = (top: number) =>
  Array.from({ length: TICKS + 1 }, (_, index) => (top * (TICKS - index)) / TICKS);

type Line = { points: string; partial: boolean };

/**
 * The polylines of a series in a 100 by 100 square. Missing values leave gaps, and segments to and from a partial place are separate lines.
 */
function linesOf(
  values: readonly (number | null)[],
  places: readonly number[],
  top: number,
  partial: ReadonlySet<number>,
): Line[] {
  const at = (index: number, value: number) =>
    `${(places[index] ?? 0).toFixed(2)},${(100 - (value / top) * 100).toFixed(2)}`;
  const lines: { points: string[]; partial: boolean }[] = [];
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const before = index > 0 ? values[index - 1] : null;
    const point = at(index, value);
    const isPartial = partial.has(index) || (before != null && partial.has(index - 1));
    const line = lines.at(-1);
    if (before == null || !line) lines.push({ points: [point], partial: partial.has(index) });
    else if (line.partial === isPartial) line.points.push(point);
    else lines.push({ points: [at(index - 1, before), point], partial: isPartial });
  }
  // A single point is drawn as a line of zero length, which its round cap turns into a dot.
  return lines.map(({ points, partial: apart }) => ({
    points: (points.length === 1 ? [...points, ...points] : points).join(' '),
    partial: apart,
  }));
}

const MAX_LACKING = 3;

function lackingHint(labels: readonly string[]): string {
  const more = labels.length - MAX_LACKING;
  const shown = labels.slice(0, MAX_LACKING).join(', ');
  return `Without amounts that have no exchange rate: ${shown}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** The points of a band: along its upper edge and back along its lower edge. */
function pointsOfBand(
  { low, high }: NonNullable<Series['band']>,
  places: readonly number[],
  top: number,
): string {
  const edge = (values: readonly (number | null)[]) =>
    values.flatMap((value, index) =>
      value === null ? [] : [`${(places[index] ?? 0).toFixed(2)},${(100 - (value / top) * 100).toFixed(2)}`],
    );
  return [...edge(high), ...edge(low).reverse()].join(' ');
}

/** Every value that a series needs room for. */
const extentOf = ({ values, drawn = [], band }: Series) => [...values, ...drawn, ...(band?.high ?? [])];

/** The class of a series, which sets its colour: by its index, or for earlier values by that of the series they belong to. */
const classOf = ({ before, band }: Series, index: number) =>
  band
    ? `s${(before ?? index) + 1} predicted`
    : before === undefined
      ? `s${index + 1}`
      : `s${before + 1} before`;

/**
 * A line chart, rendered by the server. The drawing stretches with the page, while text and lines keep their size. A table next to it has the
 * values. `xs` are the positions of labels that are not evenly spaced, `partial` the places that are not complete, `level` a value marked with a
 * horizontal line. A script adds the readout and lets the legend hide series.
 */
export const LineChart = ({
  title,
  labels,
  series,
  format,
  xs,
  ticks = evenly(labels.length).map((index) => ({ index, text: labels[index] ?? '' })),
  partial = [],
  markers = [],
  level,
  isWhole = false,
}: {
  title: string;
  labels: readonly string[];
  series: readonly Series[];
  format: (value: number | null) => string;
  xs?: readonly number[];
  ticks?: readonly Tick[];
  partial?: readonly number[];
  markers?: readonly Marker[];
  level?: { value: number; text: string };
  /** Whether the axis counts things, so that its labels are whole numbers. */
  isWhole?: boolean;
}) => {
  const topOf = (values: readonly (number | null)[]) =>
    Math.max(0, level?.value ?? 0, ...values.filter((value) => value !== null));
  if (series.every(({ values }) => values.every((value) => value === null))) {
    return <p class="empty">No figures in this period.</p>;
  }
  // An axis would suggest values that are not there.
  if (!level && series.every((one) => extentOf(one).every((value) => !value))) {
    return <p class="empty">Every figure in this period is 0.</p>;
  }
  const top = niceTop(Math.max(...series.map((one) => topOf(extentOf(one)))), isWhole);
  const at = xs ?? labels.map((_, index) => index);
  const [first = 0, last = 0] = [at[0], at.at(-1)];
  const places = at.map((x) => (last === first ? 50 : ((x - first) / (last - first)) * 100));
  const apart = new Set(partial);
  const marked = new Map<number, string[]>();
  for (const { index, text } of markers) marked.set(index, [...(marked.get(index) ?? []), text]);
  const lacking = labels.filter((_, index) => series.some(({ lacks }) => lacks?.[index]));
  const readout = {
    places,
    labels: labels.map((label, index) => (apart.has(index) ? `${label}, not complete` : label)),
    notes: labels.map((_, index) => marked.get(index)?.join(', ') ?? ''),
    // The label of the axis if this is the largest visible series.
    series: series.map((one) => {
      const { name, values, texts, lacks = [] } = one;
      const own = niceTop(topOf(extentOf(one)), isWhole);
      return {
        name,
        texts:
          texts ??
          values.map((value, index) => format(value ?? null) + (lacks[index] ? ` ${lacks[index]}` : '')),
        top: own,
        ticks: gridOf(own).map(format),
      };
    }),
    top,
  };
  return (
    <figure class="chart">
      <figcaption class="legend">
        {series.map((shown, index) => (
          <span data-series={String(index)}>
            <svg class={`key ${classOf(shown, index)}`} viewBox="0 0 24 8" aria-hidden="true">
              <line x1="1" y1="4" x2="23" y2="4" />
            </svg>
            <span class="legend-name" title={shown.name}>
              {shown.name}
            </span>
          </span>
        ))}
      </figcaption>
      <div class="plot-frame">
        <div class="ticks" aria-hidden="true">
          {gridOf(top).map((tick) => (
            <span>{format(tick)}</span>
          ))}
        </div>
        <div class="plot" data-chart={JSON.stringify(readout)}>
          <svg
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
            role="img"
            aria-label={`${title}; the table has the figures`}
          >
            {gridOf(top).map((_, index) => (
              <line class="grid" x1="0" x2="100" y1={(index * 100) / TICKS} y2={(index * 100) / TICKS} />
            ))}
            {[...marked.keys()].map((index) => (
              <line class="marker" x1={places[index] ?? 0} x2={places[index] ?? 0} y1="0" y2="100" />
            ))}
            <g data-scaled>
              {level && (
                <line
                  class="level"
                  x1="0"
                  x2="100"
                  y1={100 - (level.value / top) * 100}
                  y2={100 - (level.value / top) * 100}
                />
              )}
              {series.map((shown, index) => (
                <g class={`line ${classOf(shown, index)}`} data-line={String(index)}>
                  {shown.band && <polygon class="band" points={pointsOfBand(shown.band, places, top)} />}
                  {linesOf(shown.drawn ?? shown.values, places, top, shown.isWhole ? new Set() : apart).map(
                    (line) => (
                      <polyline points={line.points} class={line.partial ? 'partial' : ''} />
                    ),
                  )}
                </g>
              ))}
            </g>
          </svg>
        </div>
        <svg class="x-axis" aria-hidden="true">
          {ticks.map(({ index, text }) => {
            const place = places[index] ?? 0;
            const anchor = place < 4 ? 'start' : place > 96 ? 'end' : 'middle';
            return (
              <text x={`${place.toFixed(2)}%`} y="0.9em" text-anchor={anchor}>
                {text}
              </text>
            );
          })}
        </svg>
      </div>
      {(level || marked.size > 0 || apart.size > 0 || lacking.length > 0) && (
        <p class="hint">
          {[
            ...(apart.size > 0 ? ['Dotted: not complete yet.'] : []),
            ...(lacking.length > 0 ? [lackingHint(lacking)] : []),
            ...(level ? [`Horizontal line: ${level.text}.`] : []),
            ...[...marked].map(([index, texts]) => `${labels[index]}: ${texts.join(', ')}.`),
          ].join(' ')}
        </p>
      )}
    </figure>
  );
};

/** A share from 0 to 1 as a bar, next to the number. */
export const Bar = ({ share }: { share: number }) => (
  <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="rest" width="100" height="10" />
    <rect width={(Math.min(1, Math.max(0, share)) * 100).toFixed(2)} height="10" />
  </svg>
);

/** A prediction within its interval, on an axis from 0 to `top`, next to the numbers. */
export const Range = ({
  low,
  value,
  high,
  top,
}: {
  low: number;
  value: number;
  high: number;
  top: number;
}) => {
  const at = (amount: number) => Math.min(100, Math.max(0, (amount / top) * 100)).toFixed(2);
  return (
    <svg class="range" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="rest" y="4" width="100" height="2" />
      <rect class="band" x={at(low)} width={(Number(at(high)) - Number(at(low))).toFixed(2)} height="10" />
      <line class="middle" x1={at(value)} x2={at(value)} y1="0" y2="10" />
    </svg>
  );
};
