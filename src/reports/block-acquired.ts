import { sumColumnsOf } from '#rollup';
import { timesOf } from './block-question.ts';
import type { Ranking } from './block-ranking.ts';
import { type Chunk, type ChunkReader, type ScannedSegment, valuesIn } from './chunk.ts';
import { keyValues } from './cut.ts';
import { conversionsOf, type DayRates } from './day-rates.ts';
import { type DimensionName, isTime, spansOf } from './dimensions.ts';
import type { Conversion } from './group-table.ts';
import type { CreativeGroup, CreativeNames } from './names.ts';

const COLUMNS = sumColumnsOf('cohort_revenue');
const AMOUNTS_AT = ['ad_revenue', 'purchase_revenue'].map((name) => COLUMNS.indexOf(name));

type Values = readonly (string | null)[];

/** Adds to ranked groups what the devices acquired in each have earned since. Groups are by time and by creative, ad set or campaign. */
export class Acquired implements ChunkReader {
  private readonly ranking: Ranking;
  private readonly names: readonly DimensionName[];
  private readonly creatives: CreativeNames;
  private readonly rates: DayRates;
  /** The groups that have a row, by their times, then by their names. */
  private readonly kept = new Map<string, Map<string, number>>();

  /** What `namesOf` found. */
  private readonly known = new Map<string, string>();

  // Of the open chunk.
  private at = { acquired: 0, creative: 0, day: 0, currency: 0 };
  private spans: (ReadonlyMap<string, number> | undefined)[] = [];
  private named: string[] = [];
  private paid: boolean[] = [];
  private conversionOf: (currency: number, day: number) => Conversion = () => 'same';

  // Of the current row.
  private group = 0;
  private isPaid = false;
  private conversion: Conversion = 'same';

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
      names = this.namesIn(this.names.map((name) => this.creatives.get(id)?.[name as CreativeGroup] ?? null));
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
    const [currencies, days] = [valuesIn(chunk, 'currency'), valuesIn(chunk, 'day')];
    const creatives = valuesIn(chunk, 'creative_id');
    await this.rates.use(currencies);
    this.at = {
      acquired: columns.indexOf('acquired_day'),
      creative: columns.indexOf('creative_id'),
      day: columns.indexOf('day'),
      currency: columns.indexOf('currency'),
    };
    this.conversionOf = conversionsOf(this.rates, currencies, days);
    this.spans = valuesIn(chunk, 'acquired_day').map((day) =>
      this.kept.get(timesOf(spansOf(day, this.names), this.names)),
    );
    this.paid = creatives.map((id) => id !== '');
    this.named = creatives.map((id) => this.namesOf(id));
    chunk.read(this);
  }

  row(key: Int32Array): boolean {
    const creative = key[this.at.creative] ?? 0;
    const { places } = this.ranking;
    this.group = this.spans[key[this.at.acquired] ?? 0]?.get(this.named[creative] ?? '') ?? places.rest;
    this.isPaid = this.paid[creative] === true;
    this.conversion = this.conversionOf(key[this.at.currency] ?? 0, key[this.at.day] ?? 0);
    return true;
  }

  add(_segment: ScannedSegment, sums: Float64Array): void {
    const { group, conversion } = this;
    const { table } = this.ranking;
    for (const at of AMOUNTS_AT) {
      const [low = 0, high = 0] = [sums[at], sums[at + 1]];
      if (low === 0 && high === 0) continue;
      table.addTo('acquired_revenue', group, low, high, conversion);
      if (this.isPaid) table.addTo('attributed_revenue', group, low, high, conversion);
    }
  }

  /** Adds what was earned by all groups to the totals. */
  finish(): void {
    const { kept, rest, total } = this.ranking.places;
    for (const group of [...kept.values(), rest]) this.ranking.table.addAcquired(total, group);
  }
}
