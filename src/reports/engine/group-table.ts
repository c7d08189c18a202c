import {
  AMOUNTS,
  type Amount,
  COUNTS,
  type Count,
  columnsOf,
  isMoney,
  MEASURES,
  type RollupTable,
  type Sums,
  sumOf,
} from '#catalogue';
import { divideRounded } from '#lib/decimal';
import { NANOS_PER_HIGH } from '#rollup';
import { addLow, addNumbers, addParts, SKIPPED } from './add-columns.ts';
import type { Entries } from './chunk.ts';
import { ConvertedSums, nanosOf, RATE_SCALE } from './converted-sums.ts';
import { type Conversions, NO_RATE, SAME_CURRENCY } from './day-rates.ts';
import { type Unrated, UnratedSums } from './unrated.ts';

const PARTS_PER_NANO = 10n ** 15n;

type Column = { at: number; measure: string; sum: Amount | Count };

/** An amount of entries, in two parts; null if all of them are 0. `conversions` are null if all are `SAME_CURRENCY`. */
export type EntryAmounts = {
  size: number;
  low: Float64Array | null;
  high: Float64Array | null;
  conversions: Conversions | null;
};

/** Sums that are all 0. */
export const emptySums = (): Sums => ({
  ...(Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<Count, number>),
  ...(Object.fromEntries(AMOUNTS.map((name) => [name, 0n])) as Record<Amount, bigint>),
  storeFeeBasisPoints: 0,
  unconverted: new Map(),
  unconvertedAcquired: new Map(),
  cohort: null,
});

const NO_SUMS = emptySums();

/** The measures of gross revenue. */
const EARNED: ReadonlySet<string> = new Set(['ad_revenue', 'purchase_revenue']);

/** Amounts that a report adds to those of its rollup: what was spent, and what acquired devices have earned since. */
const OF_DEVICES = [
  'acquired_revenue',
  'attributed_revenue',
  'acquired_purchase_revenue',
  'acquired_returned_revenue',
  'attributed_purchase_revenue',
  'attributed_returned_revenue',
] as const;
const ADDED = ['spend', ...OF_DEVICES] as const;
export type AddedAmount = (typeof ADDED)[number];

export type Weight = { revenue: number; impressions: number; counts: number; spend: number };

/**
 * The sums of a report's groups, which are numbered from 0. They are kept in one large array per column, so that tens of thousands of groups
 * fit in memory next to the parts being read. Amounts stay exact until they are read.
 */
export class GroupTable {
  size = 0;
  private capacity = 64;
  private readonly counts: readonly Column[];
  /** The amounts of the rollup, then those of `ADDED`. */
  private readonly amounts: readonly Column[];
  private readonly ownAmounts: number;
  /** The places in `amounts` of revenue; the others are what was refunded of it. */
  private readonly earned: readonly number[];
  private readonly installsAt: number | null;
  private readonly attributedAt: number;
  private readonly statedAt: number;
  /**
   * By column: the sums in the order of `sumColumnsOf`, the two parts of each amount of `ADDED`, the installs of attributed devices, and the
   * impressions that costs state.
   * Amounts are those in the reporting currency. Null while all are 0.
   */
  private readonly columns: (Float64Array | null)[];
  /** By amount. */
  private readonly converted: readonly ConvertedSums[];
  /** By group: what revenue and spend lack, because it could not be converted. */
  readonly unconverted = new UnratedSums();
  /** By group: what the revenue of acquired devices lacks. */
  readonly unconvertedAcquired = new UnratedSums();

  constructor(rollup: RollupTable) {
    let at = 0;
    const columns = MEASURES[rollup].map((measure) => {
      const column = { at, measure, sum: sumOf(measure) };
      at += columnsOf(measure).length;
      return column;
    });
    const own = columns.filter(({ measure }) => isMoney(measure));
    this.ownAmounts = own.length;
    this.earned = own.flatMap(({ measure }, index) => (EARNED.has(measure) ? [index] : []));
    this.counts = columns.filter(({ measure }) => !isMoney(measure));
    this.amounts = [
      ...own,
      ...ADDED.map((measure, index) => ({ at: at + 2 * index, measure, sum: sumOf(measure) })),
    ];
    this.attributedAt = at + 2 * ADDED.length;
    this.statedAt = this.attributedAt + 1;
    this.installsAt = columns.find(({ measure }) => measure === 'installs')?.at ?? null;
    this.columns = new Array<Float64Array | null>(this.statedAt + 1).fill(null);
    this.converted = this.amounts.map(() => new ConvertedSums());
  }

