const RUN = /^(-?\d+)(?:-(-?\d+))?$/;

type DayRun = readonly [first: number, last: number];

/** The runs of a set's text, in ascending order. Throws on any other text. */
export function readRuns(text: string): DayRun[] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    const [match, first, last = first] = RUN.exec(part) ?? [];
    if (match === undefined) throw new Error(`not a day set: ${part}`);
    return [Number(first), Number(last)];
  });
}

/** The number of days of a set's text. Throws like `readRuns`. */
export const countDays = (text: string): number =>
  readRuns(text).reduce((sum, [first, last]) => sum + last - first + 1, 0);

/**
 * A set of whole numbers (days since acquisition), written as runs: `"0-3,7,30-31"`. A device that returns every day for a year takes
 * five characters; one that came three times takes three numbers. It stays text, because very many are in memory at once and most events are
 * of a day that the set has.
 */
export class DaySet {
  /** The largest member; null if the set is empty. */
  last: number | null;
  private text: string;
  /** The member that was added last: events of one day mostly follow one another. */
  private known: number | null = null;

  private constructor(text: string) {
    this.text = text;
    this.last = readRuns(text).at(-1)?.[1] ?? null;
  }

  /** Parses what `toString` wrote; empty text is the empty set. Throws on any other text. */
  static parse(text: string): DaySet {
    return new DaySet(text);
  }

  /** Adds a day. Returns false if the set already has it. */
  add(day: number): boolean {
    if (day === this.last || day === this.known) return false;
    this.known = day;
    const runs = readRuns(this.text);
    const before = runs.filter(([, last]) => last < day - 1);
    const after = runs.filter(([first]) => first > day + 1);
    // Those that have the day or end next to it become one with it.
    const near = runs.slice(before.length, runs.length - after.length);
    if (near.some(([first, last]) => first <= day && day <= last)) return false;
    const own: DayRun = [Math.min(day, near[0]?.[0] ?? day), Math.max(day, near.at(-1)?.[1] ?? day)];
    this.text = [...before, own, ...after].map(textOf).join();
    this.last = Math.max(day, this.last ?? day);
    return true;
  }

  toString(): string {
    return this.text;
  }
}

const textOf = ([first, last]: DayRun): string => (first === last ? `${first}` : `${first}-${last}`);
