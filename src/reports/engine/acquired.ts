import { sumColumnsOf } from '#rollup';
import type { DimensionName } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import { SKIPPED } from './add-columns.ts';
import { type Chunk, type Entries, organicIn, valuesIn } from './chunk.ts';
import { nanosOf } from './converted-sums.ts';
import { type Conversions, conversionsOf, type DayRates, NO_RATE } from './day-rates.ts';
import { GroupCells } from './group-cells.ts';
import type { Ranking } from './groups.ts';

const COLUMNS = sumColumnsOf('cohort_revenue');
const AMOUNTS_AT = ['ad_revenue', 'purchase_revenue'].map((name) => COLUMNS.indexOf(name));
const [PURCHASED_AT, RETURNED_AT] = [
  COLUMNS.indexOf('purchase_revenue'),
  COLUMNS.indexOf('returned_revenue'),
];

/** Adds to ranked groups what the devices acquired in each have earned since. */
export class Acquired {
  private readonly ranking: Ranking;
  private readonly lookup: GroupCells;
  private readonly rates: DayRates;

  // Of the entries being added: the groups, and those of devices that came from an ad.
  private groups = new Int32Array(0);
  private paidGroups = new Int32Array(0);

  constructor(
    ranking: Ranking,
    names: readonly DimensionName[],
    around: { creatives: CreativeNames; rates: DayRates },
  ) {
    const { kept, rest } = ranking.places;
    this.ranking = ranking;
    this.rates = around.rates;
    this.lookup = new GroupCells(names, around.creatives, {
      group: (values) => kept.get(JSON.stringify(values)) ?? rest,
    });
  }

  async read(chunk: Chunk): Promise<void> {
    const conversions = await conversionsOf(this.rates, chunk);
    await this.lookup.open(chunk, 'acquired_day');
    const organic = organicIn(chunk);
    const { entries } = chunk;
    const { size, keys } = entries;
    if (this.groups.length < size) {
      [this.groups, this.paidGroups] = [new Int32Array(size), new Int32Array(size)];
    }
    this.lookup.find(entries, this.groups, this.ranking.places.rest);
    for (let entry = 0; entry < size; entry++) {
      const isOrganic = keys[organic.at]?.[entry] === organic.value;
      this.paidGroups[entry] = isOrganic ? SKIPPED : (this.groups[entry] ?? SKIPPED);
    }
    this.addEntries(entries, conversions);
    if (conversions) this.addUnconverted(chunk, conversions);
  }

  private addEntries({ size, sums }: Entries, conversions: Conversions | null): void {
    const { table } = this.ranking;
    const amountsAt = (at: number) => ({
      ...{ size, low: sums[at] ?? null, high: sums[at + 1] ?? null, conversions },
    });
    for (const at of AMOUNTS_AT) {
      table.addTo('acquired_revenue', this.groups, amountsAt(at));
      table.addTo('attributed_revenue', this.paidGroups, amountsAt(at));
    }
    table.addTo('acquired_purchase_revenue', this.groups, amountsAt(PURCHASED_AT));
    table.addTo('acquired_returned_revenue', this.groups, amountsAt(RETURNED_AT));
    table.addTo('attributed_purchase_revenue', this.paidGroups, amountsAt(PURCHASED_AT));
    table.addTo('attributed_returned_revenue', this.paidGroups, amountsAt(RETURNED_AT));
  }

  /** Lists the amounts that cannot be converted. */
  private addUnconverted(chunk: Chunk, { numbers }: Conversions): void {
    const { size, keys, sums } = chunk.entries;
    const currencies = valuesIn(chunk, 'currency');
    const currencyAt = chunk.columns.indexOf('currency');
    for (let entry = 0; entry < size; entry++) {
      if (numbers[entry] !== NO_RATE) continue;
      const currency = currencies[keys[currencyAt]?.[entry] ?? 0] ?? '';
      for (const at of AMOUNTS_AT) {
        const amount = nanosOf(sums[at]?.[entry] ?? 0, sums[at + 1]?.[entry] ?? 0);
        this.ranking.table.unconvertedAcquired.add(this.groups[entry] ?? SKIPPED, currency, amount);
      }
    }
  }

  /** Adds what was earned by all groups to the totals. */
  finish(): void {
    const { kept, rest, total } = this.ranking.places;
    for (const group of [...kept.values(), rest]) this.ranking.table.addAcquired(total, group);
  }
}
