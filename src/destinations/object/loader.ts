import type { ObjectStore } from '#counting';
import { dropPart, dueJobs, type Job, knownAmong, nextPart } from './store.ts';

/** Loads what is to be sent, in a bounded number at a time, and knows when all of a part was. */
export class Loader {
  private readonly store: ObjectStore;
  /** How many events of each loaded part are not finished. */
  private readonly left = new Map<number, number>();
  private loadedThrough = 0;

  constructor(store: ObjectStore) {
    this.store = store;
  }

  /** What is due again, at most half of the limit, and then new events, a part at a time. Leaves out what is busy. */
  load(limit: number, isBusy: (eventId: string) => boolean, now: number): Job[] {
    // What is busy is due as well, so more are read than taken.
    const due = dueJobs(this.store, now, limit, isBusy).slice(0, limit / 2);
    while (due.length < limit / 2) {
      const jobs = this.loadPart(isBusy);
      if (jobs === null) break;
      due.push(...jobs);
    }
    return due;
  }

  /** Call it in the transaction that stores what became of events. */
  finish(jobs: readonly Job[]): void {
    for (const { part } of jobs) {
      const left = part === null ? undefined : this.left.get(part);
      if (part === null || left === undefined) continue;
      if (left > 1) this.left.set(part, left - 1);
      else {
        this.left.delete(part);
        dropPart(this.store, part);
      }
    }
  }

  private loadPart(isBusy: (eventId: string) => boolean): Job[] | null {
    const next = nextPart(this.store, this.loadedThrough);
    if (!next) return null;
    this.loadedThrough = next.part;
    const ids = next.items.map(({ event }) => event.id);
    const known = knownAmong(this.store, ids);
    const jobs = next.items.flatMap((item): Job[] => {
      const { id } = item.event;
      if (known.has(id) || isBusy(id)) return [];
      known.add(id);
      return [{ item, tries: 0, attempts: [], part: next.part }];
    });
    if (jobs.length > 0) this.left.set(next.part, jobs.length);
    else dropPart(this.store, next.part);
    return jobs;
  }
}
