import { Dictionary } from '#lib/collections/dictionary';
import { DIMENSIONS, type DimensionName, isNamed } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import type { Chunk } from './chunk.ts';
import { Pairs } from './interned.ts';

/** In place of the number of a value that makes no group. */
export const NO_PART = -1;

/**
 * Numbers what the columns of an entry contribute to its group: one number per combination of the values of `names`. The values of a chunk's
 * columns are numbered when the chunk is opened, so that an entry only takes lookups of numbers.
 */
export class RowParts {
  readonly names: readonly DimensionName[];
  private readonly creatives: CreativeNames;
  /** The values of each grouping, and the combinations of the first ones with the next. */
  private readonly texts: readonly Dictionary<string>[];
  private readonly combined: readonly Pairs[];
  /** By grouping, the numbers of the values as they are stored, so that each takes a single lookup per chunk. */
  private readonly ofFigures: readonly Map<string, number>[];
  private readonly ofCosts: readonly Map<string, number>[];

  // Of the open chunk, by grouping: the place of its column in a key and the numbers of the column's values.
  private places: number[] = [];
  private numbers: Int32Array[] = [];

  constructor(names: readonly DimensionName[], creatives: CreativeNames) {
    this.names = names;
    this.creatives = creatives;
    this.texts = names.map(() => new Dictionary<string>());
    this.ofFigures = names.map(() => new Map());
    this.ofCosts = names.map(() => new Map());
    this.combined = names.slice(1).map(() => new Pairs());
  }

  async open({ columns, values, isOfCosts }: Chunk): Promise<void> {
    const columnOf = (name: DimensionName) => (isOfCosts ? name : DIMENSIONS[name].column);
    this.places = this.names.map((name) => columns.indexOf(columnOf(name)));
    this.numbers = await Promise.all(
      this.names.map((name, index) =>
        this.numbersOf(name, index, values[this.places[index] ?? 0] ?? [], isOfCosts),
      ),
    );
  }

  /** Sets the part of each entry of the open chunk; `NO_PART` for entries without a group. */
  find(size: number, keys: readonly Int32Array[], parts: Int32Array): void {
    if (this.numbers.length === 0) parts.fill(0, 0, size);
    for (const [index, numbers] of this.numbers.entries()) {
      const values = keys[this.places[index] ?? 0];
      const pairs = index === 0 ? null : this.combined[index - 1];
      for (let entry = 0; entry < size; entry++) {
        const number = numbers[values?.[entry] ?? 0] ?? NO_PART;
        const before = pairs ? (parts[entry] ?? NO_PART) : number;
        if (number === NO_PART || before === NO_PART) parts[entry] = NO_PART;
        else parts[entry] = pairs ? pairs.numberOf(before, number) : number;
      }
    }
  }

  /** The values of a part, in the order of `names`. */
  textsOf(part: number): string[] {
    const texts: string[] = [];
    let rest = part;
    for (let index = this.names.length - 1; index >= 0; index--) {
      let number = rest;
      if (index > 0) [rest, number] = this.combined[index - 1]?.partsOf(rest) ?? [0, 0];
      texts.unshift(this.texts[index]?.values[number] ?? '');
    }
    return texts;
  }

  /** The numbers of a column's values. Each value is looked up once per chunk, and its name once per report. */
  private async numbersOf(
    name: DimensionName,
    index: number,
    values: readonly string[],
    isOfCosts: boolean,
  ): Promise<Int32Array> {
    const known = (isOfCosts ? this.ofCosts : this.ofFigures)[index] ?? new Map<string, number>();
    // `Int32Array.from` with a function takes several times as long.
    const numbers = new Int32Array(values.length);
    const added: number[] = [];
    for (const [at, value] of values.entries()) {
      const number = known.get(value);
      if (number === undefined) added.push(at);
      else numbers[at] = number;
    }
    if (isNamed(name) && !isOfCosts) await this.creatives.use(added.map((at) => values[at] ?? ''));
    for (const at of added) {
      const value = values[at] ?? '';
      const number = this.numberOf(name, index, value, isOfCosts);
      known.set(value, number);
      numbers[at] = number;
    }
    return numbers;
  }

  /** The number of a column's value; `NO_PART` for amounts without a currency or costs without the name that is grouped by. */
  private numberOf(name: DimensionName, index: number, value: string, isOfCosts: boolean): number {
    const isNothing = value === '' && (name === 'currency' || (isOfCosts && isNamed(name)));
    if (isNothing) return NO_PART;
    const text = isNamed(name) && !isOfCosts ? this.creatives.of(value, name) : value;
    return this.texts[index]?.numberOf(text) ?? NO_PART;
  }
}
