import {
  AMOUNTS,
  type AmountName,
  COUNTS,
  type CountName,
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
import { type Chunk, columnOf } from './chunk.ts';
import { ConvertedSums, nanosOf, RATE_SCALE } from './converted-sums.ts';
import { type Conversions, NO_RATE, SAME_CURRENCY } from './day-rates.ts';
import { type Unrated, UnratedSums } from './unrated.ts';

const PARTS_PER_NANO = 10n ** 15n;

/** `at` is the place of its sums in `columns`. */
type SumColumn = { at: number; measure: string; sum: AmountName | CountName };
/** Its two parts are what is in the reporting currency. */
type AmountColumn = SumColumn & { converted: ConvertedSums };

/** Sums that are all 0. */
export const emptySums = (): Sums => ({
  ...(Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<CountName, number>),
  ...(Object.fromEntries(AMOUNTS.map((name) => [name, 0n])) as Record<AmountName, bigint>),
  storeFeeBasisPoints: 0,
  unconverted: new Map(),
  unconvertedAcquired: new Map(),
  cohort: null,
});

const NO_SUMS = emptySums();

/** The measures of gross revenue. */
export const EARNED: readonly string[] = ['ad_revenue', 'purchase_revenue'];

export type Weight = { revenue: number; impressions: number; counts: number; spend: number };

/**
 * The sums of a report's groups, which are numbered from 0. They are kept in one large array per column, so that tens of thousands of groups
 * fit in memory next to the parts being read. Amounts stay exact until they are read.
 */
export class GroupTable {
  size: number;
  private capacity: number;
  /** Those of the rollup. */
  private readonly ownCounts: readonly SumColumn[];
  private readonly ownAmounts: readonly AmountColumn[];
  /** The amounts of revenue; the others are what was refunded of it. */
  private readonly earned: readonly AmountColumn[];
  /** The installs of attributed devices, and the impressions that costs state. */
  private readonly attributed: SumColumn;
  private readonly stated: SumColumn;
  private readonly spend: AmountColumn;
  private readonly counts: readonly SumColumn[];
  private readonly amounts: readonly AmountColumn[];
  /** The sums in the order of `sumColumnsOf`, then those that a report adds to them. Null while all are 0. */
  private readonly columns: (Float64Array | null)[];
  /** By group: what revenue and spend lack, because it could not be converted. */
  readonly unconverted = new UnratedSums();

  /** A table for sums of a rollup, with so many groups. */
  constructor(rollup: RollupTable, size = 0) {
    this.size = size;
    this.capacity = Math.max(64, size);
    let at = 0;
    const columnFor = (measure: string): SumColumn => {
      const column = { at, measure, sum: sumOf(measure) };
      at += columnsOf(measure).length;
      return column;
    };
    const withConverted = (column: SumColumn): AmountColumn => ({
      ...column,
      converted: new ConvertedSums(),
    });
    const own = MEASURES[rollup].map(columnFor);
    this.ownCounts = own.filter(({ measure }) => !isMoney(measure));
    this.ownAmounts = own.filter(({ measure }) => isMoney(measure)).map(withConverted);
    this.earned = this.ownAmounts.filter(({ measure }) => EARNED.includes(measure));
    [this.attributed, this.stated] = [columnFor('attributed_installs'), columnFor('stated_impressions')];
    this.spend = withConverted(columnFor('spend'));
    this.counts = [...this.ownCounts, this.attributed, this.stated];
    this.amounts = [...this.ownAmounts, this.spend];
    this.columns = new Array<Float64Array | null>(this.spend.at + 2).fill(null);
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

  /** Adds entries of the rollup, each to its group. `conversions` are those of the entries, null if all are `SAME_CURRENCY`. */
  addEntries(groups: Int32Array, chunk: Chunk, conversions: Conversions | null): void {
    for (const { at } of this.ownCounts) this.addColumn(at, groups, chunk, at);
    for (const amount of this.ownAmounts) this.addAmounts(amount, groups, chunk, amount.at, conversions);
    const from = this.earned.map(({ at }) => at);
    if (conversions) this.addUnconverted(groups, chunk, from, conversions);
  }

  /** Adds entries of costs in the same way. */
  addCosts(groups: Int32Array, chunk: Chunk, conversions: Conversions | null): void {
    this.addAmounts(this.spend, groups, chunk, 0, conversions);
    this.addColumn(this.stated.at, groups, chunk, 2);
    if (conversions) this.addUnconverted(groups, chunk, [0], conversions);
  }

  /** Counts the installs of entries as attributed. */
  addAttributed(groups: Int32Array, chunk: Chunk): void {
    const installs = this.ownCounts.find(({ measure }) => measure === 'installs');
    if (installs) this.addColumn(this.attributed.at, groups, chunk, installs.at);
  }

  /** Whether anything was spent on a group. */
  hasSpend(group: number): boolean {
    const { at, converted } = this.spend;
    const isSame = [at, at + 1].some((place) => (this.columns[place]?.[group] ?? 0) !== 0);
    return isSame || (converted.of(group) ?? 0n) !== 0n;
  }

  /** Adds a group of a table of the same rollup. */
  addGroup(group: number, other: GroupTable, otherGroup: number): void {
    for (const { at } of this.counts) {
      const added = other.columns[at]?.[otherGroup] ?? 0;
      if (added === 0) continue;
      const column = this.columnAt(at);
      column[group] = (column[group] ?? 0) + added;
    }
    for (const [index, { at, converted }] of this.amounts.entries()) {
      const [low, high] = [other.columns[at]?.[otherGroup] ?? 0, other.columns[at + 1]?.[otherGroup] ?? 0];
      if (low !== 0 || high !== 0) addParts(this.columnAt(at), this.columnAt(at + 1), group, low, high);
      const added = other.amounts[index]?.converted.of(otherGroup);
      if (added !== undefined) converted.addWhole(group, added);
    }
    this.unconverted.addAll(group, other.unconverted.of(otherGroup));
  }

  /** The sums of a group, with converted amounts rounded. */
  sumsOf(group: number): Sums {
    const sums: Record<string, number | bigint | Unrated | null> = {
      ...NO_SUMS,
      cohort: null,
      unconverted: this.unconverted.of(group),
    };
    for (const { at, sum } of this.counts) sums[sum] = this.columns[at]?.[group] ?? 0;
    for (const amount of this.amounts) sums[amount.sum] = this.totalOf(group, [amount]);
    return sums as unknown as Sums;
  }

  /** Amounts of a group together, rounded once. */
  amountOf(group: number, measures: readonly string[]): bigint {
    const amounts = this.amounts.filter(({ measure }) => measures.includes(measure));
    return this.totalOf(group, amounts);
  }

  private totalOf(group: number, amounts: readonly AmountColumn[]): bigint {
    let [same, parts] = [0n, 0n];
    for (const { at, converted } of amounts) {
      same += nanosOf(this.columns[at]?.[group] ?? 0, this.columns[at + 1]?.[group] ?? 0);
      parts += converted.of(group) ?? 0n;
    }
    return parts === 0n ? same : same + roundedNanos(parts);
  }

  /** What a group is ranked by: its approximate revenue and spend (as far as they could be converted), impressions, and all other counts. */
  weightOf(group: number): Weight {
    let [impressions, counts] = [0, 0];
    for (const { at, measure } of this.ownCounts) {
      const sum = this.columns[at]?.[group] ?? 0;
      if (measure === 'impressions') impressions = sum;
      else counts += sum;
    }
    let revenue = 0;
    for (const amount of this.earned) revenue += this.approximate(group, amount);
    return { revenue, impressions, counts, spend: this.approximate(group, this.spend) };
  }

  private approximate(group: number, { at, converted }: AmountColumn): number {
    const same = (this.columns[at]?.[group] ?? 0) + (this.columns[at + 1]?.[group] ?? 0) * NANOS_PER_HIGH;
    const parts = converted.of(group);
    return parts === undefined ? same : same + Number(parts / RATE_SCALE);
  }

  private columnAt(at: number): Float64Array {
    const known = this.columns[at];
    if (known) return known;
    const column = new Float64Array(this.capacity);
    this.columns[at] = column;
    return column;
  }

  /** Adds the entries' sums in the column `from` of a chunk. */
  private addColumn(at: number, groups: Int32Array, { sums, size }: Chunk, from: number): void {
    const added = sums[from];
    if (added) addNumbers(this.columnAt(at), groups, added, size);
  }

  /** Adds the entries' amounts, whose two parts begin at the column `from` of a chunk. */
  private addAmounts(
    { at, converted }: AmountColumn,
    groups: Int32Array,
    { sums, size }: Chunk,
    from: number,
    conversions: Conversions | null,
  ): void {
    const [low, high] = [sums[from], sums[from + 1]];
    if (!low && !high) return;
    const [lows, highs] = [this.columnAt(at), this.columnAt(at + 1)];
    if (!conversions) {
      if (low) addLow(lows, highs, groups, low, size);
      if (high) addNumbers(highs, groups, high, size);
      return;
    }
    const { numbers, rates } = conversions;
    for (let entry = 0; entry < size; entry++) {
      const group = groups[entry] ?? SKIPPED;
      const addedLow = low ? (low[entry] ?? 0) : 0;
      const addedHigh = high ? (high[entry] ?? 0) : 0;
      if (group === SKIPPED || (addedLow === 0 && addedHigh === 0)) continue;
      const number = numbers[entry] ?? NO_RATE;
      if (number === SAME_CURRENCY) addParts(lows, highs, group, addedLow, addedHigh);
      else if (number !== NO_RATE) converted.add(group, addedLow, addedHigh, rates, number);
    }
  }

  /** Lists the amounts of entries that cannot be converted: those that begin at the columns `from` of a chunk. */
  private addUnconverted(
    groups: Int32Array,
    chunk: Chunk,
    from: readonly number[],
    { numbers }: Conversions,
  ): void {
    const { sums } = chunk;
    const currencies = columnOf(chunk, 'currency');
    for (let entry = 0; entry < chunk.size; entry++) {
      const group = groups[entry] ?? SKIPPED;
      if (numbers[entry] !== NO_RATE || group === SKIPPED) continue;
      const currency = currencies.values[currencies.numbers[entry] ?? 0] ?? '';
      for (const at of from) {
        this.unconverted.add(group, currency, nanosOf(sums[at]?.[entry] ?? 0, sums[at + 1]?.[entry] ?? 0));
      }
    }
  }
}

/**
 * A converted amount in nanos. It is rounded in two steps: a rate with infinitely many digits is truncated, which would turn half a
 * nano into slightly less.
 */
export const roundedNanos = (converted: bigint): bigint =>
  divideRounded(divideRounded(converted, RATE_SCALE / PARTS_PER_NANO), PARTS_PER_NANO);
