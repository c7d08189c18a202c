import { NANOS_PER_HIGH } from '#rollup';
import { RATE_SCALE, type RateDigits } from '../engine/converted-sums.ts';
import { SAME_CURRENCY } from '../engine/day-rates.ts';
import { suffixSums } from './cohort-activity.ts';

const NANOS = 1e9;

/** A figure by day since the acquisition; null where it is unknown. */
export type Curve = (number | null)[];

/**
 * Revenue by row and day since the acquisition, and spend by row and the last day that is over for the devices it brought. In nanos of the
 * reporting currency, as floating-point numbers: most of these are divided before they are added.
 */
export class CohortCurves {
  private readonly ages: number;
  private readonly revenue: Float64Array;
  private readonly spend: Float64Array;
  private readonly rates: RateDigits;
  private readonly numbers: number[] = [];

  /** `ages` is the number of days since the acquisition, from 0 on. */
  constructor(rows: number, ages: number, rates: RateDigits) {
    this.ages = ages;
    this.rates = rates;
    this.revenue = new Float64Array(rows * ages);
    this.spend = new Float64Array(rows * ages);
  }

  /** Adds an amount in two parts. `conversion` is a number of `DayRates.of`, but not `NO_RATE`. */
  addRevenue(row: number, age: number, low: number, high: number, conversion: number): void {
    const at = row * this.ages + age;
    this.revenue[at] = (this.revenue[at] ?? 0) + this.convert(low, high, conversion);
  }

  /** Adds spend on devices acquired `ago` days ago. See `addRevenue`. */
  addSpend(row: number, ago: number, low: number, high: number, conversion: number): void {
    const at = row * this.ages + Math.min(ago, this.ages) - 1;
    this.spend[at] = (this.spend[at] ?? 0) + this.convert(low, high, conversion);
  }

  private convert(low: number, high: number, conversion: number): number {
    const nanos = high * NANOS_PER_HIGH + low;
    if (conversion === SAME_CURRENCY) return nanos;
    this.numbers[conversion] ??= Number(this.rates.of(conversion)) / Number(RATE_SCALE);
    return nanos * (this.numbers[conversion] ?? 0);
  }

  /**
   * What a device has earned by each day, and what each unit of spend has: the sums of each day's revenue of the devices whose day is over,
   * per such device and per unit spent on them. As devices drop out only from one day to the next, no curve falls. `eligible` counts the
   * devices whose day is over. `exact` gives the exact ratios of the days that have them: used as long as nothing has dropped out.
   */
  of(
    row: number,
    eligible: Float64Array,
    exact: (age: number) => { ltv: number | null; roas: number | null } | null,
  ): { ltv: Curve; roas: Curve } {
    const from = row * this.ages;
    const revenue = this.revenue.subarray(from, from + this.ages);
    const spend = suffixSums(this.spend.subarray(from, from + this.ages), this.ages);
    const ratios = Array.from({ length: this.ages }, (_, age) =>
      eligible[age] === eligible[0] ? exact(age) : null,
    );
    const curveOver = (divisors: Float64Array, unit: number, figure: 'ltv' | 'roas'): Curve => {
      const curve: Curve = new Array<number | null>(this.ages).fill(null);
      let [value, before, sum] = [0, 0, 0];
      for (let age = 0; age < this.ages; age++) {
        const divisor = divisors[age] ?? 0;
        if (divisor === 0) break;
        // Days with the same divisor are added up first, which is exact.
        if (divisor !== divisors[age - 1]) [before, sum] = [value, 0];
        sum += revenue[age] ?? 0;
        value = before + sum / (divisor * unit);
        const whole = divisor === divisors[0] ? ratios[age]?.[figure] : null;
        if (whole != null) [value, before, sum] = [whole, whole, 0];
        curve[age] = value;
      }
      return curve;
    };
    return {
      ltv: curveOver(eligible, NANOS, 'ltv'),
      roas: curveOver(spend, 1, 'roas'),
    };
  }
}
