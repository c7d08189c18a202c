export const TICKS = 4;

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
export const gridOf = (top: number) =>
  Array.from({ length: TICKS + 1 }, (_, index) => (top * (TICKS - index)) / TICKS);

/** A point of a 100 by 100 square, whose height is `top`. */
const pointAt = (place: number | undefined, value: number, top: number) =>
  `${(place ?? 0).toFixed(2)},${(100 - (value / top) * 100).toFixed(2)}`;

/**
 * The polylines of a series in a 100 by 100 square. Missing values leave gaps, and segments to and from a partial place are separate lines.
 */
export function linesOf(
  values: readonly (number | null)[],
  places: readonly number[],
  top: number,
  partial: ReadonlySet<number>,
) {
  const at = (index: number, value: number) => pointAt(places[index], value, top);
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

/** The points of a band: along its upper edge and back along its lower edge. */
export function pointsOfBand(
  { low, high }: { low: readonly (number | null)[]; high: readonly (number | null)[] },
  places: readonly number[],
  top: number,
): string {
  const edge = (values: readonly (number | null)[]) =>
    values.flatMap((value, index) => (value === null ? [] : [pointAt(places[index], value, top)]));
  return [...edge(high), ...edge(low).reverse()].join(' ');
}

/** The area between the axis and the values, up to the first partial place; empty without two values in a row. */
export function areaOf(
  values: readonly (number | null)[],
  places: readonly number[],
  top: number,
  partial: ReadonlySet<number>,
): string[] {
  return linesOf(values, places, top, partial)
    .filter((line) => !line.partial)
    .map(({ points }) => {
      const [first = '', last = ''] = [points.split(' ')[0], points.split(' ').at(-1)];
      return `${first.split(',')[0]},100 ${points} ${last.split(',')[0]},100`;
    });
}

/** The points of a curve without axes, in a box of 100 by 24; null if it would be flat or has fewer than two values. */
export function sparkOf(values: readonly (number | null)[]): string | null {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (known.length < 2 || low === high) return null;
  const across = 100 / Math.max(1, values.length - 1);
  return values
    .flatMap((value, index) =>
      value === null
        ? []
        : [`${(index * across).toFixed(1)},${(22 - ((value - low) / (high - low)) * 20).toFixed(1)}`],
    )
    .join(' ');
}
