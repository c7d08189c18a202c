import { netOfFee, per } from '#catalogue';
import type { NetTerms } from '#counting';
import { fromNanos } from '#lib/money';
import { daysBetween } from '#lib/time';
import { type CubeStores, NANOS_PER_HIGH, sumColumnsOf } from '#rollup';
import { type Chunk, columnOf, organicIn } from '../engine/chunk.ts';
import { nanosOf } from '../engine/converted-sums.ts';
import { scanCosts } from '../engine/cost-scan.ts';
import { type CubeScan, scanCube } from '../engine/cube-query.ts';
import { conversionsOf, type DayRates, NO_RATE, SAME_CURRENCY } from '../engine/day-rates.ts';
import { addUnrated, type Unrated, UnratedSums } from '../engine/unrated.ts';
import { CohortAmounts } from './cohort-amounts.ts';
import { CohortCurves, type Curve } from './cohort-curves.ts';
import { type AcquisitionDay, acquiredColumn, type CohortPlaces, NO_ROW } from './cohort-places.ts';

const COLUMNS = sumColumnsOf('cohort_revenue');
const [AD_AT, PURCHASED_AT, RETURNED_AT] = ['ad_revenue', 'purchase_revenue', 'returned_revenue'].map(
  (name) => COLUMNS.indexOf(name),
) as [number, number, number];
const AMOUNTS_AT = ['ad_revenue', 'purchase_revenue'].map((name) => COLUMNS.indexOf(name));
/** Costs have one amount. */
const COSTS_AT = [0];

/** An amount's place: the row and day of its devices, and how many days after the acquisition it was earned. */
type RevenuePlace = {
  day: AcquisitionDay | null;
  row: number;
  age: number;
  currency: string;
  conversion: number;
};

/**
 * What the devices of cohorts have earned, and what was spent on acquiring them: exactly by each requested day number that is over, and by day
 * for the curves.
 */
export class CohortRevenue {
  readonly revenue: CohortAmounts;
  readonly spend: CohortAmounts;
  private readonly curves: CohortCurves;
  /** What could not be converted: over all cohorts, and by row and index of a requested day number whose figures lack it. */
  readonly unconverted = new Map<string, bigint>();
  private readonly unconvertedCells = new UnratedSums();
  /** The requested day numbers, ascending. */
  private readonly numbers: readonly number[];
  /** By age, the index of the first day number that revenue of that age counts for. */
  private readonly slots: readonly number[];

  constructor(rows: number, numbers: readonly number[], rates: DayRates) {
    this.numbers = numbers;
    this.revenue = new CohortAmounts(rows, numbers.length, rates.rates);
    this.spend = new CohortAmounts(rows, numbers.length, rates.rates);
    const ages = (numbers.at(-1) ?? 0) + 1;
    this.curves = new CohortCurves(rows, ages, rates.rates);
    this.slots = Array.from({ length: ages }, (_, age) => numbers.findIndex((number) => number >= age));
  }

  add({ day, row, age, currency, conversion }: RevenuePlace, isSpend: boolean, low: number, high: number) {
    if (!day || (low === 0 && high === 0)) return;
    if (conversion === NO_RATE) addUnrated(this.unconverted, currency, nanosOf(low, high));
    if (row === NO_ROW) return;
    const from = this.slots[age] ?? 0;
    if (conversion === NO_RATE) {
      this.miss(row, from, currency, nanosOf(low, high));
      return;
    }
    (isSpend ? this.spend : this.revenue).add(row, from, day.tail, low, high, conversion);
    if (isSpend) this.curves.addSpend(row, day.ago, low, high, conversion);
    else this.curves.addRevenue(row, age, low, high, conversion);
  }

  /**
   * What a device has earned by each day, and what each unit of spend has: see `CohortCurves`. `eligible` counts the devices whose day is over.
   */
  curvesOf(row: number, eligible: Float64Array, knowsSpend: boolean): { ltv: Curve; roas: Curve } {
    return this.curves.of(row, eligible, (age) => {
      const index = this.numbers.indexOf(age);
      if (index < 0) return null;
      const earned = fromNanos(this.revenue.of(row, index));
      const spent = knowsSpend ? fromNanos(this.spend.of(row, index)) : null;
      return { ltv: per(earned, eligible[age] ?? 0), roas: per(earned, spent) };
    });
  }

  /** Lists an amount that the figures of a row lack from a requested day number on. */
  private miss(row: number, from: number, currency: string, amount: bigint): void {
    for (let index = from; index < this.numbers.length; index++) {
      this.unconvertedCells.add(row * this.numbers.length + index, currency, amount);
    }
  }

