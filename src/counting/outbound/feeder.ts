import { logWarning } from '#lib/log';
import { withTimeout } from '#lib/timeout';
import type { Store } from '../store.ts';
import { backoffMs } from '../upkeep.ts';
import { deleteParts, nextParts, waitingDestinations } from './parts.ts';
import { UNKNOWN } from './rules.ts';

/** Hands parts to a destination, which ignores those that it has. */
export type SendParts = (destinationId: string, parts: { id: string; payload: string }[]) => Promise<void>;

type FeederDependencies = {
  store: () => Store;
  send: () => SendParts;
  timeoutMs: () => number;
  /** Gives what was counted for `UNKNOWN` to the destinations. */
  distribute: () => Promise<void>;
};

/**
 * Sends a counter's events to the destinations, each part until the destination has confirmed it. A destination that does not respond delays
 * neither another one nor counting, because nothing waits for this.
 */
export class Feeder {
  private readonly around: FeederDependencies;
  private feeding: Promise<void> | null = null;
  /** Whether parts wait; null if unknown. */
  private isWaiting: boolean | null = null;
  /** Destinations that did not respond, how often in a row, and when to try again. */
  private readonly failing = new Map<string, { failures: number; nextAt: number }>();

  constructor(around: FeederDependencies) {
    this.around = around;
  }

  /** Call it when parts may have been added. */
  note(): void {
    this.isWaiting = null;
  }

  /** When something can be sent, in epoch milliseconds; null if nothing waits. */
  dueAt(now: number): number | null {
    if (this.feeding !== null || this.isWaiting === false) return null;
    const waiting = waitingDestinations(this.around.store());
    this.isWaiting = waiting.length > 0;
    if (waiting.length === 0) return null;
    return Math.max(now, Math.min(...waiting.map((id) => this.failing.get(id)?.nextAt ?? now)));
  }

  /** Sends what is due. Concurrent calls share the work. Does not throw. */
  feed(now: number): Promise<void> {
    this.feeding ??= this.feedAll(now).finally(() => {
      this.feeding = null;
    });
    return this.feeding;
  }

  /** Waits for the current attempt. */
  async ended(): Promise<void> {
    await this.feeding;
  }

  private async feedAll(now: number): Promise<void> {
    const due = waitingDestinations(this.around.store()).filter(
      (id) => (this.failing.get(id)?.nextAt ?? 0) <= now,
    );
    await Promise.all(due.map((id) => this.feedOne(id)));
    this.note();
  }

  private async feedOne(destinationId: string): Promise<void> {
    const { store, send, timeoutMs } = this.around;
    try {
      if (destinationId === UNKNOWN.id) await withTimeout(this.around.distribute(), timeoutMs());
      for (;;) {
        const parts = nextParts(store(), destinationId);
        if (parts.length === 0) break;
        const sent = parts.map(({ id, payload }) => ({ id, payload }));
        await withTimeout(send()(destinationId, sent), timeoutMs());
        deleteParts(
          store(),
          parts.map(({ part }) => part),
        );
      }
      this.failing.delete(destinationId);
    } catch (error) {
      // Nothing is lost: the parts wait for the next attempt.
      logWarning('destination put off', error, { destination_id: destinationId });
      const failures = (this.failing.get(destinationId)?.failures ?? 0) + 1;
      this.failing.set(destinationId, { failures, nextAt: Date.now() + backoffMs(failures) });
    }
  }
}
