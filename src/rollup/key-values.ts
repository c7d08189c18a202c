/** What a value takes beside its characters: an entry in a list and one in a map. */
const VALUE_WEIGHT = 120;

/** A number takes one character up to here, and two beyond. */
const HIGH_BIT = 0x8000;

/**
 * Numbers for the values that the keys of a run's rows are made of. A key is then a character or two per value: an eighth of the
 * memory of the values themselves, and looked up as much faster.
 */
export class KeyValues {
  /** What the values take, in bytes. */
  weight = 0;
  private readonly values: (string | number)[] = [];
  private readonly texts = new Map<string | number, string>();

  /** The text that stands for a value. Texts that follow each other can be told apart. */
  textOf(value: string | number): string {
    let text = this.texts.get(value);
    if (text === undefined) {
      text = encode(this.values.push(value) - 1);
      this.texts.set(value, text);
      this.weight += VALUE_WEIGHT + (typeof value === 'string' ? 2 * value.length : 0);
    }
    return text;
  }

  /** The values for which the texts stand that a key is made of. */
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
