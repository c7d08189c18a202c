const RUN = /^(-?\d+)(?:-(-?\d+))?$/;

/**
 * A set of whole numbers (days since acquisition), written as runs: `"0-3,7,30-31"`. A device that returns every day for a year takes
 * five characters; one that came three times takes three numbers. Once parsed, lookups and inserts are binary searches, however many
 * days it holds.
 */
export class DaySet {
  /** The first and last day of each run in one flat array. An array per run would take ten times the memory. */
  private bounds: number[];

  private constructor(bounds: number[]) {
    this.bounds = bounds;
  }

  /** Parses what `toString` wrote; empty text is the empty set. Throws on any other text. */
  static parse(text: string): DaySet {
    if (text === '') return new DaySet([]);
    const bounds: number[] = [];
    for (const part of text.split(',')) {
      const match = RUN.exec(part);
      if (!match) throw new Error(`not a day set: ${part}`);
      const first = Number(match[1]);
      bounds.push(first, match[2] === undefined ? first : Number(match[2]));
    }
    return new DaySet(bounds);
  }

  has(day: number): boolean {
    return (this.bounds[this.endingAtOrAfter(day)] ?? Number.POSITIVE_INFINITY) <= day;
  }

  /** Adds a day. Returns false if the set already has it. */
  add(day: number): boolean {
    const { bounds } = this;
    const at = this.endingAtOrAfter(day);
    const [before, after] = [bounds[at - 1], bounds[at]];
    if (after !== undefined && after <= day) return false;
    const extendsBefore = before === day - 1;
    const extendsAfter = after === day + 1;
    if (extendsBefore && extendsAfter) bounds.splice(at - 1, 2);
    else if (extendsBefore) bounds[at - 1] = day;
    else if (extendsAfter) bounds[at] = day;
    // A copy, because an array that grows in place reserves room for 16 more entries.
    else this.bounds = bounds.toSpliced(at, 0, day, day);
    return true;
  }

  /** The number of members. */
  get size(): number {
    return this.bounds.reduce((size, bound, at) => size + (at % 2 === 0 ? -bound : bound + 1), 0);
  }

  /** The largest member; null if the set is empty. */
  get last(): number | null {
    return this.bounds.at(-1) ?? null;
  }

  toString(): string {
    let text = '';
    for (let at = 0; at < this.bounds.length; at += 2) {
      const [first, last] = [this.bounds[at], this.bounds[at + 1]];
      text += `${at === 0 ? '' : ','}${first === last ? first : `${first}-${last}`}`;
    }
    return text;
  }

  /** The index in `bounds` of the first run that ends on this day or later; the length of `bounds` if there is none. */
  private endingAtOrAfter(day: number): number {
    let [low, high] = [0, this.bounds.length / 2];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.bounds[2 * middle + 1] ?? day) < day) low = middle + 1;
      else high = middle;
    }
    return 2 * low;
  }
}
