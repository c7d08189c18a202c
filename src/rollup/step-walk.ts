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
  /** For each step that it reaches, the seconds since the step before; 0 for the first. */
  seconds: number[];
  /** False: the history was too long to be kept whole, and a later event might have been a further step. */
  isComplete: boolean;
};

/**
 * Walks through the history that `text` holds. Each step is the earliest event of its kind at or after the one of the step
 * before, and at most `windowSeconds` after the first one; events within one second of each other are in order. `steps` differ
 * from each other. The first step of a device is exact however long its history is.
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
    // A first time after the complete part is the earliest event only where it is not before the previous step.
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

/** The first time of each step, in epoch milliseconds. */
export function firstTimes(text: string): Record<string, number> {
  const { timeline, names, later } = readStored(text);
  const times: Record<string, number> = {};
  const all = [...FIXED_STEPS, ...names];
  for (const { steps, seconds } of [readTimeline(timeline), readTimeline(later)]) {
    for (const [index, step] of steps.entries()) times[all[step] ?? ''] ??= (seconds[index] ?? 0) * 1_000;
  }
  return times;
}
