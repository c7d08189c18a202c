/** The number of different steps in a device's history. Further event names still count as events, but not as steps. */
export const MAX_FUNNEL_STEPS = 200;
/** Steps that a history always has room for, because every device may have them. */
const RESERVED_STEPS: ReadonlySet<string> = new Set(['install', 'retention', 'purchase', 'ad']);
/** Webhook events are dated to the second, devices to the millisecond, so the order within one second is unknown. */
export const TIE_SECONDS = 1;
/** Earlier than any second of a history, even by more than `TIE_SECONDS`. */
const NEVER = -10;

/** The steps of a device. */
export type StoredHistory = {
  /** By the name of the step: the epoch seconds at which it happened, each once and in order. After `completeThrough`, only a first one is known. */
  times: Map<string, number[]>;
  /** Infinite if the history is complete. */
  completeThrough: number;
  /** See `StepHistory`. */
  thinnedThrough: number;
};

/** A history as JSON. Fields that are missing have their usual values, and unknown ones are ignored. */
type StoredFields = {
  /** By step: the first second, and then the seconds since the one before. */
  times?: Record<string, number[]>;
  /** Absent if the history is complete. */
  complete_through?: number;
  thinned_through?: number;
};

export function readStored(text: string): StoredHistory {
  const fields: unknown = text === '' ? {} : JSON.parse(text);
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new Error('not a step history');
  }
  const {
    times = {},
    complete_through: completeThrough = Number.POSITIVE_INFINITY,
    thinned_through: thinnedThrough = NEVER,
  }: StoredFields = fields;
  for (const own of Object.values(times)) addUp(own);
  return { times: new Map(Object.entries(times)), completeThrough, thinnedThrough };
}

export function writeStored({ times, completeThrough, thinnedThrough }: StoredHistory): string {
  if (times.size === 0 && completeThrough === Number.POSITIVE_INFINITY) return '';
  const since = (own: readonly number[]) => own.map((second, at) => second - (own[at - 1] ?? 0));
  const fields: StoredFields = {
    times: Object.fromEntries(Array.from(times, ([step, own]) => [step, since(own)])),
    ...(completeThrough === Number.POSITIVE_INFINITY ? {} : { complete_through: completeThrough }),
    ...(thinnedThrough === NEVER ? {} : { thinned_through: thinnedThrough }),
  };
  return JSON.stringify(fields);
}

/** In place, because it is done for every device that a run has events of. */
function addUp(seconds: number[]): void {
  if (!Array.isArray(seconds)) throw new Error('not a step history');
  for (let at = 1; at < seconds.length; at++) seconds[at] = (seconds[at] ?? 0) + (seconds[at - 1] ?? 0);
}

/** Whether a history with these steps has room for another one. */
export function hasRoomFor(name: string, known: StoredHistory['times']): boolean {
  const reserved = [...RESERVED_STEPS].filter((own) => known.has(own)).length;
  return RESERVED_STEPS.has(name) || known.size - reserved < MAX_FUNNEL_STEPS - RESERVED_STEPS.size;
}
