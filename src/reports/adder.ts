import { AMOUNTS, type Amount, COUNTS, type Count, type Sums } from '#catalogue';
import { nanosToParts, type Parts, partsToNanos } from '#money';
import type { AmountRow, Converter } from './money.ts';
import { addAllUnrated, addUnrated } from './unrated.ts';

// What the performance report adds up, and the exact sums of one group.

/** The sums of one source for one group. */
export type SumRow = {
  /** The values of the groupings; empty text for none. */
  keys: string[];
  counts: Partial<Record<Count, number>>;
  /** By currency and by the day of the rate. */
  amounts: (AmountRow & { name: Amount; nanos: bigint })[];
};

/** Sums that are all 0. */
export const emptySums = (): Sums => new Adder().sums();

/** Adds up the rows of one group. Amounts stay exact to a fraction of a nano until they are read. */
export class Adder {
  private readonly counts = new Map<Count, number>();
  private readonly parts = new Map<Amount, Parts>();
  private readonly unconverted = new Map<string, bigint>();
  private readonly unconvertedAcquired = new Map<string, bigint>();

  add({ counts, amounts }: SumRow, converter: Converter): void {
    for (const name of COUNTS) this.counts.set(name, (this.counts.get(name) ?? 0) + (counts[name] ?? 0));
    for (const amount of amounts) {
      const { name, nanos } = amount;
      const parts = converter.convert(nanos, amount);
      if (parts === null) this.miss(name, amount.currency, nanos);
      this.parts.set(name, (this.parts.get(name) ?? 0n) + (parts ?? 0n));
    }
  }

  /** Adds existing sums. */
  addSums(sums: Sums): void {
    for (const name of COUNTS) this.counts.set(name, (this.counts.get(name) ?? 0) + sums[name]);
    for (const name of AMOUNTS) {
      const nanos = sums[name];
      this.parts.set(name, (this.parts.get(name) ?? 0n) + nanosToParts(nanos));
    }
    addAllUnrated(this.unconverted, sums.unconverted);
    addAllUnrated(this.unconvertedAcquired, sums.unconvertedAcquired);
  }

  private miss(name: Amount, currency: string, amount: bigint): void {
    // What attributed devices have earned is part of what all have.
    if (name === 'attributedRevenue') return;
    addUnrated(name === 'acquiredRevenue' ? this.unconvertedAcquired : this.unconverted, currency, amount);
  }

  sums(): Sums {
    const nanos = (name: Amount) => partsToNanos(this.parts.get(name) ?? 0n);
    const counts = Object.fromEntries(COUNTS.map((name) => [name, this.counts.get(name) ?? 0]));
    const amounts = Object.fromEntries(AMOUNTS.map((name) => [name, nanos(name)]));
    return {
      ...(counts as Record<Count, number>),
      ...(amounts as Record<Amount, bigint>),
      unconverted: this.unconverted,
      unconvertedAcquired: this.unconvertedAcquired,
    };
  }
}
