import { daysBetween } from '#lib/time';
import { type Entries, MICROS_PER_HIGH, sumColumnsOf } from '#rollup';
import { type Chunk, valuesIn } from './chunk.ts';
import { rowOf } from './cohort-activity.ts';
import { CohortAmounts } from './cohort-amounts.ts';
import { type CohortCells, type CohortDay, NO_VALUE } from './cohort-cells.ts';
import { microsOf } from './converted-sums.ts';
import { conversionsOf, type DayRates, NO_RATE, SAME_CURRENCY } from './day-rates.ts';

/** Revenue of devices without a grouping. `asked` is the first requested day number that it counts for. */
export type RevenueRow = { acquiredDay: string; rateDay: string; currency: string; asked: number };

const COLUMNS = sumColumnsOf('cohort_revenue');
const AMOUNTS_AT = ['ad_revenue', 'purchase_revenue'].map((name) => COLUMNS.indexOf(name));

/** Adds up what the devices of ranked cohorts have earned by each requested day number, and what was spent on acquiring them. */
export class CohortRevenue {
  readonly revenue: CohortAmounts;
  readonly spend: CohortAmounts;
  private readonly cells: CohortCells;
  private readonly rates: DayRates;

  // Of the open chunk.
  private days: readonly string[] = [];
  private acquired: readonly string[] = [];
  /** By the indexes of an acquisition day and a day, the index of the first day number that revenue of that day counts for. */
  private slots: (number | undefined)[] = [];

  // Of the current entry.
  private day: CohortDay | null = null;
  private value = 0;
  private from = 0;
  private currency = '';
  private conversion = SAME_CURRENCY;

  constructor(cells: CohortCells, rates: DayRates, rows: number) {
    this.cells = cells;
    this.rates = rates;
    this.revenue = new CohortAmounts(rows, cells.numbers.length, rates.rates);
    this.spend = new CohortAmounts(rows, cells.numbers.length, rates.rates);
  }

  async read(chunk: Chunk): Promise<void> {
    const { columns, isOfCosts } = chunk;
    const conversionsIn = await conversionsOf(this.rates, chunk);
    const currencies = valuesIn(chunk, 'currency');
    this.days = valuesIn(chunk, 'day');
    this.acquired = isOfCosts ? this.days : valuesIn(chunk, 'acquired_day');
    const [acquiredAt, dayAt] = [columns.indexOf('acquired_day'), columns.indexOf('day')];
    const currencyAt = columns.indexOf('currency');
    this.slots = [];
    await this.cells.open(chunk);
    chunk.read((entries) => {
      const { size, keys, segments } = entries;
      const conversions = conversionsIn(entries);
      for (let entry = 0; entry < size; entry++) {
        this.day = this.cells.dayAt(keys, entry);
        this.from = isOfCosts ? 0 : this.slotOf(keys[acquiredAt]?.[entry] ?? 0, keys[dayAt]?.[entry] ?? 0);
        // Revenue after the last day number that is over counts for none, and the days of a cohort that is too young for all have no spend.
        if (this.from > this.day.tail) continue;
        this.value = this.cells.valueAt(keys, segments, entry);
        this.currency = currencies[keys[currencyAt]?.[entry] ?? 0] ?? '';
        this.conversion = conversions ? (conversions.numbers[entry] ?? NO_RATE) : SAME_CURRENCY;
        this.add(entries, entry, isOfCosts);
      }
    });
  }

  private slotOf(acquired: number, day: number): number {
    const at = acquired * this.days.length + day;
    const known = this.slots[at];
    if (known !== undefined) return known;
    const age = daysBetween(this.acquired[acquired] ?? '', this.days[day] ?? '');
    const found = this.cells.numbers.findIndex((number) => number >= age);
    const slot = found < 0 ? Number.POSITIVE_INFINITY : found;
    this.slots[at] = slot;
    return slot;
  }

  /** Adds revenue of devices without a grouping. */
  async addRevenue(rows: readonly (RevenueRow & { micros: bigint })[]): Promise<void> {
    await this.rates.use([...new Set(rows.map(({ currency }) => currency))]);
    this.value = 0;
    for (const { acquiredDay, rateDay, currency, asked, micros } of rows) {
      this.day = this.cells.dayOf(acquiredDay);
      this.from = this.cells.numbers.indexOf(asked);
      this.currency = currency;
      this.conversion = this.rates.of(currency, rateDay);
      const whole = BigInt(MICROS_PER_HIGH);
      if (this.from <= this.day.tail) {
        this.addAmount(this.revenue, Number(micros % whole), Number(micros / whole));
      }
    }
  }

  private add({ sums }: Entries, entry: number, isOfCosts: boolean): void {
    if (isOfCosts) {
      this.addAmount(this.spend, sums[0]?.[entry] ?? 0, sums[1]?.[entry] ?? 0);
      return;
    }
    let [low, high] = [0, 0];
    for (const at of AMOUNTS_AT) {
      low += sums[at]?.[entry] ?? 0;
      high += sums[at + 1]?.[entry] ?? 0;
    }
    this.addAmount(this.revenue, low, high);
  }

  private addAmount(amounts: CohortAmounts, low: number, high: number): void {
    if (!this.day || (low === 0 && high === 0)) return;
    const { part, tail } = this.day;
    if (this.conversion === NO_RATE) this.rates.miss(this.currency, microsOf(low, high));
    // Costs without the name that is grouped by are of no cohort.
    if (this.value === NO_VALUE) return;
    amounts.add(rowOf(part, this.value), this.from, tail, low, high, this.conversion);
  }
}
