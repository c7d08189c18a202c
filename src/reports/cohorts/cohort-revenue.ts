import { daysBetween } from '#lib/time';
import { type Entries, sumColumnsOf } from '#rollup';
import { type Chunk, valuesIn } from '../engine/chunk.ts';
import { nanosOf } from '../engine/converted-sums.ts';
import { conversionsOf, type DayRates, NO_RATE, SAME_CURRENCY } from '../engine/day-rates.ts';
import { addUnrated, type Unrated, UnratedSums } from '../engine/unrated.ts';
import { CohortAmounts } from './cohort-amounts.ts';
import { type CohortDay, type CohortPlaces, NO_ROW } from './cohort-cells.ts';
import { CohortCurves } from './cohort-curves.ts';

const COLUMNS = sumColumnsOf('cohort_revenue');
const AMOUNTS_AT = ['ad_revenue', 'purchase_revenue'].map((name) => COLUMNS.indexOf(name));

/**
 * Adds up what the devices of ranked cohorts have earned, and what was spent on acquiring them: exactly by each requested day number that is
 * over, and by day for the curves.
 */
export class CohortRevenue {
  readonly revenue: CohortAmounts;
  readonly spend: CohortAmounts;
  readonly curves: CohortCurves;
  /** What could not be converted: over all cohorts, and by row and index of a requested day number whose figures lack it. */
  readonly unconverted = new Map<string, bigint>();
  private readonly unconvertedCells = new UnratedSums();
  private readonly places: CohortPlaces;
  private readonly rates: DayRates;

  // Of the open chunk.
  private days: readonly string[] = [];
  private acquired: readonly string[] = [];
  /** By the indexes of an acquisition day and a day, how many days are between them; 0 for a day before the acquisition. */
  private ages: (number | undefined)[] = [];
  /** By age, the index of the first day number that revenue of that age counts for. */
  private readonly slots: readonly number[];

  // Of the current entry.
  private day: CohortDay | null = null;
  private row = NO_ROW;
  private age = 0;
  private currency = '';
  private conversion = SAME_CURRENCY;

  constructor(places: CohortPlaces, rates: DayRates, rows: number) {
    this.places = places;
    this.rates = rates;
    this.revenue = new CohortAmounts(rows, places.numbers.length, rates.rates);
    this.spend = new CohortAmounts(rows, places.numbers.length, rates.rates);
    const ages = (places.numbers.at(-1) ?? 0) + 1;
    this.curves = new CohortCurves(rows, ages, rates.rates);
    this.slots = Array.from({ length: ages }, (_, age) =>
      places.numbers.findIndex((number) => number >= age),
    );
  }

  async read(chunk: Chunk): Promise<void> {
    const { columns, isOfCosts } = chunk;
    const conversionsIn = await conversionsOf(this.rates, chunk);
    const currencies = valuesIn(chunk, 'currency');
    this.days = valuesIn(chunk, 'day');
    this.acquired = isOfCosts ? this.days : valuesIn(chunk, 'acquired_day');
    const [acquiredAt, dayAt] = [columns.indexOf('acquired_day'), columns.indexOf('day')];
    const currencyAt = columns.indexOf('currency');
    this.ages = [];
    await this.places.open(chunk);
    chunk.read((entries) => {
      const { size, keys } = entries;
      this.places.find(entries);
      const conversions = conversionsIn(entries);
      for (let entry = 0; entry < size; entry++) {
        this.day = this.places.dayAt(entry);
        this.age = isOfCosts ? 0 : this.ageOf(keys[acquiredAt]?.[entry] ?? 0, keys[dayAt]?.[entry] ?? 0);
        if (!this.isOver) continue;
        this.row = this.places.rowAt(entry);
        this.currency = currencies[keys[currencyAt]?.[entry] ?? 0] ?? '';
        this.conversion = conversions ? (conversions.numbers[entry] ?? NO_RATE) : SAME_CURRENCY;
        this.add(entries, entry, isOfCosts);
      }
    });
  }

  private ageOf(acquired: number, day: number): number {
    const at = acquired * this.days.length + day;
    this.ages[at] ??= Math.max(0, daysBetween(this.acquired[acquired] ?? '', this.days[day] ?? ''));
    return this.ages[at] ?? 0;
  }

  /** Whether the day of the current entry is over, and not after the last requested day number. */
  private get isOver(): boolean {
    return this.age < (this.day?.ago ?? 0) && this.age < this.slots.length;
  }

  private add({ sums }: Entries, entry: number, isOfCosts: boolean): void {
    if (isOfCosts) {
      this.addAmount(true, sums[0]?.[entry] ?? 0, sums[1]?.[entry] ?? 0);
      return;
    }
    let [low, high] = [0, 0];
    for (const at of AMOUNTS_AT) {
      low += sums[at]?.[entry] ?? 0;
      high += sums[at + 1]?.[entry] ?? 0;
    }
    this.addAmount(false, low, high);
  }

  private addAmount(isSpend: boolean, low: number, high: number): void {
    if (!this.day || (low === 0 && high === 0)) return;
    const { ago, tail } = this.day;
    if (this.conversion === NO_RATE) addUnrated(this.unconverted, this.currency, nanosOf(low, high));
    if (this.row === NO_ROW) return;
    const [row, from] = [this.row, this.slots[this.age] ?? 0];
    if (this.conversion === NO_RATE) {
      this.miss(row, from, nanosOf(low, high));
      return;
    }
    (isSpend ? this.spend : this.revenue).add(row, from, tail, low, high, this.conversion);
    if (isSpend) this.curves.addSpend(row, ago, low, high, this.conversion);
    else this.curves.addRevenue(row, this.age, low, high, this.conversion);
  }

  /** Lists an amount that the figures of a row lack from a requested day number on. */
  private miss(row: number, from: number, amount: bigint): void {
    const width = this.places.numbers.length;
    for (let index = from; index < width; index++) {
      this.unconvertedCells.add(row * width + index, this.currency, amount);
    }
  }

  /** What the figures of a row by a requested day number lack. */
  unconvertedOf(row: number, index: number): Unrated {
    return this.unconvertedCells.of(row * this.places.numbers.length + index);
  }
}
