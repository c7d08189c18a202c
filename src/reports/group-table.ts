import { columnsOf, isMoney, MEASURES, type RollupTable, type Sums } from '#catalogue';
import { divideRounded } from '#lib/decimal';
import { MICROS_PER_HIGH } from '#rollup';
import { type Amount, type Count, emptySums, sumOf } from './adder.ts';

/** The value of one micro of a currency, in units of 10^-36 micros, so that converted sums are rounded only once, at the end. */
type ScaledRate = bigint;
export const RATE_SCALE = 10n ** 36n;
const PARTS_PER_MICRO = 10n ** 18n;

/** How an amount is converted: it is in the reporting currency already (`same`), by a rate, or not at all because there is none (null). */
export type Conversion = 'same' | ScaledRate | null;

const EXACT_HIGH = BigInt(MICROS_PER_HIGH);

type Column = { at: number; measure: string; sum: Amount | Count };

const NO_SUMS = emptySums();

/** Amounts that a report adds to those of its rollup: what was spent, and what acquired devices have earned since. */
const ADDED = ['spend', 'acquired_revenue', 'attributed_revenue'] as const;
export type AddedAmount = (typeof ADDED)[number];

const COUNT = -2;
const HIGH = -1;

export type Weight = { revenue: number; impressions: number; counts: number; spend: number };

/**
 * The sums of a report's groups, which are numbered from 0. They are kept in a few large arrays, so that tens of thousands of groups fit
 * in memory next to the blocks being read. Amounts stay exact until they are read.
 */
export class GroupTable {
  size = 0;
  private readonly width: number;
  private readonly counts: readonly Column[];
  /** The amounts of the rollup, then those of `ADDED`. */
  private readonly amounts: readonly Column[];
  private readonly ownAmounts: number;
  private readonly installsAt: number | null;
  /** By column: the number of the amount whose low part it is, `HIGH` for a high part, or `COUNT`. */
  private readonly kinds: Int8Array;
  /** By group, in the order of `sumColumnsOf`; amounts in the reporting currency. */
  private sums = new Float64Array(0);
  /** By group: installs of attributed devices. */
  private readonly attributed: number[] = [];
  /** By amount and group: the converted sum. */
  private readonly converted: bigint[][];
  /** By amount and group: whether part of it could not be converted. */
  private readonly incomplete: boolean[][];

  constructor(rollup: RollupTable) {
    let at = 0;
    const columns = MEASURES[rollup].map((measure) => {
      const column = { at, measure, sum: sumOf(measure) };
      at += columnsOf(measure).length;
      return column;
    });
    const own = columns.filter(({ measure }) => isMoney(measure));
    this.ownAmounts = own.length;
    this.counts = columns.filter(({ measure }) => !isMoney(measure));
    this.amounts = [
      ...own,
      ...ADDED.map((measure, index) => ({ at: at + 2 * index, measure, sum: sumOf(measure) })),
    ];
    at += 2 * ADDED.length;
    this.width = at;
    this.installsAt = columns.find(({ measure }) => measure === 'installs')?.at ?? null;
    this.kinds = new Int8Array(at).fill(COUNT);
    for (const [index, amount] of this.amounts.entries()) {
      this.kinds[amount.at] = index;
      this.kinds[amount.at + 1] = HIGH;
    }
    this.converted = this.amounts.map(() => []);
    this.incomplete = this.amounts.map(() => []);
  }

  /** Adds a group and returns its number. */
  open(): number {
    const group = this.size++;
    if (this.size * this.width > this.sums.length) {
      const larger = new Float64Array(Math.max(64 * this.width, this.sums.length * 2));
      larger.set(this.sums);
      this.sums = larger;
    }
    this.attributed.push(0);
    for (const own of this.converted) own.push(0n);
    for (const own of this.incomplete) own.push(false);
    return group;
  }

  /** Adds sums in the order of `sumColumnsOf`. The bits of `mask` say which of them are not 0. */
  add(group: number, added: Float64Array, mask: number, conversion: Conversion): void {
    const from = group * this.width;
    for (let at = 0, bits = mask; bits !== 0; at++, bits >>>= 1) {
      if ((bits & 1) === 0) continue;
      const kind = this.kinds[at] ?? COUNT;
      if (kind === COUNT) this.sums[from + at] = (this.sums[from + at] ?? 0) + (added[at] ?? 0);
      else if (kind === HIGH) this.addAmount(group, this.kinds[at - 1] ?? 0, 0, added[at] ?? 0, conversion);
      else this.addAmount(group, kind, added[at] ?? 0, 0, conversion);
    }
  }

  /** Adds to one of the amounts that are not of the rollup. */
  addTo(amount: AddedAmount, group: number, low: number, high: number, conversion: Conversion): void {
    this.addAmount(group, this.ownAmounts + ADDED.indexOf(amount), low, high, conversion);
  }

  /** Whether anything was spent on a group. */
  hasSpend(group: number): boolean {
    const { at = 0 } = this.amounts[this.ownAmounts] ?? {};
    const isSame = [at, at + 1].some((place) => this.sums[group * this.width + place] !== 0);
    return isSame || this.converted[this.ownAmounts]?.[group] !== 0n;
  }

