import { isSegmentDimension as isSegment, type Segment } from '#catalogue';
import { Dictionary } from '#lib/dictionary';
import type { Entries } from '#rollup';
import { type DimensionName, isTime, spansOf } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import { SKIPPED } from './add-columns.ts';
import { type Chunk, valuesIn } from './chunk.ts';
import { nanosOf } from './converted-sums.ts';
import { type Conversions, conversionsOf, type DayRates, NO_RATE } from './day-rates.ts';
import { GroupTable } from './group-table.ts';
import { Pairs } from './interned.ts';
import { type GroupQuestion, MAX_GROUPS, rollupFor } from './question.ts';
import { NO_PART, RowParts } from './row-parts.ts';

/** Marks a group that is counted in another pass. */
const OTHER_PASS = SKIPPED;
/** The group numbers of rows without a group (`NONE`) and of rows whose groups are cut off by time (`CUT_OFF`). */
const NONE = 0;
export const CUT_OFF = 1;
const FIRST_GROUP = 2;
/** A period that groups belong to; the only one unless a grouping is by time. */
type Span = {
  /** The values of the groupings by time, by grouping. */
  values: readonly (string | null)[];
  /** Its day, or one of its days. */
  time: string;
  /** The groups by the number of their other values; 0 for those not seen yet. */
  cells: Int32Array;
  /** How many groups it has, without those that are cut off. */
  groups: number;
  isCutOff: boolean;
};

/**
 * The groups of one pass. Per entry it only looks up numbers (see `RowParts`), and the texts of a group are only made when the group is.
 */
export class Groups {
  readonly table: GroupTable;
  /** By group number; null for `NONE` and `CUT_OFF`. */
  readonly values: ((string | null)[] | null)[] = [null, null];
  /** The number of groups in `CUT_OFF`. */
  cutOffGroups = 0;
  private readonly asked: GroupQuestion;
  private readonly names: readonly DimensionName[];
  private readonly around: { pass: number; passes: number; creatives: CreativeNames; rates: DayRates };
  private readonly maxGroups: number;
  /** What the groupings by a column of the entries contribute. */
  private readonly parts: RowParts;
  private readonly hasSegments: boolean;
  /** The number of a segment's part of the key. */
  private readonly segmentParts = new Map<Segment, number>();
  private readonly segmentTexts = new Dictionary<string>();
  private readonly withSegments = new Pairs();
  private readonly spans = new Map<string, Span>();

  // Of the open chunk.
  private segments: readonly Segment[] = [];
  private spanOf: (time: number) => Span = () => this.spanAt('', [], '');
  private timeAt = -1;

  // Of the entries being added: the groups, and those of devices that came from an ad.
  private cells = new Int32Array(0);
  private paidCells = new Int32Array(0);

  constructor(asked: GroupQuestion, around: Groups['around']) {
    const { names } = asked;
    this.asked = asked;
    this.names = names;
    this.around = around;
    this.maxGroups = asked.maxGroups ?? MAX_GROUPS;
    this.table = new GroupTable(rollupFor(names));
    this.parts = new RowParts(
      names.filter((name) => !isTime(name) && !isSegment(name)),
      around.creatives,
    );
    this.hasSegments = names.some(isSegment);
    for (let group = 0; group < FIRST_GROUP; group++) this.table.open();
  }

  /** Adds the entries of a chunk. The later the days of the first chunks, the fewer groups are opened. */
  async read(chunk: Chunk): Promise<void> {
    const { columns, isOfCosts } = chunk;
    const conversionsIn = await conversionsOf(this.around.rates, chunk);
    await this.parts.open(chunk);
    this.segments = chunk.segments;
    this.openSpans(chunk);
    const currencies = valuesIn(chunk, 'currency');
    const currencyAt = columns.indexOf('currency');
    const creativeAt = columns.indexOf('creative_id');
    const organic = valuesIn(chunk, 'creative_id').indexOf('');
    chunk.read((entries) => {
      const conversions = conversionsIn(entries);
      this.findCells(entries);
      if (isOfCosts) {
        const [low = null, high = null] = entries.sums;
        this.table.addTo('spend', this.cells, { size: entries.size, low, high, conversions });
      } else {
        this.table.addEntries(this.cells, entries, conversions);
        this.table.addAttributed(this.paidAmong(entries, entries.keys[creativeAt], organic), entries);
      }
      if (conversions) this.addUnconverted(entries, conversions, { currencies, currencyAt, isOfCosts });
    });
  }

  /** The groups of entries, without those of organic devices. `organic` is the index of the creative that these have. */
  private paidAmong({ size }: Entries, creatives: Int32Array | undefined, organic: number): Int32Array {
    if (organic < 0) return this.cells;
    for (let entry = 0; entry < size; entry++) {
      this.paidCells[entry] = creatives?.[entry] === organic ? SKIPPED : (this.cells[entry] ?? SKIPPED);
    }
    return this.paidCells;
  }

