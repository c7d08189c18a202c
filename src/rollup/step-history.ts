/** A device's history has room for this many different steps: more event names count as events, but are no steps. */
export const MAX_FUNNEL_STEPS = 200;
/** What the steps of custom events begin with; the others always have room. */
export const EVENT_STEP = 'event:';
/** Their place in this list is how a history writes them, so it may grow only at its end. */
const FIXED_STEPS = ['install', 'retention', 'purchase', 'ad'];
/** A longer history is shortened … */
const MAX_ENTRIES = 128;
/** … to at most this many. */
const KEPT_ENTRIES = 96;
/** The newest entries, near which late events still arrive, are cut but never thinned out. */
const RECENT_ENTRIES = 32;
/** Webhook events are dated by the second, devices by the millisecond: within one second nothing is out of order. */
const TIE_SECONDS = 1;
/** Before every second that is near one of a history. */
const NEVER = -10;

type Timeline = { steps: number[]; seconds: number[] };

/**
 * When a device did what a funnel can ask about: its steps in order of time, to the second.
 *
 * Every event is kept up to `MAX_ENTRIES`. A longer history first loses the repeats of a step between which nothing else
 * happened, because no funnel can need them; then everything after its first `KEPT_ENTRIES`. From there on (`completeThrough`)
 * it has the first time of each step only.
 */
export class StepHistory {
  /** Of the steps that are not fixed. */
  private readonly names: string[];
  private readonly timeline: Timeline;
  /** By step: its first time. */
  private readonly firsts: number[] = [];
  /** Up to this second nothing is missing. */
  private completeThrough: number;
  /** Up to this second repeats were taken out. */
  private thinnedThrough: number;

  private constructor(stored: Stored) {
    this.names = stored.names;
    this.timeline = readTimeline(stored.timeline);
    this.completeThrough = stored.completeThrough;
    this.thinnedThrough = stored.thinnedThrough;
    for (const { steps, seconds } of [this.timeline, readTimeline(stored.later)]) {
      for (let index = 0; index < steps.length; index++)
        this.firsts[steps[index] ?? 0] ??= seconds[index] ?? 0;
    }
  }

  /** Reads what `toString` wrote; the empty text is the empty history. Throws on any other text. */
  static parse(text: string): StepHistory {
    return new StepHistory(readStored(text));
  }

  /** Adds a step at an epoch second; false where that changes nothing. */
  add(name: string, second: number): boolean {
    let step = indexOfStep(name, this.names);
    if (step === -1) {
      // What has no place is missing from its time on.
      if (this.names.length >= MAX_FUNNEL_STEPS - FIXED_STEPS.length) return this.missFrom(second);
      step = this.names.push(name) - 1 + FIXED_STEPS.length;
    }
    const first = this.firsts[step];
    const isFirst = first === undefined || second < first;
    if (isFirst) this.firsts[step] = second;
    return (second <= this.completeThrough && this.insert(step, second)) || isFirst;
  }

  toString(): string {
    const { steps, seconds } = this.timeline;
    const later = this.laterFirsts();
    return writeStored({
      timeline: writeTimeline(steps, seconds),
      names: this.names,
      completeThrough: this.completeThrough,
      thinnedThrough: this.thinnedThrough,
      later: writeTimeline(
        later.map(([step]) => step),
        later.map(([, second]) => second),
      ),
    });
  }

  private laterFirsts(): [step: number, second: number][] {
    if (this.completeThrough === Number.POSITIVE_INFINITY) return [];
    const known = new Set(this.timeline.steps);
    return (
      [...this.firsts.entries()]
        // A step that never happened is a hole.
        .filter(([step, second]) => second !== undefined && !known.has(step))
        .sort(([, left], [, right]) => left - right)
    );
  }

  private missFrom(second: number): boolean {
    if (second > this.completeThrough) return false;
    this.completeThrough = second - 1;
    this.dropIncomplete();
    return true;
  }

