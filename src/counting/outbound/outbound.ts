import { logWarning } from '#lib/log';
import { withTimeout } from '#lib/timeout';
import { backoffMs } from '../retry.ts';
import type { ObjectStore } from '../store.ts';
import {
  deleteParts,
  distribute,
  eraseOutbound,
  nextParts,
  type OutboundConsent,
  tellOutboundConsent,
  waitingDestinations,
} from './parts.ts';
import { OutboundRules, UNKNOWN } from './rules.ts';

/** How long events wait to be counted if a destination may want them: a compromise between its wait and the rows that a run writes. */
const OUTBOUND_WAIT_MS = 30_000;
/** A destination only stores what it is sent, so a longer wait counts as lost. */
const TIMEOUT_MS = 20_000;

/** Hands parts to a destination, which ignores those that it has. */
export type SendParts = (destinationId: string, parts: { id: string; payload: string }[]) => Promise<void>;

type OutboundDependencies = {
  store: () => ObjectStore;
  db: () => D1Database;
  applicationId: () => string;
  send: () => SendParts;
  transaction: (work: () => void) => void;
};

/**
 * What a counter sends to the destinations of its application, each part until the destination has confirmed it. A destination that does not
 * respond delays neither another one nor counting, because nothing waits for this.
 */
export class Outbound {
  readonly rules: OutboundRules;
  private readonly around: OutboundDependencies;
  private feeding: Promise<void> | null = null;
  /** Destinations that did not respond, how often in a row, and when to try again. */
  private readonly failing = new Map<string, { failures: number; nextAt: number }>();

  constructor(around: OutboundDependencies) {
    this.around = around;
    this.rules = new OutboundRules(around);
  }

  /** How long events may wait to be counted, given how long they may without destinations, in milliseconds. */
  waitMs(without: number): number {
    const isOn = this.rules.cached?.some(({ isOff }) => !isOff) ?? false;
    return isOn ? Math.min(without, OUTBOUND_WAIT_MS) : without;
  }

  /** Call it in a transaction, between runs. */
  erase(deviceId: string): void {
    eraseOutbound(this.around.store(), deviceId, this.rules.cached ?? []);
  }

  /** Call it in a transaction. */
  tellConsent(told: OutboundConsent): void {
    tellOutboundConsent(this.around.store(), told, this.rules.cached ?? []);
  }

  /** When something can be sent, in epoch milliseconds; null if nothing waits, or something is being sent. */
  dueAt(now: number): number | null {
    if (this.feeding !== null) return null;
    const waiting = waitingDestinations(this.around.store());
    if (waiting.length === 0) return null;
    return Math.max(now, Math.min(...waiting.map((id) => this.failing.get(id)?.nextAt ?? now)));
  }

  /** Sends what is due, then calls `after`. Does not throw, and nothing needs to wait for it. */
  async feed(now: number, after: () => Promise<void>): Promise<void> {
    if ((this.dueAt(now) ?? Number.POSITIVE_INFINITY) > now) return;
    this.feeding = this.feedAll(now).finally(() => {
      this.feeding = null;
    });
    await this.feeding;
    await after();
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
  }

  private async feedOne(destinationId: string): Promise<void> {
    const { store, send } = this.around;
    try {
      if (destinationId === UNKNOWN.id) await withTimeout(this.distribute(), TIMEOUT_MS);
      for (;;) {
        const parts = nextParts(store(), destinationId);
        if (parts.length === 0) break;
        const sent = parts.map(({ id, payload }) => ({ id, payload }));
        await withTimeout(send()(destinationId, sent), TIMEOUT_MS);
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

  /** Gives what was counted for `UNKNOWN` to the destinations. */
  private async distribute(): Promise<void> {
    const { store, transaction } = this.around;
    const rules = await this.rules.refresh();
    transaction(() => distribute(store(), rules));
  }
}