  /** Adds a group and returns its number. */
  open(): number {
    const group = this.size++;
    if (this.size > this.capacity) {
      this.capacity *= 2;
      for (const [at, column] of this.columns.entries()) {
        if (!column) continue;
        this.columns[at] = new Float64Array(this.capacity);
        this.columns[at]?.set(column);
      }
    }
    return group;
  }

  /**
   * Adds entries whose sums are in the order of `sumColumnsOf`, each to its group. `conversions` are those of the entries, null if all are
   * `SAME_CURRENCY`.
   */
  addEntries(groups: Int32Array, { size, sums }: Entries, conversions: Conversions | null): void {
    for (const { at } of this.counts) this.addColumn(at, groups, sums[at] ?? null, size);
    for (let index = 0; index < this.ownAmounts; index++) {
      const at = this.amounts[index]?.at ?? 0;
      this.addAmounts(index, groups, {
        size,
        low: sums[at] ?? null,
        high: sums[at + 1] ?? null,
        conversions,
      });
    }
  }

  /** Adds entries to one of the amounts that are not of the rollup. */
  addTo(amount: AddedAmount, groups: Int32Array, entries: EntryAmounts): void {
    this.addAmounts(this.ownAmounts + ADDED.indexOf(amount), groups, entries);
  }

  /** Counts the installs of entries as attributed. */
  addAttributed(groups: Int32Array, { size, sums }: Entries): void {
    if (this.installsAt !== null)
      this.addColumn(this.attributedAt, groups, sums[this.installsAt] ?? null, size);
  }

  /** Adds the impressions that costs state. */
  addStated(groups: Int32Array, impressions: Float64Array | null, size: number): void {
    this.addColumn(this.statedAt, groups, impressions, size);
  }

  /** Whether anything was spent on a group. */
  hasSpend(group: number): boolean {
    return this.hasAmount(this.ownAmounts, group);
  }

  /** Adds a group of another table of the same rollup. */
  addGroup(group: number, other: GroupTable, otherGroup: number): void {
    for (const at of [...this.counts.map((count) => count.at), this.attributedAt, this.statedAt]) {
      const added = other.columns[at]?.[otherGroup] ?? 0;
      if (added === 0) continue;
      const column = this.columnAt(at);
      column[group] = (column[group] ?? 0) + added;
    }
    for (const index of this.amounts.keys()) this.addAmountOf(index, group, other, otherGroup);
    this.addUnratedOf(group, other, otherGroup);
  }

  /** Adds the first `size` groups of another table of the same rollup. */
  addAll(group: number, other: GroupTable, size: number): void {
    for (const at of [...this.counts.map((count) => count.at), this.attributedAt, this.statedAt]) {
      const added = other.columns[at];
      if (!added) continue;
      let sum = 0;
      for (let from = 0; from < size; from++) sum += added[from] ?? 0;
      const column = this.columnAt(at);
      column[group] = (column[group] ?? 0) + sum;
    }
    for (const index of this.amounts.keys()) {
      for (let from = 0; from < size; from++) this.addAmountOf(index, group, other, from);
    }
    for (let from = 0; from < size; from++) this.addUnratedOf(group, other, from);
  }

  /** Adds what the devices acquired in another group of this table have earned. */
  addAcquired(group: number, otherGroup: number): void {
    for (const amount of OF_DEVICES) {
      this.addAmountOf(this.ownAmounts + ADDED.indexOf(amount), group, this, otherGroup);
    }
    this.unconvertedAcquired.addAll(group, this.unconvertedAcquired.of(otherGroup));
  }

  /** What an entry earned, in nanos. */
  nanosOf({ sums }: Entries, entry: number): bigint {
    return this.earned.reduce((all, index) => {
      const at = this.amounts[index]?.at ?? 0;
      return all + nanosOf(sums[at]?.[entry] ?? 0, sums[at + 1]?.[entry] ?? 0);
    }, 0n);
  }

  /** The sums of a group, with converted amounts rounded. */
  sumsOf(group: number, storeFeeBasisPoints = 0): Sums {
    const sums: Record<string, number | bigint | Unrated | null> = {
      ...NO_SUMS,
      cohort: null,
      storeFeeBasisPoints,
      unconverted: this.unconverted.of(group),
      unconvertedAcquired: this.unconvertedAcquired.of(group),
    };
    sums.attributedInstalls = this.columns[this.attributedAt]?.[group] ?? 0;
    sums.statedImpressions = this.columns[this.statedAt]?.[group] ?? 0;
    for (const { at, sum } of this.counts) sums[sum] = this.columns[at]?.[group] ?? 0;
    for (const [index, { at, sum }] of this.amounts.entries()) {
      const converted = this.converted[index]?.of(group);
      const same = nanosOf(this.columns[at]?.[group] ?? 0, this.columns[at + 1]?.[group] ?? 0);
      sums[sum] = converted === undefined ? same : same + roundedNanos(converted);
    }
    return sums as unknown as Sums;
  }

