import { NANOS_PER_HIGH } from '#rollup';

// The loops that most of a report's time is spent in. Each adds a column of entries to a column of groups.

/** In place of the number of a group: the entry is added to none. */
export const SKIPPED = -1;

/** Adds an amount to a cell. The low part of its sum stays below 10^12, so that both parts are exact. */
export function addParts(
  lows: Float64Array,
  highs: Float64Array,
  at: number,
  low: number,
  high: number,
): void {
  const sum = (lows[at] ?? 0) + low;
  const carried = sum < NANOS_PER_HIGH ? 0 : Math.floor(sum / NANOS_PER_HIGH);
  lows[at] = sum - carried * NANOS_PER_HIGH;
  if (high + carried !== 0) highs[at] = (highs[at] ?? 0) + high + carried;
}

/** Adds the low parts of amounts, each to its group. */
export function addLow(
  lows: Float64Array,
  highs: Float64Array,
  groups: Int32Array,
  added: Float64Array,
  size: number,
) {
  for (let entry = 0; entry < size; entry++) {
    const group = groups[entry] ?? SKIPPED;
    if (group === SKIPPED) continue;
    const sum = (lows[group] ?? 0) + (added[entry] ?? 0);
    if (sum < NANOS_PER_HIGH) lows[group] = sum;
    else {
      lows[group] = sum - NANOS_PER_HIGH;
      highs[group] = (highs[group] ?? 0) + 1;
    }
  }
}

/** Adds numbers that cannot carry, each to its group. */
export function addNumbers(sums: Float64Array, groups: Int32Array, added: Float64Array, size: number) {
  for (let entry = 0; entry < size; entry++) {
    const group = groups[entry] ?? SKIPPED;
    if (group !== SKIPPED) sums[group] = (sums[group] ?? 0) + (added[entry] ?? 0);
  }
}
