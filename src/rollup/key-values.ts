import { Dictionary } from '#lib/collections/dictionary';

/** The memory of a value besides its characters: an entry in a list and one in a map. */
const VALUE_WEIGHT = 120;

/** Numbers the values in the keys of a run's rows, so that rows are found by comparing numbers, and each value is stored once. */
export class KeyValues {
  /** The memory that the values take, in bytes. */
  weight = 0;
  private readonly dictionary = new Dictionary<string | number>();

  get size(): number {
    return this.dictionary.values.length;
  }

  /** The number of a value. 1 and '1' are different values. */
  numberOf(value: string | number): number {
    const known = this.size;
    const number = this.dictionary.numberOf(value);
    if (number === known) this.weight += VALUE_WEIGHT + (typeof value === 'string' ? 2 * value.length : 0);
    return number;
  }

  /** The value with a number that `numberOf` returned. */
  valueOf(number: number): string | number {
    return this.dictionary.values[number] ?? '';
  }
}