  /** What the figures of a row by a requested day number lack. */
  unconvertedOf(row: number, index: number): Unrated {
    return this.unconvertedCells.of(row * this.numbers.length + index);
  }
}

/** Which amounts are added to a `CohortRevenue`: those of all devices or of the attributed ones, gross or without refunds and the fee of `net`. */
export type RevenueTarget = { to: CohortRevenue; of: 'all' | 'attributed'; net: NetTerms | null };

/** Finds the place of each amount once, and adds it to each target. */
export class RevenueReader {
  private readonly places: CohortPlaces;
  private readonly rates: DayRates;
  private readonly targets: readonly RevenueTarget[];
  private readonly ages: number;

  // Of the open chunk.
  private days: readonly string[] = [];
  private acquired: readonly string[] = [];
  /** By the indexes of an acquisition day and a day, how many days are between them; 0 for a day before the acquisition. */
  private between: (number | undefined)[] = [];
  private readonly at: RevenuePlace = {
    day: null,
    row: NO_ROW,
    age: 0,
    currency: '',
    conversion: SAME_CURRENCY,
  };

  constructor(places: CohortPlaces, rates: DayRates, targets: readonly RevenueTarget[]) {
    this.places = places;
    this.rates = rates;
    this.targets = targets;
    this.ages = (places.numbers.at(-1) ?? 0) + 1;
  }

  /** Reads what devices have earned and, if it is wanted, what was spent on the days on which they were acquired. */
  async scan(
    stores: CubeStores,
    asked: Omit<CubeScan, 'rollup'> & { reporting: string },
    wantsSpend: boolean,
  ): Promise<void> {
    const earned: CubeScan = { ...asked, rollup: 'cohort_revenue' };
    for await (const chunk of scanCube(stores, earned)) await this.read(chunk);
    if (!wantsSpend) return;
    const spent = { ...asked, names: [...new Set(['day' as const, ...asked.names])] };
    for await (const chunk of scanCosts(stores.DB, spent)) await this.read(chunk);
  }

  private async read(chunk: Chunk): Promise<void> {
    const { isOfCosts = false } = chunk;
    const conversions = await conversionsOf(this.rates, chunk);
    const currencies = columnOf(chunk, 'currency');
    const [days, acquired] = [columnOf(chunk, 'day'), columnOf(chunk, acquiredColumn(chunk))];
    const { numbers, organic } = organicIn(chunk);
    this.days = days.values;
    this.acquired = acquired.values;
    this.between = [];
    await this.places.open(chunk);
    const { at } = this;
    for (let entry = 0; entry < chunk.size; entry++) {
      at.day = this.places.dayAt(entry);
      at.age = isOfCosts ? 0 : this.ageOf(acquired.numbers[entry] ?? 0, days.numbers[entry] ?? 0);
      // The day must be over, and not after the last requested day number.
      if (at.age >= at.day.ago || at.age >= this.ages) continue;
      at.row = this.places.rowAt(entry);
      at.currency = currencies.values[currencies.numbers[entry] ?? 0] ?? '';
      at.conversion = conversions ? (conversions.numbers[entry] ?? NO_RATE) : SAME_CURRENCY;
      this.add(chunk.sums, entry, isOfCosts, numbers[entry] === organic);
    }
  }

  private ageOf(acquired: number, day: number): number {
    const at = acquired * this.days.length + day;
    this.between[at] ??= Math.max(0, daysBetween(this.acquired[acquired] ?? '', this.days[day] ?? ''));
    return this.between[at] ?? 0;
  }

  private add(sums: Chunk['sums'], entry: number, isOfCosts: boolean, isOrganic: boolean): void {
    let [low, high] = [0, 0];
    for (const at of isOfCosts ? COSTS_AT : AMOUNTS_AT) {
      low += sums[at]?.[entry] ?? 0;
      high += sums[at + 1]?.[entry] ?? 0;
    }
    for (const { to, of, net } of this.targets) {
      if (isOrganic && of === 'attributed') continue;
      if (net === null || isOfCosts) to.add(this.at, isOfCosts, low, high);
      else to.add(this.at, false, ...netParts(sums, entry, net));
    }
  }
}

/** An entry's remaining revenue, in two parts, of which the first is not negative. */
function netParts(sums: Chunk['sums'], entry: number, net: NetTerms): [low: number, high: number] {
  const at = (place: number) => nanosOf(sums[place]?.[entry] ?? 0, sums[place + 1]?.[entry] ?? 0);
  const nanos = at(AD_AT) + netOfFee(at(PURCHASED_AT), at(RETURNED_AT), net);
  const high = nanos / BigInt(NANOS_PER_HIGH) - (nanos < 0n ? 1n : 0n);
  return [Number(nanos - high * BigInt(NANOS_PER_HIGH)), Number(high)];
}