  /** Counts the installs among a row's sums as attributed. */
  addAttributed(group: number, added: Float64Array): void {
    const installs = this.installsAt === null ? 0 : (added[this.installsAt] ?? 0);
    if (installs !== 0) this.attributed[group] = (this.attributed[group] ?? 0) + installs;
  }

  /** Adds a group of another table of the same rollup. */
  addGroup(group: number, other: GroupTable, otherGroup: number): void {
    const from = otherGroup * this.width;
    this.add(group, other.sums.subarray(from, from + this.width), 2 ** this.width - 1, 'same');
    this.attributed[group] = (this.attributed[group] ?? 0) + (other.attributed[otherGroup] ?? 0);
    for (let index = 0; index < this.amounts.length; index++) {
      this.convert(index, group, other.converted[index]?.[otherGroup] ?? 0n);
      if (other.incomplete[index]?.[otherGroup]) this.setIncomplete(index, group);
    }
  }

  /** Adds what the devices acquired in another group of this table have earned. */
  addAcquired(group: number, otherGroup: number): void {
    for (const amount of ['acquired_revenue', 'attributed_revenue'] as const) {
      const index = this.ownAmounts + ADDED.indexOf(amount);
      const at = otherGroup * this.width + (this.amounts[index]?.at ?? 0);
      this.addAmount(group, index, this.sums[at] ?? 0, this.sums[at + 1] ?? 0, 'same');
      this.convert(index, group, this.converted[index]?.[otherGroup] ?? 0n);
      if (this.incomplete[index]?.[otherGroup]) this.setIncomplete(index, group);
    }
  }

  /** The total of all amounts among sums in the order of `sumColumnsOf`, in micros. */
  microsOf(sums: Float64Array): bigint {
    const own = this.amounts.slice(0, this.ownAmounts);
    return own.reduce((all, { at }) => all + microsOf(sums[at] ?? 0, sums[at + 1] ?? 0), 0n);
  }

  /** The sums of a group, with converted amounts rounded. */
  sumsOf(group: number): Sums {
    const from = group * this.width;
    const sums: Record<string, number | bigint | null> = { ...NO_SUMS };
    sums.attributedInstalls = this.attributed[group] ?? 0;
    for (const { at, sum } of this.counts) sums[sum] = this.sums[from + at] ?? 0;
    for (const [index, { at, sum }] of this.amounts.entries()) {
      const same = microsOf(this.sums[from + at] ?? 0, this.sums[from + at + 1] ?? 0);
      const converted = this.converted[index]?.[group] ?? 0n;
      const isWhole = !this.incomplete[index]?.[group];
      sums[sum] = isWhole ? same + (converted === 0n ? 0n : roundedMicros(converted)) : null;
    }
    return sums as Sums;
  }

  /** What a group is ranked by: its approximate revenue and spend (as far as they could be converted), impressions, and all other counts. */
  weightOf(group: number): Weight {
    const from = group * this.width;
    let [impressions, counts] = [0, 0];
    for (const { at, measure } of this.counts) {
      const sum = this.sums[from + at] ?? 0;
      if (measure === 'impressions') impressions = sum;
      else counts += sum;
    }
    let revenue = 0;
    for (let index = 0; index < this.ownAmounts; index++) revenue += this.approximate(group, index);
    return { revenue, impressions, counts, spend: this.approximate(group, this.ownAmounts) };
  }

  private approximate(group: number, index: number): number {
    const at = group * this.width + (this.amounts[index]?.at ?? 0);
    const same = (this.sums[at] ?? 0) + (this.sums[at + 1] ?? 0) * MICROS_PER_HIGH;
    return same + Number((this.converted[index]?.[group] ?? 0n) / RATE_SCALE);
  }

  private addAmount(group: number, index: number, low: number, high: number, conversion: Conversion): void {
    if (conversion === null) this.setIncomplete(index, group);
    else if (conversion !== 'same') this.convert(index, group, microsOf(low, high) * conversion);
    else {
      // The low part stays below 10^12, so that both parts are exact.
      const at = group * this.width + (this.amounts[index]?.at ?? 0);
      const sum = (this.sums[at] ?? 0) + low;
      const carried = sum >= MICROS_PER_HIGH ? 1 : 0;
      this.sums[at] = sum - carried * MICROS_PER_HIGH;
      if (high + carried !== 0) this.sums[at + 1] = (this.sums[at + 1] ?? 0) + high + carried;
    }
  }

  private convert(index: number, group: number, parts: bigint): void {
    const own = this.converted[index];
    if (own && parts !== 0n) own[group] = (own[group] ?? 0n) + parts;
  }

  private setIncomplete(index: number, group: number): void {
    const own = this.incomplete[index];
    if (own) own[group] = true;
  }
}

/**
 * A converted amount in micros. It is rounded in two steps: a rate with infinitely many digits is truncated, which would turn half a
 * micro into slightly less.
 */
export const roundedMicros = (converted: bigint): bigint =>
  divideRounded(divideRounded(converted, RATE_SCALE / PARTS_PER_MICRO), PARTS_PER_MICRO);

/** An amount from its two parts. */
export const microsOf = (low: number, high: number): bigint =>
  high === 0 ? BigInt(low) : BigInt(high) * EXACT_HIGH + BigInt(low);
