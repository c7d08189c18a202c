/** The number of different steps in a device's history. Further event names still count as events, but not as steps. */
export const MAX_FUNNEL_STEPS = 200;
/** Steps that a history always has room for, because every device may have them. */
const RESERVED_STEPS: ReadonlySet<string> = new Set(['install', 'retention', 'purchase', 'ad']);
/** Webhook events are dated to the second, devices to the millisecond, so the order within one second is unknown. */
export const TIE_SECONDS = 1;
/** Earlier than any second of a history, even by more than `TIE_SECONDS`. */
const NEVER = -10;

/** Step numbers in order of time, with their epoch seconds. */
export type Timeline = { steps: number[]; seconds: number[] };

/** A timeline and the text that it was read from, in which each step ends at one of `ends`. */
export type StoredTimeline = Timeline & { text: string; ends: number[] };

/** The parts of a history. */
export type StoredHistory = {
  timeline: string;
  /** The names of its steps, by their numbers. */
  names: string[];
  completeThrough: number;
  thinnedThrough: number;
  /** First occurrences after `completeThrough`. */
  later: string;
};

// A timeline is its steps, each as an upper-case letter from A to Q or two from RA to ZZ, by its place among the names, followed by the seconds
// since the previous step in base 36, if any: "Atb0k3sD5gDC1".

/** A history as JSON. Fields that are missing have their usual values, and unknown ones are ignored. */
type StoredFields = {
  timeline?: string;
  names?: string[];
  /** Absent if the history is complete. */
  complete_through?: number;
  thinned_through?: number;
  later?: string;
};

export function readStored(text: string): StoredHistory {
  const fields: unknown = text === '' ? {} : JSON.parse(text);
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new Error('not a step history');
  }
  const {
    timeline = '',
    names = [],
    complete_through: completeThrough = Number.POSITIVE_INFINITY,
    thinned_through: thinnedThrough = NEVER,
    later = '',
  }: StoredFields = fields;
  return { timeline, names, completeThrough, thinnedThrough, later };
}

export function writeStored({
  timeline,
  names,
  completeThrough,
  thinnedThrough,
  later,
}: StoredHistory): string {
  if (timeline === '' && later === '' && completeThrough === Number.POSITIVE_INFINITY) return '';
  const fields: StoredFields = {
    timeline,
    names,
    ...(completeThrough === Number.POSITIVE_INFINITY ? {} : { complete_through: completeThrough }),
    ...(thinnedThrough === NEVER ? {} : { thinned_through: thinnedThrough }),
    ...(later === '' ? {} : { later }),
  };
  return JSON.stringify(fields);
}

const A = 65;
const LETTERS = 26;
/** The letter R, with which two-letter steps start. */
const ONE_LETTER = 17;

export function writeTimeline({ steps, seconds }: Timeline, prefix = '', from = 0): string {
  let text = prefix;
  let before = seconds[from - 1] ?? 0;
  for (let index = from; index < steps.length; index++) {
    const [step, second] = [steps[index] ?? 0, seconds[index] ?? 0];
    const rest = step - ONE_LETTER;
    text +=
      rest < 0
        ? String.fromCharCode(A + step)
        : String.fromCharCode(A + ONE_LETTER + Math.floor(rest / LETTERS), A + (rest % LETTERS));
    if (second !== before) text += (second - before).toString(36);
    before = second;
  }
  return text;
}

/** `writeTimeline` for a timeline whose first `unchanged` steps are still those of its text. */
export function rewriteTimeline(timeline: StoredTimeline, unchanged: number): string {
  const end = unchanged === 0 ? 0 : (timeline.ends[unchanged - 1] ?? 0);
  return writeTimeline(timeline, timeline.text.slice(0, end), unchanged);
}

export function readTimeline(text: string): StoredTimeline {
  const timeline: StoredTimeline = { text, steps: [], seconds: [], ends: [] };
  let [at, second] = [0, 0];
  while (at < text.length) {
    let [step, delta] = [text.charCodeAt(at++) - A, 0];
    if (step >= ONE_LETTER) step = ONE_LETTER + (step - ONE_LETTER) * LETTERS + text.charCodeAt(at++) - A;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const digit = code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 122 ? code - 87 : -1;
      if (digit < 0) break;
      delta = delta * 36 + digit;
    }
    if (!(step >= 0 && step < MAX_FUNNEL_STEPS)) throw new Error('not a step history');
    second += delta;
    timeline.steps.push(step);
    timeline.seconds.push(second);
    timeline.ends.push(at);
  }
  return timeline;
}

/** Whether a history with these steps has room for another one. */
export const hasRoomFor = (name: string, names: readonly string[]): boolean =>
  RESERVED_STEPS.has(name) ||
  names.filter((own) => !RESERVED_STEPS.has(own)).length < MAX_FUNNEL_STEPS - RESERVED_STEPS.size;
