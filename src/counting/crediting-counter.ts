import type { AppleAnswer } from '#attribution';
import { logWarning } from '#lib/log';
import type { AppendedStatus } from './api.ts';
import { CopiedCounter } from './copied-counter.ts';
import {
  heldEvent,
  openToken,
  overdueAt,
  overdueDevices,
  replacedClick,
  resolveCredit,
  takeOpenEvents,
} from './credits/open-credits.ts';
import type { CounterLog } from './log.ts';

/** After a failure. */
const RETRY_MS = 60_000;

const NOT_ASKED = { answer: { outcome: 'not_asked' }, creativeId: null } as const;

/** The calls about devices whose credit waits for Apple's answer. */
export abstract class CreditingCounter extends CopiedCounter {
  private overdueFrom = 0;
  protected abstract noteAppended(events: number, now: number): void;
  /** Throws if this counter accepts neither events nor devices at the moment. */
  protected abstract requireWritable(): void;

  async appendOpen(events: string[]): Promise<void> {
    await this.appendBy((log, now) => takeOpenEvents(log, events, now));
  }

  async readCredit(deviceId: string): Promise<{ token: string | null; replacedClickId: string | null }> {
    return {
      token: openToken(this.store, deviceId),
      replacedClickId: replacedClick(this.store, deviceId),
    };
  }

  async resolveCredit(
    deviceId: string,
    resolved: { answer: AppleAnswer; creativeId: string | null } = NOT_ASKED,
  ): Promise<{ replacedClickId: string | null }> {
    await this.appendBy((log, now) => resolveCredit(log, deviceId, resolved, now));
    return { replacedClickId: replacedClick(this.store, deviceId) };
  }

  override async eventStatus(eventId: string): Promise<AppendedStatus | null> {
    return (await super.eventStatus(eventId)) ?? this.heldStatus(eventId);
  }

  override async eventStatuses(eventIds: string[]): Promise<(AppendedStatus['status'] | null)[]> {
    const statuses = await super.eventStatuses(eventIds);
    return statuses.map((status, index) => status ?? this.heldStatus(eventIds[index] ?? '')?.status ?? null);
  }

  /** Resolves credits that have waited for too long, without Apple's answer. One that fails is tried again later and delays nothing else. */
  protected resolveOverdue(now: number): void {
    for (const id of overdueDevices(this.store, now)) {
      try {
        this.noteAppended(
          this.write(() => resolveCredit(this.log, id, NOT_ASKED, now)),
          now,
        );
      } catch (error) {
        this.overdueFrom = now + RETRY_MS;
        logWarning('credit stays open', error, { counter: this.name });
      }
    }
  }

  /** When `resolveOverdue` is due, in epoch milliseconds; null if no credit is open. */
  protected overdueAt(): number | null {
    const at = overdueAt(this.store);
    return at === null ? null : Math.max(at, this.overdueFrom);
  }

  private async appendBy(work: (log: CounterLog, now: number) => number): Promise<void> {
    this.requireWritable();
    const now = Date.now();
    const appended = this.write(() => work(this.log, now));
    this.noteAppended(appended, now);
    await this.arm(now);
  }

  private heldStatus(eventId: string): AppendedStatus | null {
    const held = heldEvent(this.store, eventId);
    if (!held) return null;
    const event = { ...JSON.parse(held.text), application_id: this.applicationId };
    return { status: 'queued', appendedAt: held.heldAt, event };
  }
}
