import type { Segment } from '#catalogue';
import { DaySet } from '#lib/day-set';
import { DeviceRevenue } from './device-revenue.ts';
import { StepHistory } from './step-history.ts';

/** What counting remembers of a device, as its counter stores it. */
export type DeviceState = {
  applicationId: string;
  acquiredDay: string;
  id: string;
  /** Made by an editor or a debug build: nothing of it is counted. */
  test: boolean;
  /** Its country, OS and application version at its acquisition. */
  segment: Segment;
  activeDays: string;
  activeAges: string;
  paidDays: string;
  /** Its funnel steps: see `StepHistory`. */
  steps: string;
  /** What it earned: see `DeviceRevenue`. */
  revenue: string;
};

export const deviceKey = (device: { applicationId: string; acquiredDay: string; id: string }) =>
  `${device.applicationId}/${device.acquiredDay}/${device.id}`;

/** A run keeps many devices, and most do little in it: so many steps or earnings wait as they came, which takes less memory than a history. */
const MAX_PENDING = 64;

type Earning = { kind: 'ad' | 'purchase'; currency: string; age: number; micros: number };

/**
 * A device while a run of events is counted. Its days are parsed once per run and changed in place. Steps and earnings wait, and are
 * merged with the stored ones once they are many, or in the end. So an event takes the same work however many days and steps its device has had.
 */
export class RunningDevice {
  private readonly stored: DeviceState;
  private readonly activeDays: DaySet;
  private readonly activeAges: DaySet;
  private readonly paidDays: DaySet;
  /** Null as long as what was added is pending. */
  private steps: StepHistory | null = null;
  private revenue: DeviceRevenue | null = null;
  private readonly reached: { step: string; second: number }[] = [];
  private readonly earned: Earning[] = [];
  private changed = false;

  /** Throws where the stored state cannot be read. */
  constructor(stored: DeviceState) {
    this.stored = stored;
    this.activeDays = DaySet.parse(stored.activeDays);
    this.activeAges = DaySet.parse(stored.activeAges);
    this.paidDays = DaySet.parse(stored.paidDays);
    StepHistory.parse(stored.steps);
  }

  /** Marks a calendar day; false where the device was active on it already. */
  addActiveDay(day: number): boolean {
    return this.mark(this.activeDays.add(day));
  }

  /** Marks a calendar day; false where the device paid on it already. */
  addPaidDay(day: number): boolean {
    return this.mark(this.paidDays.add(day));
  }

  /** Marks a day number of retention. Null where it was marked already, else the latest one before. */
  addActiveAge(age: number): { previous: number | null } | null {
    const previous = this.activeAges.last;
    return this.mark(this.activeAges.add(age)) ? { previous } : null;
  }

  /** Adds a funnel step; `at` in epoch milliseconds. */
  reach(step: string, at: number): void {
    this.reached.push({ step, second: Math.max(0, Math.floor(at / 1_000)) });
    if (this.steps || this.reached.length === MAX_PENDING) this.mergeSteps();
  }

  /** Adds revenue in micros; `age` is the number of days since the acquisition. */
  earn(kind: 'ad' | 'purchase', currency: string, age: number, micros: number): void {
    if (micros === 0) return;
    this.earned.push({ kind, currency, age, micros });
    if (this.revenue || this.earned.length === MAX_PENDING) this.mergeEarnings();
  }

  /** What is to be stored; null where nothing changed. */
  toState(): DeviceState | null {
    this.mergeSteps();
    this.mergeEarnings();
    if (!this.changed) return null;
    return {
      ...this.stored,
      activeDays: this.activeDays.toString(),
      activeAges: this.activeAges.toString(),
      paidDays: this.paidDays.toString(),
      steps: this.steps?.toString() ?? this.stored.steps,
      revenue: this.revenue?.toString() ?? this.stored.revenue,
    };
  }

  private mergeSteps(): void {
    if (this.reached.length === 0) return;
    this.steps ??= StepHistory.parse(this.stored.steps);
    for (const { step, second } of this.reached) this.mark(this.steps.add(step, second));
    this.reached.length = 0;
  }

  private mergeEarnings(): void {
    if (this.earned.length === 0) return;
    this.revenue ??= DeviceRevenue.parse(this.stored.revenue);
    for (const { kind, currency, age, micros } of this.earned) this.revenue.add(kind, currency, age, micros);
    this.earned.length = 0;
    this.changed = true;
  }

  private mark(isNew: boolean): boolean {
    this.changed ||= isNew;
    return isNew;
  }
}
