import { MICROS_PER_HIGH } from '#rollup';
import { type Conversion, microsOf, roundedMicros } from './group-table.ts';

/** Exact amounts by row and by index of a requested day number. */
export class CohortAmounts {
  private readonly width: number;
  /** Amounts in the reporting currency, in two parts. */
  private readonly low: Float64Array;
  private readonly high: Float64Array;
  /** Converted amounts, in the units of `RATE_SCALE`. */
  private readonly converted = new Map<number, bigint>();
  private readonly incomplete = new Set<number>();

  constructor(rows: number, width: number) {
    this.width = width;
    this.low = new Float64Array(rows * width);
    this.high = new Float64Array(rows * width);
  }

  /** Adds to the day numbers with indexes `from` to `to`. `low` is below 2^53. */
  add(row: number, from: number, to: number, low: number, high: number, conversion: Conversion): void {
    const [first, last] = [row * this.width + from, row * this.width + to];
    if (conversion === 'same') {
      for (let at = first; at <= last; at++) this.addSame(at, low, high);
      return;
    }
    const parts = conversion === null ? null : microsOf(low, high) * conversion;
    for (let at = first; at <= last; at++) {
      if (parts === null) this.incomplete.add(at);
      else this.converted.set(at, (this.converted.get(at) ?? 0n) + parts);
    }
  }

  private addSame(at: number, low: number, high: number): void {
    const sum = (this.low[at] ?? 0) + low;
    if (sum >= 0 && sum < MICROS_PER_HIGH) {
      this.low[at] = sum;
      if (high !== 0) this.high[at] = (this.high[at] ?? 0) + high;
      return;
    }
    // The low part stays below 10^12, so that both parts are exact.
    const carried = Math.floor(sum / MICROS_PER_HIGH);
    this.low[at] = sum - carried * MICROS_PER_HIGH;
    this.high[at] = (this.high[at] ?? 0) + high + carried;
  }

  /** Micros in the reporting currency; null if part of them could not be converted. */
  of(row: number, index: number): bigint | null {
    const at = row * this.width + index;
    if (this.incomplete.has(at)) return null;
    return microsOf(this.low[at] ?? 0, this.high[at] ?? 0) + roundedMicros(this.converted.get(at) ?? 0n);
  }
}
