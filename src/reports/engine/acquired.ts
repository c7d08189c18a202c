import { isSegmentDimension, type Segment } from '#catalogue';
import { Dictionary } from '#lib/dictionary';
import { type Entries, sumColumnsOf } from '#rollup';
import { type DimensionName, isNamed, isTime, spansOf } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import { SKIPPED } from './add-columns.ts';
import { type Chunk, valuesIn } from './chunk.ts';
import { nanosOf } from './converted-sums.ts';
import { keyValues } from './cut.ts';
import { type Conversions, conversionsOf, type DayRates, NO_RATE } from './day-rates.ts';
import { Pairs } from './interned.ts';
import { timesOf } from './question.ts';
import type { Ranking } from './ranking.ts';

const COLUMNS = sumColumnsOf('cohort_revenue');
const AMOUNTS_AT = ['ad_revenue', 'purchase_revenue'].map((name) => COLUMNS.indexOf(name));

type Values = readonly (string | null)[];

/** Adds to ranked groups what the devices acquired in each have earned since. Groups are by time, by creative, ad set or campaign, and by segment. */
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

  private namesOf(id: string, segment: string): string {
    const key = `${id}\0${segment}`;
    let names = this.known.get(key);
    if (names === undefined) {
      const parts: (string | null)[] = JSON.parse(segment);
      names = this.namesIn(
        this.names.map((name, at) => (isNamed(name) ? this.creatives.of(id, name) : (parts[at] ?? null))),
      );
      this.known.set(key, names);
    }
    return names;
  }

  /** What a segment contributes to the names. */
  private segmentText(segment: Segment): string {
    return JSON.stringify(this.names.map((name) => (isSegmentDimension(name) ? segment[name] : null)));
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
    await this.creatives.use(creatives);
    const [acquiredAt, creativeAt] = [columns.indexOf('acquired_day'), columns.indexOf('creative_id')];
    // Segments that contribute the same have the same number.
    const texts = new Dictionary<string>();
    const segments = Int32Array.from(chunk.segments, (one) => texts.numberOf(this.segmentText(one)));
    const width = texts.values.length;
    const kept = valuesIn(chunk, 'acquired_day').map((day) =>
      this.kept.get(timesOf(spansOf(day, this.names), this.names)),
    );
    const groupOf = (day: number, segment: number, creative: number) => {
      const names = this.namesOf(creatives[creative] ?? '', texts.values[segment] ?? '');
      return kept[day]?.get(names) ?? this.ranking.places.rest;
    };
    // By the combinations of an acquisition day, a segment and a creative that occur.
    const cells = new Pairs();
    const groups: number[] = [];
    const organic = creatives.indexOf('');
    chunk.read((entries) => {
      const { size, keys } = entries;
      if (this.groups.length < size)
        [this.groups, this.paidGroups] = [new Int32Array(size), new Int32Array(size)];
      for (let entry = 0; entry < size; entry++) {
        const creative = keys[creativeAt]?.[entry] ?? 0;
        const segment = segments[entries.segments[entry] ?? 0] ?? 0;
        const day = keys[acquiredAt]?.[entry] ?? 0;
        const cell = cells.numberOf(day * width + segment, creative);
        const group = groups[cell] ?? groupOf(day, segment, creative);
        groups[cell] = group;
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
