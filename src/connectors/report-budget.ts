import { CUT_OFF_MS } from './connector-row.ts';

/** So much of a report is read beside any others. */
const SMALL_BYTES = 1024 * 1024;
const POLL_MS = 1_000;

/** The run that reads a large report in this isolate. A run that was cut off cannot say that it has ended. */
let holder: { budget: ReportBudget; since: number } | null = null;

/**
 * What a run may read, so that runs beside each other fit into an isolate's memory: one at a time has a report of more than 1 MB, until its rows are
 * stored. Others wait. Runs of several invocations share an isolate but no promises, so they look again now and then.
 */
export class ReportBudget {
  #bytes = 0;

  /** Counts what was read. False if it has to be let go, and read again after `turn`. */
  read(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= SMALL_BYTES || this.#take();
  }

  /** Resolves once this run may read a large report. */
  async turn(sleep: (ms: number) => Promise<void>): Promise<void> {
    while (!this.#take()) await sleep(POLL_MS);
  }

  release(): void {
    if (holder?.budget === this) holder = null;
  }

  #take(): boolean {
    const now = Date.now();
    if (holder === null || now - holder.since >= CUT_OFF_MS) holder = { budget: this, since: now };
    return holder.budget === this;
  }
}
