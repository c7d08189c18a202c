/** The memory of a value besides its characters: an entry in a list and one in a map. */
const VALUE_WEIGHT = 120;

/** Numbers up to here take one character, larger ones two. */
const HIGH_BIT = 0x8000;

/**
 * Numbers the values in the keys of a run's rows. A key is then one or two characters per value, which takes an eighth of the memory of the values
 * and makes lookups as much faster.
 */
export class KeyValues {
  /** The memory that the values take, in bytes. */
  weight = 0;
  private readonly values: (string | number)[] = [];
  private readonly texts = new Map<string | number, string>();

  /** The text that represents a value. Concatenated texts can be separated again. */
  textOf(value: string | number): string {
    let text = this.texts.get(value);
    if (text === undefined) {
      text = encode(this.values.push(value) - 1);
      this.texts.set(value, text);
      this.weight += VALUE_WEIGHT + (typeof value === 'string' ? 2 * value.length : 0);
    }
    return text;
  }

  /** The values that the texts in a key represent. */
  read(key: string): (string | number)[] {
    const read: (string | number)[] = [];
    for (let at = 0; at < key.length; at++) {
      let number = key.charCodeAt(at);
      if (number >= HIGH_BIT) number += key.charCodeAt(++at) * HIGH_BIT - HIGH_BIT;
      read.push(this.values[number] ?? '');
    }
    return read;
  }
}

const encode = (number: number) =>
  number < HIGH_BIT
    ? String.fromCharCode(number)
    : String.fromCharCode(HIGH_BIT | (number % HIGH_BIT), Math.floor(number / HIGH_BIT));
