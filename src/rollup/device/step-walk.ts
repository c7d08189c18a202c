import { hasRoomFor, readTimeline, type StoredSteps, TIE_SECONDS } from './step-format.ts';

/** How far a device gets in a funnel. */
export type Walk = {
  /** For each step reached, the seconds since the previous step; 0 for the first. */
  seconds: number[];
  /** False if the history was too long to be kept whole, so that an event that was not kept might have been a step. */
  isComplete: boolean;
};

/**
 * Walks a funnel through a history. Each step is the earliest event of its kind at or after the previous step's event, and at most
 * `windowSeconds` after the first. Events within one second of each other count as in order. A step that is repeated takes a different event. A
 * device's first step is exact however long its history is.
 */
export function walkSteps(stored: StoredSteps, steps: readonly string[], windowSeconds: number | null): Walk {
  const { times, completeThrough, thinnedThrough } = readTimeline(stored);
  /** By step: the places of its events that are steps of the walk already. */
  const taken = new Map<string, number[]>();
  const walk: Walk = { seconds: [], isComplete: true };
  let previous = 0;
  let end = Number.POSITIVE_INFINITY;
  for (const [index, name] of steps.entries()) {
    const own = times.get(name);
    if (!own) {
      walk.isComplete = hasRoomFor(name, times) || completeThrough >= end;
      break;
    }
    const from = index === 0 ? 0 : previous - TIE_SECONDS;
    const used = taken.get(name) ?? [];
    // After the complete part, a first occurrence is the earliest event only if it is not before the previous step.
    const place = own.findIndex((second, index) => second >= from && !used.includes(index));
    const at = own[place];
    if (at === undefined && completeThrough < end) walk.isComplete = false;
    // Of a series of one step, what only a repetition of it needs may have been removed.
    if (steps.indexOf(name) < index && from <= thinnedThrough) walk.isComplete = false;
    if (at === undefined || at > end) break;
    taken.set(name, [...used, place]);
    const reached = index === 0 ? at : Math.max(at, previous);
    walk.seconds.push(index === 0 ? 0 : reached - previous);
    if (index === 0 && windowSeconds !== null) end = at + windowSeconds;
    previous = reached;
  }
  return walk;
}

/** The first occurrence of each step, in epoch milliseconds. */
export function firstTimes(stored: StoredSteps): Record<string, number> {
  const firsts = Array.from(
    readTimeline(stored).times,
    ([step, [first = 0]]) => [step, first * 1_000] as const,
  );
  return Object.fromEntries(firsts.sort(([, left], [, right]) => left - right));
}