  /** Lists the amounts that cannot be converted. */
  private addUnconverted(
    entries: Entries,
    { numbers }: Conversions,
    chunk: { currencies: readonly string[]; currencyAt: number; isOfCosts: boolean },
  ): void {
    const { currencies, currencyAt, isOfCosts } = chunk;
    for (let entry = 0; entry < entries.size; entry++) {
      if (numbers[entry] !== NO_RATE || this.cells[entry] === SKIPPED) continue;
      const [low, high] = entries.sums;
      const nanos = isOfCosts
        ? nanosOf(low?.[entry] ?? 0, high?.[entry] ?? 0)
        : this.table.nanosOf(entries, entry);
      const currency = currencies[entries.keys[currencyAt]?.[entry] ?? 0] ?? '';
      this.table.unconverted.add(this.cells[entry] ?? SKIPPED, currency, nanos);
    }
  }

  private openSpans(chunk: Chunk): void {
    const column = this.names.includes('hour') ? 'hour' : 'day';
    const own = valuesIn(chunk, column);
    const spans: Span[] = [];
    this.timeAt = chunk.columns.indexOf(column);
    this.spanOf = (at) => {
      let span = spans[at];
      if (!span) {
        const time = own[at] ?? '';
        const values = spansOf(time.slice(0, 10), this.names).map((value, index) =>
          this.names[index] === 'hour' ? time : value,
        );
        span = this.spanAt(values.join('\0'), values, time);
        spans[at] = span;
      }
      return span;
    };
  }

  private spanAt(key: string, values: readonly (string | null)[], time: string): Span {
    let span = this.spans.get(key);
    if (!span) {
      span = { values, time: time.slice(0, 10), cells: new Int32Array(64), groups: 0, isCutOff: false };
      this.spans.set(key, span);
    }
    span.isCutOff ||= this.isPastLimit(span);
    return span;
  }

  /**
   * Whether enough groups of later spans were found already: these rank first. In groupings by network, it is only known at the end which
   * groups have a row.
   */
  private isPastLimit({ time }: Span): boolean {
    const { names, limit, q, keepsRequests } = this.asked;
    if (!names.some(isTime) || q || (names.includes('media_source') && !keepsRequests)) return false;
    if (this.table.size - FIRST_GROUP <= limit) return false;
    let later = 0;
    for (const span of this.spans.values()) if (span.time > time) later += span.groups;
    return later > limit;
  }

  /** Finds the group of each entry. */
  private findCells({ size, keys, segments }: Entries): void {
    if (this.cells.length < size) [this.cells, this.paidCells] = [new Int32Array(size), new Int32Array(size)];
    const { cells } = this;
    // The part of an entry, before it is replaced by the group.
    this.parts.find(size, keys, cells);
    const withoutGroup = this.around.pass === 0 ? NONE : OTHER_PASS;
    const times = keys[this.timeAt];
    const segmentParts = this.hasSegments
      ? this.segments.map((segment) => this.segmentPartOf(segment))
      : null;
    let time = times?.[0] ?? 0;
    let span = this.spanOf(time);
    for (let entry = 0; entry < size; entry++) {
      const part = cells[entry] ?? NO_PART;
      if (part === NO_PART) {
        cells[entry] = withoutGroup;
        continue;
      }
      const own = times ? (times[entry] ?? 0) : 0;
      if (own !== time) {
        time = own;
        span = this.spanOf(time);
      }
      const whole = segmentParts
        ? this.withSegments.numberOf(part, segmentParts[segments[entry] ?? 0] ?? 0)
        : part;
      const known = span.cells[whole] ?? 0;
      cells[entry] = known === 0 ? this.addCell(span, whole) : known;
    }
  }

  isFull(): boolean {
    return this.table.size > this.maxGroups;
  }

  private addCell(span: Span, whole: number): number {
    if (whole >= span.cells.length) {
      const larger = new Int32Array(Math.max(whole + 1, span.cells.length * 2));
      larger.set(span.cells);
      span.cells = larger;
    }
    const cell = this.newCell(span, whole);
    span.cells[whole] = cell;
    return cell;
  }

  private newCell(span: Span, whole: number): number {
    const values = this.valuesOf(span, whole);
    const { pass, passes } = this.around;
    if (passOf(values, passes) !== pass) return OTHER_PASS;
    if (span.isCutOff) {
      this.cutOffGroups++;
      return CUT_OFF;
    }
    this.values.push(values);
    span.groups++;
    return this.table.open();
  }

  private valuesOf(span: Span, whole: number): (string | null)[] {
    const [part, segment] = this.hasSegments ? this.withSegments.partsOf(whole) : [whole, 0];
    const ofRow = this.parts.textsOf(part);
    const ofSegment: (string | null)[] = this.hasSegments
      ? JSON.parse(this.segmentTexts.values[segment] ?? '')
      : [];
    return this.names.map((name, index) => {
      if (isTime(name)) return span.values[index] ?? null;
      return (isSegment(name) ? ofSegment[index] : ofRow[this.parts.names.indexOf(name)]) || null;
    });
  }

  private segmentPartOf(segment: Segment): number {
    const known = this.segmentParts.get(segment);
    if (known !== undefined) return known;
    const values = this.names.map((name) => (isSegment(name) ? segment[name] || null : null));
    const part = this.segmentTexts.numberOf(JSON.stringify(values));
    this.segmentParts.set(segment, part);
    return part;
  }
}

/** FNV-1a, so that a group is counted in the same pass wherever it occurs. */
function passOf(values: readonly (string | null)[], passes: number): number {
  if (passes === 1) return 0;
  const key = JSON.stringify(values);
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % passes;
}
