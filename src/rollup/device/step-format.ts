/** The number of different steps in a device's history. Further event names still count as events, but not as steps. */
export const MAX_FUNNEL_STEPS = 200;
/** The steps that one funnel may have. */
export const MAX_FUNNEL_LENGTH = 10;
/** Steps that a history always has room for, because every device may have them. */
const RESERVED_STEPS: ReadonlySet<string> = new Set(['install', 'retention', 'purchase', 'ad']);
/** Webhook events are dated to the second, devices to the millisecond, so the order within one second is unknown. */
export const TIE_SECONDS = 1;
/** Earlier than any second of a history, even by more than `TIE_SECONDS`. */
const NEVER = -10;

/** The steps of a device. */
export type Timeline = {
  /** By the name of the step: the epoch seconds at which it happened, in order, each as often as a funnel may need it. After `completeThrough`, only a first one is known. */
  times: Map<string, number[]>;
  /** Infinite if the history is complete. */
  completeThrough: number;
  /** See `StepHistory`. */
  thinnedThrough: number;
};

/** The form in a page, which is JSON; null for no steps. Fields that are missing have their usual values, and unknown ones are ignored. */
export type StoredSteps = {
  /** By step: the first second, and then the seconds since the one before. */
  times?: Record<string, number[]>;
  /** Absent if the history is complete. */
  complete_through?: number;
  thinned_through?: number;
} | null;

/** Changes nothing in `stored`. Throws on anything that `writeTimeline` could not have written in any release. */
export function readTimeline(stored: StoredSteps): Timeline {
  if (typeof stored !== 'object' || Array.isArray(stored)) throw new Error('not a step history');
  const {
    times = {},
    complete_through: completeThrough = Number.POSITIVE_INFINITY,
    thinned_through: thinnedThrough = NEVER,
  } = stored ?? {};
  return {
    times: new Map(Object.entries(times).map(([step, since]) => [step, addUp(since)])),
    completeThrough,
    thinnedThrough,
  };
}

export function writeTimeline({ times, completeThrough, thinnedThrough }: Timeline): StoredSteps {
  if (times.size === 0 && completeThrough === Number.POSITIVE_INFINITY) return null;
  const since = (own: readonly number[]) => own.map((second, at) => second - (own[at - 1] ?? 0));
  return {
    times: Object.fromEntries(Array.from(times, ([step, own]) => [step, since(own)])),
    ...(completeThrough === Number.POSITIVE_INFINITY ? {} : { complete_through: completeThrough }),
    ...(thinnedThrough === NEVER ? {} : { thinned_through: thinnedThrough }),
  };
}

function addUp(since: readonly number[]): number[] {
  if (!Array.isArray(since)) throw new Error('not a step history');
  let second = 0;
  return since.map((own) => {
    second += own;
    return second;
  });
}

/** Whether a history with these steps has room for another one. */
export function hasRoomFor(name: string, known: Timeline['times']): boolean {
  const reserved = [...RESERVED_STEPS].filter((own) => known.has(own)).length;
  return RESERVED_STEPS.has(name) || known.size - reserved < MAX_FUNNEL_STEPS - RESERVED_STEPS.size;
}
