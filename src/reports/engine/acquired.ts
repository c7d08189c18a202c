import type { Sums } from '#catalogue';
import type { DimensionName } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import type { Chunk } from './chunk.ts';
import { conversionsOf, type DayRates } from './day-rates.ts';
import { GroupCells } from './group-cells.ts';
import { EARNED, GroupTable } from './group-table.ts';

/** The numbers of the groups that have a row, by key, of all others together, and of all. */
export type RankedPlaces = { kept: ReadonlyMap<string, number>; rest: number; total: number };

/** What the devices acquired in each of the ranked groups have earned since. */
export class Acquired {
  private readonly places: RankedPlaces;
  private readonly lookup: GroupCells;
  private readonly rates: DayRates;
  /** With the ranking's numbers of groups: of all devices, and of those that came from an ad. */
  private readonly all: GroupTable;
  private readonly attributed: GroupTable;

  constructor(
    { places, table }: { places: RankedPlaces; table: GroupTable },
    names: readonly DimensionName[],
    around: { creatives: CreativeNames; rates: DayRates },
  ) {
    const { kept, rest } = places;
    this.places = places;
    this.rates = around.rates;
    this.all = new GroupTable('cohort_revenue', table.size);
    this.attributed = new GroupTable('cohort_revenue', table.size);
    this.lookup = new GroupCells(names, around.creatives, {
      group: (values) => kept.get(JSON.stringify(values)) ?? rest,
    });
  }

  async read(chunk: Chunk): Promise<void> {
    const conversions = await conversionsOf(this.rates, chunk);
    const groups = await this.lookup.find(chunk, 'acquired_day', this.places.rest);
    this.all.addEntries(groups, chunk, conversions);
    this.attributed.addEntries(this.lookup.paidAmong(chunk), chunk, conversions);
  }

  /** Adds what was earned by all groups to the totals. */
  finish(): void {
    const { kept, rest, total } = this.places;
    for (const table of [this.all, this.attributed]) {
      for (const group of [...kept.values(), rest]) table.addGroup(total, table, group);
    }
  }

  sumsOf(group: number): Partial<Sums> {
    const { all, attributed } = this;
    return {
      acquiredRevenue: all.amountOf(group, EARNED),
      acquiredPurchaseRevenue: all.amountOf(group, ['purchase_revenue']),
      acquiredReturnedRevenue: all.amountOf(group, ['returned_revenue']),
      attributedRevenue: attributed.amountOf(group, EARNED),
      attributedPurchaseRevenue: attributed.amountOf(group, ['purchase_revenue']),
      attributedReturnedRevenue: attributed.amountOf(group, ['returned_revenue']),
      unconvertedAcquired: all.unconverted.of(group),
    };
  }
}
