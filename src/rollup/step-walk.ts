import {
  FIXED_STEPS,
  indexOfStep,
  MAX_FUNNEL_STEPS,
  readStored,
  readTimeline,
  TIE_SECONDS,
  type Timeline,
} from './step-format.ts';

/** How far a device gets in a funnel. */
export type Walk = {
  /** For each step reached, the seconds since the previous step; 0 for the first. */
  seconds: number[];
  /** False if the history was too long to be kept whole, so that a later event might have been a further step. */
  isComplete: boolean;
};

/**
 * Walks a funnel through the history in `text`. Each step is the earliest event of its kind at or after the previous step's event, and at most
 * `windowSeconds` after the first. Events within one second of each other count as in order. `steps` must be distinct. A device's first step
 * is exact however long its history is.
 */
export function walkSteps(text: string, steps: readonly string[], windowSeconds: number | null): Walk {
  const { timeline, names, completeThrough, later } = readStored(text);
  const known = readTimeline(timeline);
  const late = readTimeline(later);
  const walk: Walk = { seconds: [], isComplete: true };
  let previous = 0;
  let end = Number.POSITIVE_INFINITY;
  for (const [index, name] of steps.entries()) {
    const step = indexOfStep(name, names);
    if (step === -1) {
      walk.isComplete = names.length < MAX_FUNNEL_STEPS - FIXED_STEPS.length || completeThrough >= end;
      break;
    }
    const from = index === 0 ? 0 : previous - TIE_SECONDS;
    let at = firstFrom(known, step, from);
    // After the complete part, a first occurrence is the earliest event only if it is not before the previous step.
    at ??= firstFrom(late, step, from);
    if (at === undefined && completeThrough < end) {
      walk.isComplete = !known.steps.includes(step) && !late.steps.includes(step);
    }
    if (at === undefined || at > end) break;
    const reached = index === 0 ? at : Math.max(at, previous);
    walk.seconds.push(index === 0 ? 0 : reached - previous);
    if (index === 0 && windowSeconds !== null) end = at + windowSeconds;
    previous = reached;
  }
  return walk;
}

function firstFrom({ steps, seconds }: Timeline, step: number, from: number): number | undefined {
  for (const [index, second] of seconds.entries()) if (steps[index] === step && second >= from) return second;
  return undefined;
}

/** The first occurrence of each step, in epoch milliseconds. */
export function firstTimes(text: string): Record<string, number> {
  const { timeline, names, later } = readStored(text);
  const times: Record<string, number> = {};
  const all = [...FIXED_STEPS, ...names];
  for (const { steps, seconds } of [readTimeline(timeline), readTimeline(later)]) {
    for (const [index, step] of steps.entries()) times[all[step] ?? ''] ??= (seconds[index] ?? 0) * 1_000;
  }
  return times;
}
