import type { FigureFormat } from '#lib/format';
import { cutMiddle } from '../shell/parts.tsx';
import { areaOf, gridOf, linesOf, niceTop, pointsOfBand, TICKS } from './geometry.ts';
import { evenly, type Tick } from './ticks.ts';

export type Series = {
  name: string;
  values: readonly (number | null)[];
  /** The index of the series whose earlier values these are. They are drawn dotted and grey. */
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

const MAX_LACKING = 3;
/** The room that a marker's text takes per character, as a share of the chart in percent: on a wide screen, and on a phone. */
const CHARACTER_WIDTH = { wide: 0.62, phone: 2.2 };

function lackingHint(labels: readonly string[]): string {
  const more = labels.length - MAX_LACKING;
  const shown = labels.slice(0, MAX_LACKING).join(', ');
  return `Without amounts that have no exchange rate: ${shown}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** The labels of the grid lines, with the same decimals. */
function ticksOf(top: number, { text, places }: FigureFormat): string[] {
  const ticks = gridOf(top);
  const decimals = ticks.every(Number.isInteger) ? 0 : places(ticks);
  return ticks.map((tick) => text(tick, decimals));
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

/** How far from the top a series ends, in percent. */
const endOf = ({ values, drawn }: Series, top: number): number => {
  const last = (drawn ?? values).findLast((value) => value !== null) ?? 0;
  return Math.round(100 - (last / top) * 100);
};

const Legend = ({ series, top }: { series: readonly Series[]; top: number }) => {
  const lastOf = ({ values }: Series) => values.findLast((value) => value !== null) ?? -1;
  // In the order in which the curves end, so that names are near them.
  const isNamed = ({ before }: Series) => before === undefined;
  const order = [...series.entries()].sort(([, left], [, right]) =>
    isNamed(left) && isNamed(right) ? lastOf(right) - lastOf(left) : 0,
  );
  return (
    <figcaption class="legend">
      {order.map(([index, shown]) => (
        <span data-series={String(index)} data-end={String(endOf(shown, top))}>
          <svg class={`key ${classOf(shown, index)}`} viewBox="0 0 24 8" aria-hidden="true">
            <line x1="1" y1="4" x2="23" y2="4" />
          </svg>
          <bdi class="legend-name" title={shown.name}>
            {cutMiddle(shown.name)}
          </bdi>
        </span>
      ))}
    </figcaption>
  );
};

/** Which texts of notes have room on a screen, and to which side of its circle each stands. */
function placeTexts(
  notes: readonly { place: number; text: string }[],
  characterWidth: number,
): { isLeft: boolean; isShown: boolean }[] {
  let free = 0;
  return notes.map(({ place, text }) => {
    const width = text.length * characterWidth + 2;
    const isLeft = place + width > 100;
    const start = isLeft ? place - width : place;
    const isShown = start >= free;
    if (isShown) free = start + width;
    return { isLeft, isShown };
  });
}

/** Circles on top of the chart, with their texts where there is room for them; the readout has all. */
const Notes = ({
  marked,
  places,
}: {
  marked: ReadonlyMap<number, readonly string[]>;
  places: readonly number[];
}) => {
  const notes = [...marked].map(([index, texts]) => ({ place: places[index] ?? 0, text: texts.join(', ') }));
  const [wide, phone] = [placeTexts(notes, CHARACTER_WIDTH.wide), placeTexts(notes, CHARACTER_WIDTH.phone)];
  return (
    <svg class="over" aria-hidden="true">
      {notes.map(({ place, text }, index) => (
        <>
          <circle class="note" cx={`${place.toFixed(2)}%`} cy="0" r="3.5">
            <title>{text}</title>
          </circle>
          {[
            { kind: 'on-wide', at: wide[index] },
            { kind: 'on-phone', at: phone[index] },
          ].map(
            ({ kind, at }) =>
              at?.isShown && (
                <text
                  class={kind}
                  x={`${place.toFixed(2)}%`}
                  y="4"
                  dx={at.isLeft ? '-9' : '9'}
                  text-anchor={at.isLeft ? 'end' : 'start'}
                >
                  {text}
                </text>
              ),
          )}
        </>
      ))}
    </svg>
  );
};

/**
 * A line chart, rendered by the server. The drawing stretches with the page, while text and lines keep their size. A table next to it has the
 * values. A single series is drawn as an area, with its earlier values as a dotted line. `xs` are the positions of labels that are not evenly
 * spaced, `partial` the places that are not complete, `level` a value marked with a horizontal line. A script adds the readout and lets the
 * legend hide series.
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
  format: FigureFormat;
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
  const isSingle = series.filter(({ before }) => before === undefined).length === 1 && !series[1]?.band;
  const readout = {
    places,
    labels: labels.map((label, index) =>
      apart.has(index) && !label.endsWith('so far') ? `${label}, not complete` : label,
    ),
    notes: labels.map((_, index) => marked.get(index)?.join(', ') ?? ''),
    // The label of the axis if this is the largest visible series.
    series: series.map((one) => {
      const { name, values, texts, lacks = [] } = one;
      const own = niceTop(topOf(extentOf(one)), isWhole);
      return {
        name,
        texts:
          texts ??
          values.map((value, index) => format.text(value ?? null) + (lacks[index] ? ` ${lacks[index]}` : '')),
        top: own,
        ticks: ticksOf(own, format),
      };
    }),
    top,
  };
  return (
    <figure class={isSingle ? 'chart' : 'chart several'}>
      <Legend series={series} top={top} />
      <div class="plot-frame">
        <div class="ticks" aria-hidden="true">
          {ticksOf(top, format).map((tick) => (
            <span>{tick}</span>
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
              {series.map((shown, index) => {
                const incomplete = shown.isWhole ? new Set<number>() : apart;
                return (
                  <g class={`line ${classOf(shown, index)}`} data-line={String(index)}>
                    {isSingle &&
                      index === 0 &&
                      areaOf(shown.values, places, top, incomplete).map((points) => (
                        <polygon class="area" points={points} />
                      ))}
                    {shown.band && <polygon class="band" points={pointsOfBand(shown.band, places, top)} />}
                    {linesOf(shown.drawn ?? shown.values, places, top, incomplete).map((line) => (
                      <polyline points={line.points} class={line.partial ? 'partial' : ''} />
                    ))}
                  </g>
                );
              })}
            </g>
          </svg>
          {marked.size > 0 && <Notes marked={marked} places={places} />}
        </div>
        <svg class="x-axis" aria-hidden="true">
          {ticks.map(({ index, text }) => {
            const place = places[index] ?? 0;
            const anchor = place > 96 ? 'end' : 'middle';
            return (
              <text x={`${place.toFixed(2)}%`} y="0.9em" text-anchor={anchor}>
                {text}
              </text>
            );
          })}
        </svg>
      </div>
      {(level || marked.size > 0 || apart.size > 0 || lacking.length > 0) && (
        <p class={lacking.length > 0 || level ? 'hint' : 'visually-hidden'}>
          {[
            ...(apart.size > 0 ? ['Dashed: not complete yet.'] : []),
            ...(lacking.length > 0 ? [lackingHint(lacking)] : []),
            ...(level ? [`Horizontal line: ${level.text}.`] : []),
            ...[...marked].map(([index, texts]) => `${labels[index]}: ${texts.join(', ')}.`),
          ].join(' ')}
        </p>
      )}
    </figure>
  );
};
