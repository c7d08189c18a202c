/**
 * A set of whole numbers (days counted from an acquisition) written as its runs: `"0-3,7,30-31"`.
 * A device that comes back daily for a year takes five characters, one that came thrice takes three numbers.
 */
export type DaySet = string;

export const EMPTY_DAY_SET: DaySet = '';

const RUN = /^(-?\d+)(?:-(-?\d+))?$/;

function toRuns(set: DaySet): [number, number][] {
  if (set === '') return [];
  return set.split(',').map((text) => {
    const match = RUN.exec(text);
    if (!match) throw new Error(`not a day set: ${text}`);
    const first = Number(match[1]);
    return [first, match[2] === undefined ? first : Number(match[2])];
  });
}

export function hasDay(set: DaySet, day: number): boolean {
  return toRuns(set).some(([first, last]) => first <= day && day <= last);
}

export function addDay(set: DaySet, day: number): DaySet {
  const runs = toRuns(set);
  if (runs.some(([first, last]) => first <= day && day <= last)) return set;
  let [first, last] = [day, day];
  const apart = runs.filter((run) => {
    if (run[1] !== day - 1 && run[0] !== day + 1) return true;
    first = Math.min(first, run[0]);
    last = Math.max(last, run[1]);
    return false;
  });
  const joined: [number, number][] = [...apart, [first, last]];
  return joined
    .sort((left, right) => left[0] - right[0])
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    .join(',');
}

/** The largest member, or null of an empty set. */
export function lastDay(set: DaySet): number | null {
  return toRuns(set).at(-1)?.[1] ?? null;
}
