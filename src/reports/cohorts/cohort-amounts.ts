import { addParts } from '../engine/add-columns.ts';
import { ConvertedSums, nanosOf, type RateDigits } from '../engine/converted-sums.ts';
import { SAME_CURRENCY } from '../engine/day-rates.ts';
import { roundedNanos } from '../engine/group-table.ts';

/** Exact amounts by row and by index of a requested day number. */
export class CohortAmounts {
  private readonly width: number;
  /** Amounts in the reporting currency, in two parts. */
  private readonly low: Float64Array;
  private readonly high: Float64Array;
  private readonly converted = new ConvertedSums();
  private readonly rates: RateDigits;

  constructor(rows: number, width: number, rates: RateDigits) {
    this.rates = rates;
    this.width = width;
    this.low = new Float64Array(rows * width);
    this.high = new Float64Array(rows * width);
  }

  /**
   * Adds to the day numbers with indexes `from` to `to`. `conversion` is a number of `DayRates.of`, but not
   * `NO_RATE`.
   */
  add(row: number, from: number, to: number, low: number, high: number, conversion: number): void {
    const last = row * this.width + to;
    for (let at = row * this.width + from; at <= last; at++) {
      if (conversion === SAME_CURRENCY) addParts(this.low, this.high, at, low, high);
      else this.converted.add(at, low, high, this.rates, conversion);
    }
  }

  /** Nanos in the reporting currency. */
  of(row: number, index: number): bigint {
    const at = row * this.width + index;
    return nanosOf(this.low[at] ?? 0, this.high[at] ?? 0) + roundedNanos(this.converted.of(at) ?? 0n);
  }
}
