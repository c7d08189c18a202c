import { type Entries, sumColumnsOf } from '#rollup';
import { type DimensionName, isNamed, isTime, spansOf } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import { SKIPPED } from './add-columns.ts';
import { type Chunk, valuesIn } from './chunk.ts';
import { nanosOf } from './converted-sums.ts';
import { keyValues } from './cut.ts';
import { type Conversions, conversionsOf, type DayRates, NO_RATE } from './day-rates.ts';
import { timesOf } from './question.ts';
import type { Ranking } from './ranking.ts';

const COLUMNS = sumColumnsOf('cohort_revenue');
const AMOUNTS_AT = ['ad_revenue', 'purchase_revenue'].map((name) => COLUMNS.indexOf(name));

type Values = readonly (string | null)[];

/** Adds to ranked groups what the devices acquired in each have earned since. Groups are by time and by creative, ad set or campaign. */
export class Acquired {
  private readonly ranking: Ranking;
  private readonly names: readonly DimensionName[];
  private readonly creatives: CreativeNames;
  private readonly rates: DayRates;
  /** The groups that have a row, by their times, then by their names. */
  private readonly kept = new Map<string, Map<string, number>>();

  /** What `namesOf` found. */
  private readonly known = new Map<string, string>();

  // Of the entries being added: the groups, and those of devices that came from an ad.
  private groups = new Int32Array(0);
  private paidGroups = new Int32Array(0);

  constructor(
    ranking: Ranking,
    names: readonly DimensionName[],
    around: { creatives: CreativeNames; rates: DayRates },
  ) {
    this.ranking = ranking;
    this.names = names;
    this.creatives = around.creatives;
    this.rates = around.rates;
    for (const [key, group] of ranking.places.kept) {
      const values = keyValues(key);
      const times = timesOf(values, names);
      const own = this.kept.get(times) ?? new Map<string, number>();
      this.kept.set(times, own.set(this.namesIn(values), group));
    }
  }

  private namesOf(id: string): string {
    let names = this.known.get(id);
    if (names === undefined) {
      names = this.namesIn(this.names.map((name) => (isNamed(name) ? this.creatives.of(id, name) : null)));
      this.known.set(id, names);
    }
    return names;
  }

  private namesIn(values: Values): string {
    return values
      .filter((_, index) => !isTime(this.names[index]))
      .map((value) => value ?? '')
      .join('\0');
  }

  async read(chunk: Chunk): Promise<void> {
    const { columns } = chunk;
    const conversionsIn = await conversionsOf(this.rates, chunk);
    const creatives = valuesIn(chunk, 'creative_id');
    await this.creatives.use(creatives.filter((id) => !this.known.has(id)));
    const [acquiredAt, creativeAt] = [columns.indexOf('acquired_day'), columns.indexOf('creative_id')];
    const names = creatives.map((id) => this.namesOf(id));
    // By the indexes of an acquisition day and a creative.
    const groups = new Int32Array(valuesIn(chunk, 'acquired_day').length * creatives.length);
    for (const [at, day] of valuesIn(chunk, 'acquired_day').entries()) {
      const own = this.kept.get(timesOf(spansOf(day, this.names), this.names));
      for (const [index, name] of names.entries()) {
        groups[at * creatives.length + index] = own?.get(name) ?? this.ranking.places.rest;
      }
    }
    const organic = creatives.indexOf('');
    chunk.read((entries) => {
      const { size, keys } = entries;
      if (this.groups.length < size)
        [this.groups, this.paidGroups] = [new Int32Array(size), new Int32Array(size)];
      for (let entry = 0; entry < size; entry++) {
        const creative = keys[creativeAt]?.[entry] ?? 0;
        const group = groups[(keys[acquiredAt]?.[entry] ?? 0) * creatives.length + creative] ?? SKIPPED;
        this.groups[entry] = group;
        this.paidGroups[entry] = creative === organic ? SKIPPED : group;
      }
      const conversions = conversionsIn(entries);
      this.addEntries(entries, conversions);
      if (conversions) this.addUnconverted(entries, conversions, chunk);
    });
  }

  private addEntries({ size, sums }: Entries, conversions: Conversions | null): void {
    for (const at of AMOUNTS_AT) {
      const amounts = { size, low: sums[at] ?? null, high: sums[at + 1] ?? null, conversions };
      this.ranking.table.addTo('acquired_revenue', this.groups, amounts);
      this.ranking.table.addTo('attributed_revenue', this.paidGroups, amounts);
    }
  }

  /** Lists the amounts that cannot be converted. */
  private addUnconverted({ size, keys, sums }: Entries, { numbers }: Conversions, chunk: Chunk): void {
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
