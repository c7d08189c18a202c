import { type DimensionName, isTime, spansOf } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import { SKIPPED } from './add-columns.ts';
import { type Chunk, columnOf, organicIn } from './chunk.ts';
import { NO_PART, RowParts } from './row-parts.ts';

/** A period that groups belong to; the only one unless a grouping is by time. */
export type GroupPeriod = {
  /** The values of the groupings by time, by grouping. */
  values: GroupValues;
  /** Its day, or one of its days. */
  time: string;
  /** The numbers of its groups by the number of their other values; 0 for those not seen yet. */
  cells: Int32Array;
  /** How many groups were opened for it. */
  groups: number;
  isCutOff: boolean;
};

export type GroupValues = readonly (string | null)[];

/** What becomes of groups that are met. */
type Met = {
  /** The number of a group that is met for the first time. Never 0. */
  group: (values: GroupValues, span: GroupPeriod) => number;
  /** Called when a chunk has entries of a period. */
  span?: (span: GroupPeriod) => void;
};

/**
 * Finds the group of each entry, whatever it is an entry of: a rollup by day, by hour or by the day of acquisition, or costs. Per entry it only
 * looks up numbers (see `RowParts`), and the values of a group are only made when it is met for the first time.
 */
export class GroupCells {
  readonly spans = new Map<string, GroupPeriod>();
  private readonly names: readonly DimensionName[];
  private readonly met: Met;
  /** What the groupings that are not by time contribute. */
  private readonly parts: RowParts;

  // Of the last chunk.
  private groups = new Int32Array(0);
  private paid = new Int32Array(0);

  constructor(names: readonly DimensionName[], creatives: CreativeNames, met: Met) {
    this.names = names;
    this.met = met;
    this.parts = new RowParts(
      names.filter((name) => !isTime(name)),
      creatives,
    );
  }

  /** The period of each value of a column of times, which is looked up once per chunk. */
  private spansOf(times: readonly string[]): (at: number) => GroupPeriod {
    const spans: GroupPeriod[] = [];
    return (at) => {
      let span = spans[at];
      if (!span) {
        const time = times[at] ?? '';
        const values = spansOf(time.slice(0, 10), this.names).map((value, index) =>
          this.names[index] === 'hour' ? time : value,
        );
        span = this.spanAt(values.join('\0'), values, time);
        spans[at] = span;
      }
      return span;
    };
  }

  private spanAt(key: string, values: GroupValues, time: string): GroupPeriod {
    let span = this.spans.get(key);
    if (!span) {
      span = { values, time: time.slice(0, 10), cells: new Int32Array(64), groups: 0, isCutOff: false };
      this.spans.set(key, span);
    }
    this.met.span?.(span);
    return span;
  }

  /**
   * The group of each entry of a chunk, which belongs to the period in the column `time`; `without` for entries that belong to none. It is
   * overwritten by the next chunk.
   */
  async find(chunk: Chunk, time: 'day' | 'hour' | 'acquired_day', without: number): Promise<Int32Array> {
    if (this.groups.length < chunk.size) this.groups = new Int32Array(chunk.size);
    const { groups } = this;
    // The part of an entry, before it is replaced by the group.
    await this.parts.find(chunk, groups);
    const { values, numbers: times } = columnOf(chunk, time);
    const spanOf = this.spansOf(values);
    let at = times[0] ?? 0;
    let span = spanOf(at);
    for (let entry = 0; entry < chunk.size; entry++) {
      const part = groups[entry] ?? NO_PART;
      if (part === NO_PART) {
        groups[entry] = without;
        continue;
      }
      const own = times[entry] ?? 0;
      if (own !== at) {
        at = own;
        span = spanOf(at);
      }
      const known = span.cells[part] ?? 0;
      groups[entry] = known === 0 ? this.addCell(span, part) : known;
    }
    return groups;
  }

  /** The same without the entries of organic devices. */
  paidAmong(chunk: Chunk): Int32Array {
    if (this.paid.length < chunk.size) this.paid = new Int32Array(chunk.size);
    const { groups, paid } = this;
    const { numbers, organic } = organicIn(chunk);
    for (let entry = 0; entry < chunk.size; entry++) {
      paid[entry] = numbers[entry] === organic ? SKIPPED : (groups[entry] ?? SKIPPED);
    }
    return paid;
  }

  private addCell(span: GroupPeriod, part: number): number {
    if (part >= span.cells.length) {
      const larger = new Int32Array(Math.max(part + 1, span.cells.length * 2));
      larger.set(span.cells);
      span.cells = larger;
    }
    const cell = this.met.group(this.valuesOf(span, part), span);
    span.cells[part] = cell;
    return cell;
  }

  private valuesOf(span: GroupPeriod, part: number): GroupValues {
    return this.names.map((name, index) =>
      isTime(name) ? (span.values[index] ?? null) : this.parts.valueOf(part, name) || null,
    );
  }
}
