type Run = [first: number, last: number];

const RUN = /^(-?\d+)(?:-(-?\d+))?$/;

/**
 * A set of whole numbers (days since acquisition), written as runs: `"0-3,7,30-31"`. A device that returns every day for a year takes
 * five characters; one that came three times takes three numbers. Once parsed, lookups and inserts are binary searches, however many
 * days it holds.
 */
export class DaySet {
  private readonly runs: Run[];

  private constructor(runs: Run[]) {
    this.runs = runs;
  }

  /** Parses what `toString` wrote; empty text is the empty set. Throws on any other text. */
  static parse(text: string): DaySet {
    if (text === '') return new DaySet([]);
    return new DaySet(
      text.split(',').map((part) => {
        const match = RUN.exec(part);
        if (!match) throw new Error(`not a day set: ${part}`);
        const first = Number(match[1]);
        return [first, match[2] === undefined ? first : Number(match[2])];
      }),
    );
  }

  has(day: number): boolean {
    return (this.runs[this.endingAtOrAfter(day)]?.[0] ?? Number.POSITIVE_INFINITY) <= day;
  }

  /** Adds a day. Returns false if the set already has it. */
  add(day: number): boolean {
    const index = this.endingAtOrAfter(day);
    const [before, after] = [this.runs[index - 1], this.runs[index]];
    if (after && after[0] <= day) return false;
    const extendsBefore = before?.[1] === day - 1;
    const extendsAfter = after?.[0] === day + 1;
    if (before && after && extendsBefore && extendsAfter) {
      before[1] = after[1];
      this.runs.splice(index, 1);
    } else if (before && extendsBefore) before[1] = day;
    else if (after && extendsAfter) after[0] = day;
    else this.runs.splice(index, 0, [day, day]);
    return true;
  }

  /** The largest member; null if the set is empty. */
  get last(): number | null {
    return this.runs.at(-1)?.[1] ?? null;
  }

  toString(): string {
    return this.runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
  }

  /** The index of the first run that ends on this day or later; the number of runs if none does. */
  private endingAtOrAfter(day: number): number {
    let [low, high] = [0, this.runs.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.runs[middle]?.[1] ?? day) < day) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