  private insert(step: number, second: number): boolean {
    const { steps, seconds } = this.timeline;
    let place = seconds.length;
    while (place > 0 && (seconds[place - 1] ?? 0) > second) place--;
    for (let same = place; same > 0 && seconds[same - 1] === second; same--) {
      if (steps[same - 1] === step) return false;
    }
    // The repeat of another step that would now follow this one may be among those that were taken out.
    if (second <= this.thinnedThrough + TIE_SECONDS && steps[place - 1] !== step) {
      this.completeThrough = Math.min(this.completeThrough, second - TIE_SECONDS - 1);
      this.dropIncomplete();
      return true;
    }
    if (place === steps.length) {
      steps.push(step);
      seconds.push(second);
    } else {
      steps.splice(place, 0, step);
      seconds.splice(place, 0, second);
    }
    if (steps.length > MAX_ENTRIES) this.shorten();
    return true;
  }

  private dropIncomplete(): void {
    const { steps, seconds } = this.timeline;
    let length = steps.length;
    while (length > 0 && (seconds[length - 1] ?? 0) > this.completeThrough) length--;
    steps.length = length;
    seconds.length = length;
  }

  private shorten(): void {
    this.takeOutRepeats();
    const { steps, seconds } = this.timeline;
    if (steps.length <= KEPT_ENTRIES) return;
    this.completeThrough = (seconds[KEPT_ENTRIES] ?? 0) - 1;
    this.dropIncomplete();
  }

  /**
   * A funnel asks for the first event of a step at or after one of another step. Of the events of one step with nothing else in
   * between that is the first one, or one within a second before that other step.
   */
  private takeOutRepeats(): void {
    const { steps, seconds } = this.timeline;
    const end = steps.length - RECENT_ENTRIES;
    let kept = 0;
    for (let index = 0; index < steps.length; index++) {
      const [step = 0, second = 0] = [steps[index], seconds[index]];
      if (index < end && steps[index - 1] === step && !this.otherFollows(index)) {
        this.thinnedThrough = Math.max(this.thinnedThrough, second);
        continue;
      }
      steps[kept] = step;
      seconds[kept] = second;
      kept++;
    }
    steps.length = kept;
    seconds.length = kept;
  }

  private otherFollows(index: number): boolean {
    const { steps, seconds } = this.timeline;
    const until = (seconds[index] ?? 0) + TIE_SECONDS;
    for (let next = index + 1; (seconds[next] ?? Number.POSITIVE_INFINITY) <= until; next++) {
      if (steps[next] !== steps[index]) return true;
    }
    return false;
  }
}

type Stored = {
  timeline: string;
  /** Of the steps that are not fixed. */
  names: string[];
  completeThrough: number;
  thinnedThrough: number;
  /** First times after `completeThrough`. */
  later: string;
};

// A history is stored as a JSON array: timeline, names, and for a shortened one the rest. A timeline is its steps as an upper-case
// letter from A to Q, or two from RA to ZZ, each with the seconds since the one before in base 36, if any: "Atb0k3sD5gDC1".

function readStored(text: string): Stored {
  const [timeline = '', names = [], complete = null, thinnedThrough = NEVER, later = '']: [
    string?,
    string[]?,
    (number | null)?,
    number?,
    string?,
  ] = text === '' ? [] : JSON.parse(text);
  return { timeline, names, completeThrough: complete ?? Number.POSITIVE_INFINITY, thinnedThrough, later };
}

function writeStored({ timeline, names, completeThrough, thinnedThrough, later }: Stored): string {
  if (timeline === '' && later === '' && completeThrough === Number.POSITIVE_INFINITY) return '';
  // JSON writes infinity as null.
  if (completeThrough !== Number.POSITIVE_INFINITY || thinnedThrough !== NEVER) {
    return JSON.stringify([timeline, names, completeThrough, thinnedThrough, later]);
  }
  return JSON.stringify(names.length > 0 ? [timeline, names] : [timeline]);
}

const A = 65;
const LETTERS = 26;
/** R. */
const ONE_LETTER = 17;

function writeTimeline(steps: readonly number[], seconds: readonly number[]): string {
  let text = '';
  let before = 0;
  for (let index = 0; index < steps.length; index++) {
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

function readTimeline(text: string): Timeline {
  const timeline: Timeline = { steps: [], seconds: [] };
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
  }
  return timeline;
}

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

function indexOfStep(name: string, names: readonly string[]): number {
  const fixed = FIXED_STEPS.indexOf(name);
  const own = names.indexOf(name);
  return fixed >= 0 || own < 0 ? fixed : own + FIXED_STEPS.length;
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