  /** What a group is ranked by: its approximate revenue and spend (as far as they could be converted), impressions, and all other counts. */
  weightOf(group: number): Weight {
    let [impressions, counts] = [0, 0];
    for (const { at, measure } of this.counts) {
      const sum = this.columns[at]?.[group] ?? 0;
      if (measure === 'impressions') impressions = sum;
      else counts += sum;
    }
    let revenue = 0;
    for (const index of this.earned) revenue += this.approximate(group, index);
    return { revenue, impressions, counts, spend: this.approximate(group, this.ownAmounts) };
  }

  private approximate(group: number, index: number): number {
    const at = this.amounts[index]?.at ?? 0;
    const same = (this.columns[at]?.[group] ?? 0) + (this.columns[at + 1]?.[group] ?? 0) * NANOS_PER_HIGH;
    const converted = this.converted[index]?.of(group);
    return converted === undefined ? same : same + Number(converted / RATE_SCALE);
  }

  private hasAmount(index: number, group: number): boolean {
    const at = this.amounts[index]?.at ?? 0;
    const isSame = [at, at + 1].some((place) => (this.columns[place]?.[group] ?? 0) !== 0);
    return isSame || (this.converted[index]?.of(group) ?? 0n) !== 0n;
  }

  private columnAt(at: number): Float64Array {
    const known = this.columns[at];
    if (known) return known;
    const column = new Float64Array(this.capacity);
    this.columns[at] = column;
    return column;
  }

  private addColumn(at: number, groups: Int32Array, added: Float64Array | null, size: number): void {
    if (added) addNumbers(this.columnAt(at), groups, added, size);
  }

  private addAmounts(
    index: number,
    groups: Int32Array,
    { size, low, high, conversions }: EntryAmounts,
  ): void {
    if (!low && !high) return;
    const at = this.amounts[index]?.at ?? 0;
    const [lows, highs] = [this.columnAt(at), this.columnAt(at + 1)];
    if (!conversions) {
      if (low) addLow(lows, highs, groups, low, size);
      if (high) addNumbers(highs, groups, high, size);
      return;
    }
    const { numbers, rates } = conversions;
    const converted = this.converted[index];
    for (let entry = 0; entry < size; entry++) {
      const group = groups[entry] ?? SKIPPED;
      const addedLow = low ? (low[entry] ?? 0) : 0;
      const addedHigh = high ? (high[entry] ?? 0) : 0;
      if (group === SKIPPED || (addedLow === 0 && addedHigh === 0)) continue;
      const number = numbers[entry] ?? NO_RATE;
      if (number === SAME_CURRENCY) addParts(lows, highs, group, addedLow, addedHigh);
      else if (number !== NO_RATE) converted?.add(group, addedLow, addedHigh, rates, number);
    }
  }

  private addAmountOf(index: number, group: number, other: GroupTable, otherGroup: number): void {
    if (!other.isUsed(index)) return;
    const at = this.amounts[index]?.at ?? 0;
    const [low, high] = [other.columns[at]?.[otherGroup] ?? 0, other.columns[at + 1]?.[otherGroup] ?? 0];
    if (low !== 0 || high !== 0) addParts(this.columnAt(at), this.columnAt(at + 1), group, low, high);
    const converted = other.converted[index]?.of(otherGroup);
    if (converted !== undefined) this.converted[index]?.addWhole(group, converted);
  }

  private addUnratedOf(group: number, other: GroupTable, otherGroup: number): void {
    this.unconverted.addAll(group, other.unconverted.of(otherGroup));
    this.unconvertedAcquired.addAll(group, other.unconvertedAcquired.of(otherGroup));
  }

  /** Whether any group has some of an amount. */
  private isUsed(index: number): boolean {
    const at = this.amounts[index]?.at ?? 0;
    return (
      this.converted[index]?.isUsed === true || this.columns[at] !== null || this.columns[at + 1] !== null
    );
  }
}

/**
 * A converted amount in nanos. It is rounded in two steps: a rate with infinitely many digits is truncated, which would turn half a
 * nano into slightly less.
 */
export const roundedNanos = (converted: bigint): bigint =>
  divideRounded(divideRounded(converted, RATE_SCALE / PARTS_PER_NANO), PARTS_PER_NANO);
