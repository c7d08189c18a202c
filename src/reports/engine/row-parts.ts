import { groupedAs, isSegmentDimension as isSegment, type Segment } from '#catalogue';
import { Dictionary } from '#lib/collections/dictionary';
import { TupleIndex } from '#lib/collections/tuple-index';
import { type DimensionName, isNamed, REPORT_DIMENSIONS } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import { type Chunk, columnOf } from './chunk.ts';

/** In place of the number of a value that makes no group. */
export const NO_PART = -1;

/** The values of one grouping by a column, or of all groupings by segment together, with numbers. */
class Grouping {
  readonly texts = new Dictionary<string>();
  /** The numbers of the values as they are stored, so that each takes a single lookup per chunk. */
  readonly ofFigures = new Map<string, number>();
  readonly ofCosts = new Map<string, number>();

  // Of the open chunk: by entry, the value as it is stored, and the number of each of these.
  stored: Int32Array = new Int32Array(0);
  numbers: Int32Array = new Int32Array(0);
}

/**
 * Numbers what an entry contributes to its group, besides its period: one number per combination of the values of `names`. The values of a
 * chunk's columns are numbered when the chunk is opened, so that an entry only takes lookups of numbers.
 */
export class RowParts {
  private readonly columns: readonly DimensionName[];
  private readonly segmentNames: readonly DimensionName[];
  private readonly creatives: CreativeNames;
  /** Those of `columns`, then that of the segments. */
  private readonly groupings: readonly Grouping[];
  private readonly ofSegments: Grouping | null;
  private readonly numberOfSegment = new Map<Segment, number>();
  private readonly tuples: TupleIndex;
  private readonly tuple: Int32Array;

  constructor(names: readonly DimensionName[], creatives: CreativeNames) {
    this.columns = names.filter((name) => !isSegment(name));
    this.segmentNames = names.filter(isSegment);
    this.creatives = creatives;
    this.ofSegments = this.segmentNames.length > 0 ? new Grouping() : null;
    this.groupings = [
      ...this.columns.map(() => new Grouping()),
      ...(this.ofSegments ? [this.ofSegments] : []),
    ];
    this.tuples = new TupleIndex(this.groupings.length);
    this.tuple = new Int32Array(this.groupings.length);
  }

  /** Sets the part of each entry of a chunk; `NO_PART` for entries without a group. */
  async find(chunk: Chunk, parts: Int32Array): Promise<void> {
    await Promise.all(this.columns.map((name, index) => this.openColumn(name, this.groupings[index], chunk)));
    this.openSegments(chunk);
    const { groupings, tuple, tuples } = this;
    for (let entry = 0; entry < chunk.size; entry++) {
      let part = 0;
      for (let index = 0; index < groupings.length; index++) {
        const own = groupings[index];
        const number = own?.numbers[own.stored[entry] ?? 0] ?? NO_PART;
        tuple[index] = number;
        if (part !== NO_PART) part = number;
      }
      parts[entry] = part === NO_PART || groupings.length < 2 ? part : tuples.numberOf(tuple);
    }
  }

  /** The value of a grouping in a part. */
  valueOf(part: number, name: DimensionName): string {
    const ofSegment = this.segmentNames.indexOf(name);
    const place = ofSegment < 0 ? this.columns.indexOf(name) : this.columns.length;
    const number = this.groupings.length < 2 ? part : this.tuples.at(part, place);
    const text = this.groupings[place]?.texts.values[number] ?? '';
    return ofSegment < 0 ? text : JSON.parse(text)[ofSegment];
  }

  private openSegments({ segments, isOfCosts = false }: Chunk): void {
    const own = this.ofSegments;
    if (!own) return;
    own.stored = segments.numbers;
    own.numbers = new Int32Array(segments.values.length);
    for (const [at, segment] of segments.values.entries())
      own.numbers[at] = this.segmentPartOf(segment, isOfCosts);
  }

  /** Costs that do not state a dimension are of any of its values, not of the devices whose value is unknown. */
  private segmentPartOf(segment: Segment, isOfCosts: boolean): number {
    if (isOfCosts && this.segmentNames.some((name) => isSegment(name) && segment[name] === ''))
      return NO_PART;
    const known = this.numberOfSegment.get(segment);
    if (known !== undefined) return known;
    const values = this.segmentNames.map((name) => (isSegment(name) ? groupedAs(name, segment[name]) : ''));
    const part = this.ofSegments?.texts.numberOf(JSON.stringify(values)) ?? NO_PART;
    this.numberOfSegment.set(segment, part);
    return part;
  }

  /** Numbers a column's values. Each value is looked up once per chunk, and its name once per report. */
  private async openColumn(name: DimensionName, own: Grouping | undefined, chunk: Chunk): Promise<void> {
    if (!own) return;
    const { isOfCosts = false } = chunk;
    const { values, numbers: stored } = columnOf(chunk, isOfCosts ? name : REPORT_DIMENSIONS[name].column);
    own.stored = stored;
    const known = isOfCosts ? own.ofCosts : own.ofFigures;
    // `Int32Array.from` with a function takes several times as long.
    own.numbers = new Int32Array(values.length);
    const added: number[] = [];
    for (const [at, value] of values.entries()) {
      const number = known.get(value);
      if (number === undefined) added.push(at);
      else own.numbers[at] = number;
    }
    if (isNamed(name) && !isOfCosts) await this.creatives.use(added.map((at) => values[at] ?? ''));
    for (const at of added) {
      const value = values[at] ?? '';
      const number = this.numberOf(name, own, value, isOfCosts);
      known.set(value, number);
      own.numbers[at] = number;
    }
  }

  /** The number of a column's value; `NO_PART` for amounts without a currency or costs without the name that is grouped by. */
  private numberOf(name: DimensionName, { texts }: Grouping, value: string, isOfCosts: boolean): number {
    const isNothing = value === '' && (name === 'currency' || (isOfCosts && isNamed(name)));
    if (isNothing) return NO_PART;
    return texts.numberOf(
      isNamed(name) && !isOfCosts ? this.creatives.of(value, name) : groupedAs(name, value),
    );
  }
}
