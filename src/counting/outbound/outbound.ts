import type { OutboundRule } from '#catalogue';
import type { Store } from '../store.ts';
import { Feeder, type SendParts } from './feeder.ts';
import { distribute, eraseOutbound } from './parts.ts';
import { OutboundRules, UNKNOWN } from './rules.ts';

/** How long events wait to be counted if a destination may want them: a compromise between its wait and the rows that a run writes. */
const OUTBOUND_WAIT_MS = 30_000;
/** A destination only stores what it is sent, so a longer wait counts as lost. */
const TIMEOUT_MS = 20_000;

type OutboundDependencies = {
  store: () => Store;
  db: () => D1Database;
  applicationId: () => string;
  send: () => SendParts;
  transaction: (work: () => void) => void;
};

/** What a counter sends to the destinations of its application. */
export class Outbound {
  private readonly store: () => Store;
  private readonly rules: OutboundRules;
  private readonly feeder: Feeder;
  /** Whether a run may have counted while the destinations were unknown. */
  private mayBeUnknown = false;

  constructor({ store, db, applicationId, send, transaction }: OutboundDependencies) {
    this.store = store;
    this.rules = new OutboundRules({ store, db, applicationId });
    this.feeder = new Feeder({
      ...{ store, send, timeoutMs: () => TIMEOUT_MS },
      distribute: async () => {
        const rules = await this.rules.refresh();
        transaction(() => distribute(store(), rules));
        this.mayBeUnknown = false;
      },
    });
  }

  /** Call it when another store was opened. */
  forget(): void {
    this.rules.forget();
    this.mayBeUnknown = false;
    this.feeder.note();
  }

  /** The destinations, for a run. */
  get(): readonly OutboundRule[] | Promise<readonly OutboundRule[]> {
    const rules = this.rules.get();
    if (!(rules instanceof Promise)) return rules;
    return rules.then((found) => {
      this.mayBeUnknown ||= found.includes(UNKNOWN);
      return found;
    });
  }

  /** Reads the destinations again, because they have changed. */
  async refresh(): Promise<void> {
    await this.rules.refresh();
    this.feeder.note();
  }

  private get isOn(): boolean {
    return this.rules.cached?.some(({ isOff }) => !isOff) ?? false;
  }

  /** How long events may wait to be counted, given how long they may without destinations, in milliseconds. */
  waitMs(without: number): number {
    return this.isOn ? Math.min(without, OUTBOUND_WAIT_MS) : without;
  }

  /** Call it in a transaction, between runs. */
  erase(deviceId: string): void {
    eraseOutbound(this.store(), deviceId, this.rules.cached ?? []);
    this.feeder.note();
  }

  /** When something can be sent, in epoch milliseconds; null if nothing waits. */
  dueAt(now: number): number | null {
    // A run may have added something.
    if (this.isOn || this.mayBeUnknown) this.feeder.note();
    return this.feeder.dueAt(now);
  }

  /** Sends what is due, then calls `after`. Does not throw, and nothing needs to wait for it. */
  async feed(now: number, after: () => Promise<void>): Promise<void> {
    if ((this.dueAt(now) ?? Number.POSITIVE_INFINITY) > now) return;
    await this.feeder.feed(now);
    await after();
  }

  /** Waits for the current attempt. */
  ended(): Promise<void> {
    return this.feeder.ended();
  }
}
