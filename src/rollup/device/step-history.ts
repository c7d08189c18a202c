import {
  hasRoomFor,
  MAX_FUNNEL_LENGTH,
  readTimeline,
  type StoredSteps,
  TIE_SECONDS,
  type Timeline,
  writeTimeline,
} from './step-format.ts';

/** A longer history is shortened … */
const MAX_ENTRIES = 128;
/** … to at most this many. */
const KEPT_ENTRIES = 96;
/** The newest entries may be cut, but their repeats are kept, because late events still arrive near them. */
const RECENT_ENTRIES = 32;

type StepEntry = { step: string; second: number };

/**
 * A device's funnel steps, to the second.
 *
 * Up to `MAX_ENTRIES`, every event is kept. A longer history first loses repeats of a step with no other step in between, because no funnel
 * needs them, and then everything after its first `KEPT_ENTRIES`. From there on (`completeThrough`), only the first occurrence of each step
 * is kept.
 */
export class StepHistory {
  private readonly times: Timeline['times'];
  /** The history is complete up to this second. */
  private completeThrough: number;
  /** Repeats were removed up to this second. */
  private thinnedThrough: number;
  /** The number of entries up to `completeThrough`. */
  private size: number;

  private constructor({ times, completeThrough, thinnedThrough }: Timeline) {
    this.times = times;
    this.completeThrough = completeThrough;
    this.thinnedThrough = thinnedThrough;
    this.size = this.dropIncomplete();
  }

  /** Reads what `toStored` returned, without changing it. Throws on anything else. */
  static read(stored: StoredSteps): StepHistory {
    return new StepHistory(readTimeline(stored));
  }

  /** Adds a step at an epoch second, once for each event. Returns false if that changes nothing. */
  add(step: string, second: number): boolean {
    let own = this.times.get(step);
    if (!own) {
      // A step that has no room is missing from this time on.
      if (!hasRoomFor(step, this.times)) return this.missFrom(second);
      own = [];
      this.times.set(step, own);
    }
    if (second > this.completeThrough) return addFirst(own, second);
    if ((own[0] ?? 0) > this.completeThrough) own.length = 0;
    let place = own.length;
    while (place > 0 && (own[place - 1] ?? 0) > second) place--;
    // No funnel takes more events of one second.
    if (own[place - MAX_FUNNEL_LENGTH] === second) return false;
    if (second <= this.thinnedThrough + TIE_SECONDS && !this.isLastBefore(own, second)) {
      this.missFrom(second - TIE_SECONDS);
      addFirst(own, second);
      return true;
    }
    if (place === own.length) own.push(second);
    else own.splice(place, 0, second);
    this.size++;
    if (this.size > MAX_ENTRIES) this.shorten();
    return true;
  }

  /** Takes back an event that `add` was called for. Returns false if it is not kept. */
  remove(step: string, second: number): boolean {
    const own = this.times.get(step) ?? [];
    const place = own.indexOf(second);
    if (place < 0) return false;
    own.splice(place, 1);
    if (second <= this.completeThrough) this.size--;
    if (own.length === 0) this.times.delete(step);
    return true;
  }

  toStored(): StoredSteps {
    const { times, completeThrough, thinnedThrough } = this;
    return writeTimeline({ times, completeThrough, thinnedThrough });
  }

  /** If another step was the last one, a repeat of it that would now follow this one may have been removed. */
  private isLastBefore(own: readonly number[], second: number): boolean {
    const lastOf = (seconds: readonly number[]) => seconds.findLast((known) => known <= second) ?? -1;
    const last = lastOf(own);
    return [...this.times.values()].every((other) => lastOf(other) <= last);
  }

  private missFrom(second: number): boolean {
    if (second > this.completeThrough) return false;
    this.completeThrough = second - 1;
    this.size = this.dropIncomplete();
    return true;
  }

  /** Returns the number of entries that are left up to `completeThrough`. */
  private dropIncomplete(): number {
    let size = 0;
    for (const own of this.times.values()) {
      const complete = own.findLastIndex((second) => second <= this.completeThrough) + 1;
      own.length = Math.min(own.length, Math.max(1, complete));
      size += complete;
    }
    return size;
  }

  private shorten(): void {
    const entries = this.entries();
    const end = entries.length - RECENT_ENTRIES;
    const repeats = entries.filter((_, at) => at < end && isRepeat(entries, at));
    for (const { step, second } of repeats) {
      const own = this.times.get(step) ?? [];
      own.splice(own.indexOf(second), 1);
      this.thinnedThrough = Math.max(this.thinnedThrough, second);
    }
    this.size -= repeats.length;
    const cut = this.entries()[KEPT_ENTRIES];
    if (cut) this.missFrom(cut.second);
  }

  /** In order of time, up to `completeThrough`. */
  private entries(): StepEntry[] {
    return Array.from(this.times, ([step, own]) => own.map((second) => ({ step, second })))
      .flat()
      .filter(({ second }) => second <= this.completeThrough)
      .sort((left, right) => left.second - right.second);
  }
}

/** Adds what is after `completeThrough`. Returns false unless it is the step's first occurrence. */
function addFirst(own: number[], second: number): boolean {
  const isFirst = second < (own[0] ?? Number.POSITIVE_INFINITY);
  if (isFirst) own[0] = second;
  return isFirst;
}

/**
 * A funnel looks for the first event of a step at or after an event of another step. Among events of one step with nothing else in between,
 * that is the first one, or one within a second before that other step.
 */
function isRepeat(entries: readonly StepEntry[], at: number): boolean {
  const { step, second = 0 } = entries[at] ?? {};
  if (entries[at - 1]?.step !== step) return false;
  for (
    let next = at + 1;
    (entries[next]?.second ?? Number.POSITIVE_INFINITY) <= second + TIE_SECONDS;
    next++
  ) {
    if (entries[next]?.step !== step) return false;
  }
  return true;
}
