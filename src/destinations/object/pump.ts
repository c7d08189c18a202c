import { nextTurn } from '#lib/next-turn';
import type { Delivered } from './api.ts';
import { afterAttempt, type Finished } from './attempt.ts';
import type { Job } from './store.ts';

/** An invocation has at most six connections that wait for an answer. */
const REQUESTS_PER_CALL = 6;
/** Calls at the same time: 96 requests. While a receiver fails, there are fewer. */
const MAX_LANES = 16;
/** Calls per alarm: an invocation may make 10,000. */
const MAX_CALLS = 5_000;
/** Events in memory that wait to be sent. */
const MAX_QUEUED = 200;

type PumpDependencies = {
  /** Up to about so many events that are to be sent, without those that are busy. */
  load(limit: number, isBusy: (eventId: string) => boolean): Job[];
  /**
   * Sends some events; `soon` are those that come next. Null for an event that the destination does not want, and instead of all if nothing is sent
   * any more: they wait on.
   */
  deliver(jobs: readonly Job[], soon: readonly Job[]): Promise<(Delivered | null)[] | null>;
  /** Stores results, and forgets that their events wait. Events that are `dropped` leave nothing. */
  save(results: readonly Finished[], dropped: readonly Job[]): void;
};

/**
 * Sends what waits, many at a time. The number of events in memory is bounded. An event is sent again if its result could not be stored: at
 * least once.
 */
export class Pump {
  private readonly around: PumpDependencies;
  private readonly deadline: number;
  private queue: Job[] = [];
  private readonly busy = new Set<string>();
  private lanes = 0;
  private maxLanes = MAX_LANES;
  private calls = 0;
  private readonly unsaved: Finished[] = [];
  private readonly dropped: Job[] = [];
  private saving: Promise<void> | null = null;
  private readonly done = Promise.withResolvers<void>();
  private failure: unknown = null;
  private isStopped = false;

  constructor(around: PumpDependencies, deadline: number) {
    this.around = around;
    this.deadline = deadline;
  }

  /** Sends until nothing waits, or until the deadline. Throws what `load`, `deliver` or `save` throws. */
  async run(): Promise<void> {
    this.wake();
    if (this.lanes > 0) await this.done.promise;
    if (this.failure) throw this.failure;
  }

  /** Call it when something was added. */
  wake(): void {
    while (this.lanes < this.maxLanes && this.mayGoOn) {
      const jobs = this.take();
      if (jobs.length === 0) return;
      this.lanes++;
      void this.lane(jobs);
    }
  }

  /** Ends it once the requests that are under way have ended. */
  stop(): void {
    this.isStopped = true;
  }

  /** Leaves out what waits in memory. */
  drop(isMeant: (job: Job) => boolean): void {
    this.queue = this.queue.filter((job) => !isMeant(job));
  }

  /** Changes what waits in memory. */
  change(changed: (job: Job) => Job): void {
    this.queue = this.queue.map(changed);
  }

  private get mayGoOn(): boolean {
    return !this.isStopped && this.calls < MAX_CALLS && Date.now() < this.deadline;
  }

  private take(): Job[] {
    if (this.queue.length < REQUESTS_PER_CALL) {
      const queued = new Set(this.queue.map(({ item }) => item.event.id));
      const isBusy = (id: string) => this.busy.has(id) || queued.has(id);
      this.queue.push(...this.around.load(MAX_QUEUED, isBusy));
    }
    const jobs = this.queue.splice(0, REQUESTS_PER_CALL);
    for (const { item } of jobs) this.busy.add(item.event.id);
    return jobs;
  }

  private async lane(first: Job[]): Promise<void> {
    try {
      for (let jobs = first; jobs.length > 0; ) {
        await this.deliver(jobs);
        jobs = this.lanes <= this.maxLanes && this.mayGoOn ? this.take() : [];
      }
    } catch (error) {
      this.failure ??= error;
      this.stop();
    }
    this.lanes--;
    if (!this.isStopped) this.wakeSafely();
    if (this.lanes === 0) this.done.resolve();
  }

  private wakeSafely(): void {
    try {
      this.wake();
    } catch (error) {
      this.failure ??= error;
      this.stop();
    }
  }

  private async deliver(jobs: readonly Job[]): Promise<void> {
    this.calls++;
    const delivered = await this.around.deliver(jobs, this.queue);
    if (delivered === null) return this.stop();
    const now = Date.now();
    for (const [place, job] of jobs.entries()) {
      const own = delivered[place];
      if (!own) this.dropped.push(job);
      else if ('skipped' in own)
        this.unsaved.push({ job, status: 'skipped', reason: own.skipped, ...NOT_SENT });
      else this.finish(job, own, now);
    }
    await this.saved();
    for (const { item } of jobs) this.busy.delete(item.event.id);
  }

  private finish(job: Job, { attempt, outcome }: Exclude<Delivered, { skipped: string }>, now: number): void {
    // A receiver that has too much to do, or does nothing, gets fewer requests at the same time.
    if (outcome.isDelivered) this.maxLanes = Math.min(MAX_LANES, this.maxLanes + 1);
    else if (outcome.retry) this.maxLanes = Math.max(1, Math.floor(this.maxLanes / 2));
    this.unsaved.push(afterAttempt(job, attempt, outcome, { now, random: Math.random() }));
  }

  /** Results that come at about the same time are stored in one transaction. */
  private saved(): Promise<void> {
    this.saving ??= nextTurn().then(() => {
      this.saving = null;
      this.around.save(this.unsaved.splice(0), this.dropped.splice(0));
    });
    return this.saving;
  }
}

const NOT_SENT = { dueAt: null, ending: null, isOff: false } as const;
