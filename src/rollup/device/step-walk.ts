import { hasRoomFor, readStored, readTimeline, TIE_SECONDS } from './step-format.ts';

/** How far a device gets in a funnel. */
export type Walk = {
  /** For each step reached, the seconds since the previous step; 0 for the first. */
  seconds: number[];
  /** False if the history was too long to be kept whole, so that an event that was not kept might have been a step. */
  isComplete: boolean;
};

/**
 * Walks a funnel through the history in `text`. Each step is the earliest event of its kind at or after the previous step's event, and at most
 * `windowSeconds` after the first. Events within one second of each other count as in order. A step that is repeated takes a different event, of
 * another second. A device's first step is exact however long its history is.
 */
export function walkSteps(text: string, steps: readonly string[], windowSeconds: number | null): Walk {
  const { timeline, names, completeThrough, thinnedThrough, later } = readStored(text);
  const [known, late] = [readTimeline(timeline), readTimeline(later)];
  // After the complete part, a first occurrence is the earliest event only if it is not before the previous step.
  const all = { steps: [...known.steps, ...late.steps], seconds: [...known.seconds, ...late.seconds] };
  const taken = new Set<number>();
  const walk: Walk = { seconds: [], isComplete: true };
  let previous = 0;
  let end = Number.POSITIVE_INFINITY;
  for (const [index, name] of steps.entries()) {
    const step = names.indexOf(name);
    if (step === -1) {
      walk.isComplete = hasRoomFor(name, names) || completeThrough >= end;
      break;
    }
    const from = index === 0 ? 0 : previous - TIE_SECONDS;
    const place = all.seconds.findIndex(
      (second, at) => all.steps[at] === step && second >= from && !taken.has(at),
    );
    const at = all.seconds[place];
    if (at === undefined && completeThrough < end) walk.isComplete = !all.steps.includes(step);
    // Of a series of one step, what only a repetition of it needs may have been removed.
    if (steps.indexOf(name) < index && from <= thinnedThrough) walk.isComplete = false;
    if (at === undefined || at > end) break;
    taken.add(place);
    const reached = index === 0 ? at : Math.max(at, previous);
    walk.seconds.push(index === 0 ? 0 : reached - previous);
    if (index === 0 && windowSeconds !== null) end = at + windowSeconds;
    previous = reached;
  }
  return walk;
}

/** The first occurrence of each step, in epoch milliseconds. */
export function firstTimes(text: string): Record<string, number> {
  const { timeline, names, later } = readStored(text);
  const times: Record<string, number> = {};
  for (const { steps, seconds } of [readTimeline(timeline), readTimeline(later)]) {
    for (const [index, step] of steps.entries()) times[names[step] ?? ''] ??= (seconds[index] ?? 0) * 1_000;
  }
  return times;
}
