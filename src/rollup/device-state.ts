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

/**
 * A device while a run of events is counted. Parsed once per run and changed in place, so that an event takes the same work
 * however many days and steps its device has had.
 */
export class RunningDevice {
  private readonly stored: DeviceState;
  private readonly activeDays: DaySet;
  private readonly activeAges: DaySet;
  private readonly paidDays: DaySet;
  private readonly steps: StepHistory;
  /** Most events earn nothing: it is read when one does. */
  private revenue: DeviceRevenue | null = null;
  private changed = false;

  /** Throws where the stored state cannot be read. */
  constructor(stored: DeviceState) {
    this.stored = stored;
    this.activeDays = DaySet.parse(stored.activeDays);
    this.activeAges = DaySet.parse(stored.activeAges);
    this.paidDays = DaySet.parse(stored.paidDays);
    this.steps = StepHistory.parse(stored.steps);
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
    this.mark(this.steps.add(step, Math.max(0, Math.floor(at / 1_000))));
  }

  /** Adds revenue in micros; `age` is the number of days since the acquisition. */
  earn(kind: 'ad' | 'purchase', currency: string, age: number, micros: number): void {
    if (micros === 0) return;
    this.revenue ??= DeviceRevenue.parse(this.stored.revenue);
    this.revenue.add(kind, currency, age, micros);
    this.changed = true;
  }

  /** What is to be stored; null where nothing changed. */
  toState(): DeviceState | null {
    if (!this.changed) return null;
    return {
      ...this.stored,
      activeDays: this.activeDays.toString(),
      activeAges: this.activeAges.toString(),
      paidDays: this.paidDays.toString(),
      steps: this.steps.toString(),
      revenue: this.revenue?.toString() ?? this.stored.revenue,
    };
  }

  private mark(isNew: boolean): boolean {
    this.changed ||= isNew;
    return isNew;
  }
}
