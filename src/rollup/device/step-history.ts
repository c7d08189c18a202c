import {
  hasRoomFor,
  readStored,
  readTimeline,
  rewriteTimeline,
  type StoredHistory,
  type StoredTimeline,
  TIE_SECONDS,
  writeStored,
  writeTimeline,
} from './step-format.ts';

/** A longer history is shortened … */
const MAX_ENTRIES = 128;
/** … to at most this many. */
const KEPT_ENTRIES = 96;
/** The newest entries may be cut, but their repeats are kept, because late events still arrive near them. */
const RECENT_ENTRIES = 32;

/**
 * A device's funnel steps in order of time, to the second.
 *
 * Up to `MAX_ENTRIES`, every event is kept. A longer history first loses repeats of a step with no other step in between, because no funnel
 * needs them, and then everything after its first `KEPT_ENTRIES`. From there on (`completeThrough`), only the first occurrence of each step
 * is kept.
 */
export class StepHistory {
  /** The names of its steps, by their numbers. */
  private readonly names: string[];
  private readonly timeline: StoredTimeline;
  /** The number of steps at its start that were not changed. */
  private unchanged: number;
  /** The first occurrence of each step, by its number. */
  private readonly firsts: number[] = [];
  /** The history is complete up to this second. */
  private completeThrough: number;
  /** Repeats were removed up to this second. */
  private thinnedThrough: number;

  private constructor(stored: StoredHistory) {
    this.names = stored.names;
    this.timeline = readTimeline(stored.timeline);
    this.unchanged = this.timeline.steps.length;
    this.completeThrough = stored.completeThrough;
    this.thinnedThrough = stored.thinnedThrough;
    for (const { steps, seconds } of [this.timeline, readTimeline(stored.later)]) {
      for (let index = 0; index < steps.length; index++)
        this.firsts[steps[index] ?? 0] ??= seconds[index] ?? 0;
    }
  }

  /** Parses what `toString` wrote; empty text is an empty history. Throws on any other text. */
  static parse(text: string): StepHistory {
    return new StepHistory(readStored(text));
  }

  /** Adds a step at an epoch second. Returns false if that changes nothing. */
  add(name: string, second: number): boolean {
    let step = this.names.indexOf(name);
    if (step === -1) {
      // A step that has no room is missing from this time on.
      if (!hasRoomFor(name, this.names)) return this.missFrom(second);
      step = this.names.push(name) - 1;
    }
    const first = this.firsts[step];
    const isFirst = first === undefined || second < first;
    if (isFirst) this.firsts[step] = second;
    return (second <= this.completeThrough && this.insert(step, second)) || isFirst;
  }

  toString(): string {
    const later = this.laterFirsts();
    return writeStored({
      timeline: rewriteTimeline(this.timeline, this.unchanged),
      names: this.names,
      completeThrough: this.completeThrough,
      thinnedThrough: this.thinnedThrough,
      later: writeTimeline({
        steps: later.map(([step]) => step),
        seconds: later.map(([, second]) => second),
      }),
    });
  }

  private laterFirsts(): [step: number, second: number][] {
    if (this.completeThrough === Number.POSITIVE_INFINITY) return [];
    const known = new Set(this.timeline.steps);
    return (
      [...this.firsts.entries()]
        // A step that never occurred is a hole in the array.
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
    // A repeat of another step that would now follow this one may have been removed.
    if (second <= this.thinnedThrough + TIE_SECONDS && steps[place - 1] !== step) {
      this.completeThrough = Math.min(this.completeThrough, second - TIE_SECONDS - 1);
      this.dropIncomplete();
      return true;
    }
    this.unchanged = Math.min(this.unchanged, place);
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
    this.unchanged = Math.min(this.unchanged, length);
  }

  private shorten(): void {
    this.takeOutRepeats();
    const { steps, seconds } = this.timeline;
    if (steps.length <= KEPT_ENTRIES) return;
    this.completeThrough = (seconds[KEPT_ENTRIES] ?? 0) - 1;
    this.dropIncomplete();
  }

  /**
   * A funnel looks for the first event of a step at or after an event of another step. Among events of one step with nothing else in between,
   * that is the first one, or one within a second before that other step.
   */
  private takeOutRepeats(): void {
    const { steps, seconds } = this.timeline;
    const end = steps.length - RECENT_ENTRIES;
    let kept = 0;
    for (let index = 0; index < steps.length; index++) {
      const [step = 0, second = 0] = [steps[index], seconds[index]];
      if (index < end && steps[index - 1] === step && !this.otherFollows(index)) {
        this.unchanged = Math.min(this.unchanged, kept);
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
