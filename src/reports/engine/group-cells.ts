import { isSegmentDimension as isSegment, type Segment } from '#catalogue';
import { Dictionary } from '#lib/collections/dictionary';
import type { Entries } from '#rollup';
import { type DimensionName, isTime, spansOf } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import { type Chunk, valuesIn } from './chunk.ts';
import { Pairs } from './interned.ts';
import { NO_PART, RowParts } from './row-parts.ts';

/** A period that groups belong to; the only one unless a grouping is by time. */
export type Span = {
  /** The values of the groupings by time, by grouping. */
  values: readonly (string | null)[];
  /** Its day, or one of its days. */
  time: string;
  /** The numbers of its groups by the number of their other values; 0 for those not seen yet. */
  cells: Int32Array;
  /** How many groups were opened for it. */
  groups: number;
  isCutOff: boolean;
};

type Values = (string | null)[];

/** What becomes of groups that are met. */
type Met = {
  /** The number of a group that is met for the first time. Never 0. */
  group: (values: Values, span: Span) => number;
  /** Called when a chunk has entries of a period. */
  span?: (span: Span) => void;
};

/**
 * Finds the group of each entry, whatever it is an entry of: a rollup by day, by hour or by the day of acquisition, or costs. Per entry it only
 * looks up numbers (see `RowParts`), and the values of a group are only made when it is met for the first time.
 */
export class GroupCells {
  readonly spans = new Map<string, Span>();
  private readonly names: readonly DimensionName[];
  private readonly met: Met;
  /** What the groupings by a column of the entries contribute. */
  private readonly parts: RowParts;
  private readonly hasSegments: boolean;
  /** The number of a segment's part of the key. */
  private readonly segmentParts = new Map<Segment, number>();
  private readonly segmentTexts = new Dictionary<string>();
  private readonly withSegments = new Pairs();

  // Of the open chunk.
  private segments: readonly Segment[] = [];
  private spanOf: (time: number) => Span = () => this.spanAt('', [], '');
  private timeAt = -1;

  constructor(names: readonly DimensionName[], creatives: CreativeNames, met: Met) {
    this.names = names;
    this.met = met;
    this.parts = new RowParts(
      names.filter((name) => !isTime(name) && !isSegment(name)),
      creatives,
    );
    this.hasSegments = names.some(isSegment);
  }

  /** Opens a chunk whose entries belong to the periods in the column `time`. */
  async open(chunk: Chunk, time: 'day' | 'hour' | 'acquired_day'): Promise<void> {
    await this.parts.open(chunk);
    this.segments = chunk.segments;
    this.openSpans(chunk, time);
  }

  private openSpans(chunk: Chunk, column: string): void {
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
    this.met.span?.(span);
    return span;
  }

  /** Sets the group of each entry of the open chunk; `without` for entries that belong to none. */
  find({ size, keys, segments }: Entries, groups: Int32Array, without: number): void {
    // The part of an entry, before it is replaced by the group.
    this.parts.find(size, keys, groups);
    const times = keys[this.timeAt];
    const segmentParts = this.hasSegments
      ? this.segments.map((segment) => this.segmentPartOf(segment))
      : null;
    let time = times?.[0] ?? 0;
    let span = this.spanOf(time);
    for (let entry = 0; entry < size; entry++) {
      const part = groups[entry] ?? NO_PART;
      if (part === NO_PART) {
        groups[entry] = without;
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
      groups[entry] = known === 0 ? this.addCell(span, whole) : known;
    }
  }

  private addCell(span: Span, whole: number): number {
    if (whole >= span.cells.length) {
      const larger = new Int32Array(Math.max(whole + 1, span.cells.length * 2));
      larger.set(span.cells);
      span.cells = larger;
    }
    const cell = this.met.group(this.valuesOf(span, whole), span);
    span.cells[whole] = cell;
    return cell;
  }

  private valuesOf(span: Span, whole: number): Values {
    const [part, segment] = this.hasSegments ? this.withSegments.partsOf(whole) : [whole, 0];
    const ofRow = this.parts.textsOf(part);
    const ofSegment: Values = this.hasSegments ? JSON.parse(this.segmentTexts.values[segment] ?? '') : [];
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
