import { fromNanos, toNanos } from '#lib/money';
import { convert, type Parts, partsToNanos, type RateBook } from '#money';
import type { Postback } from './postback.ts';
import { meaningOf, type SchemaVersion } from './schema.ts';

/** Counts of postbacks. */
export const SKAN_METRICS = [
  'postbacks',
  'did_win',
  'installs',
  'redownloads',
  'reengagements',
  'value_hidden',
  'value_unmapped',
  'value_conflicts',
] as const;
type SkanMetric = (typeof SKAN_METRICS)[number];

const CONVERSION_METRIC = {
  download: 'installs',
  redownload: 'redownloads',
  're-engagement': 'reengagements',
} as const satisfies Record<Postback['conversion'], SkanMetric>;

export type Rates = { book: RateBook; currency: string; day: string };
export type SummedPostback = Pick<Postback, 'sequence' | 'fine' | 'coarse' | 'conversion'> & {
  didWin: number;
  count: number;
  conflicts: number;
};
type ValueRange<Amount> = { low: Amount; high: Amount };

/** The figures of a row of the report. */
export class RowSums {
  private readonly counts = Object.fromEntries(SKAN_METRICS.map((name) => [name, 0])) as Record<
    SkanMetric,
    number
  >;
  private readonly events = new Map<string, number>();
  private readonly revenue: ValueRange<Parts> = { low: 0n, high: 0n };
  /** Postbacks with a known revenue in the report's currency. */
  private estimated = 0;
  /** Nanos by currency. */
  private readonly unconverted = new Map<string, ValueRange<bigint>>();

  /** Adds postbacks with the same value. `version` is the schema's on their day. */
  add(counted: SummedPostback, version: SchemaVersion | null, rates: Rates): void {
    const { counts } = this;
    const { count } = counted;
    counts.postbacks += count;
    if (counted.didWin) counts.did_win += count;
    if (counted.didWin && counted.sequence === 0) counts[CONVERSION_METRIC[counted.conversion]] += count;
    counts.value_conflicts += counted.conflicts;
    if (counted.fine === null && counted.coarse === null) {
      counts.value_hidden += count;
      return;
    }
    const meaning = meaningOf(version, counted);
    if (!version || !meaning) {
      counts.value_unmapped += count;
      return;
    }
    if (meaning.event) this.events.set(meaning.event, (this.events.get(meaning.event) ?? 0) + count);
    const low = toNanos(meaning.revenue_min) * BigInt(count);
    const high = toNanos(meaning.revenue_max) * BigInt(count);
    this.addRevenue({ low, high }, version.currency, count, rates);
  }

  private addRevenue({ low, high }: ValueRange<bigint>, currency: string, count: number, rates: Rates): void {
    const inReport = (nanos: bigint) => convert(rates.book, nanos, currency, rates.currency, rates.day);
    const [lowParts, highParts] = [inReport(low), inReport(high)];
    if (lowParts !== null && highParts !== null) {
      this.revenue.low += lowParts;
      this.revenue.high += highParts;
      this.estimated += count;
      return;
    }
    const known = this.unconverted.get(currency) ?? { low: 0n, high: 0n };
    this.unconverted.set(currency, { low: known.low + low, high: known.high + high });
  }

  /** In the form of the answer. The revenue is null if no value tells any: a hidden value is not 0. */
  show() {
    const { low, high } = this.revenue;
    return {
      ...this.counts,
      revenue_estimated:
        this.estimated === 0
          ? null
          : { low: fromNanos(partsToNanos(low)), high: fromNanos(partsToNanos(high)) },
      events: Object.fromEntries(this.events),
      ...(this.unconverted.size === 0
        ? {}
        : {
            unconverted: [...this.unconverted].map(([currency, range]) => ({
              currency,
              low: fromNanos(range.low),
              high: fromNanos(range.high),
            })),
          }),
    };
  }
}
