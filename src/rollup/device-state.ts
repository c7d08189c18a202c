import type { Segment } from '#catalogue';
import { DaySet } from '#lib/day-set';
import { bandOf, DeviceRevenue } from './device-revenue.ts';
import type { Earning, Journal } from './journal.ts';
import { StepHistory } from './step-history.ts';

/** What an event is counted with: of its device, as its counter stores it. */
export type DeviceFacts = {
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
};

/** What events only add to, as it is stored. */
export type DeviceHistory = {
  /** Its funnel steps: see `StepHistory`. */
  steps: string;
  /** What it earned: see `DeviceRevenue`. */
  revenue: string;
};

/** What counting remembers of a device. */
export type DeviceState = DeviceFacts & DeviceHistory;

export const deviceKey = (device: { applicationId: string; acquiredDay: string; id: string }) =>
  `${device.applicationId}/${device.acquiredDay}/${device.id}`;

/**
 * A device while a run of events is counted. A run keeps many of them, so each set of days is kept once: as text until a day is
 * added, then parsed. What is added to its steps and revenue waits in the journal of the run, and what they were is read only when all
 * of it is written. So a device and an event take as much however many days, steps and currencies a device has had.
 */
export class RunningDevice {
  readonly applicationId: string;
  readonly acquiredDay: string;
  readonly id: string;
  readonly test: boolean;
  readonly segment: Segment;
  /** The ids of its own segment, and of the one in which its last event was; kept here by whoever counts. */
  segmentIds: { cohort: number; event: number; appVersion: string } | null = null;
  private readonly journal: Journal;
  private activeDays: string | DaySet;
  private activeAges: string | DaySet;
  private paidDays: string | DaySet;
  /** Places in the journal; -1 as long as nothing was added. */
  private firstEntry = -1;
  private lastEntry = -1;
  private hasNewDays = false;
  private hasNewPaidDays = false;

  /** `journal` is the same one for all devices of a run. */
  constructor(stored: DeviceFacts, journal: Journal) {
    this.applicationId = stored.applicationId;
    this.acquiredDay = stored.acquiredDay;
    this.id = stored.id;
    this.test = stored.test;
    this.segment = stored.segment;
    this.activeDays = stored.activeDays;
    this.activeAges = stored.activeAges;
    this.paidDays = stored.paidDays;
    this.journal = journal;
  }

  /** Whether its days with a purchase are others than those that are stored. */
  get paidChanged(): boolean {
    return this.hasNewPaidDays;
  }

  /** Marks a calendar day; false where the device was active on it already. Throws where the stored days cannot be read. */
  addActiveDay(day: number): boolean {
    this.activeDays = parsed(this.activeDays);
    return this.mark(this.activeDays.add(day));
  }

  /** Marks a calendar day; false where the device paid on it already. Throws as above. */
  addPaidDay(day: number): boolean {
    this.paidDays = parsed(this.paidDays);
    const isNew = this.paidDays.add(day);
    this.hasNewPaidDays ||= isNew;
    return this.mark(isNew);
  }

  /** Marks a day number of retention. Null where it was marked already, else the latest one before. Throws as above. */
  addActiveAge(age: number): { previous: number | null } | null {
    this.activeAges = parsed(this.activeAges);
    const previous = this.activeAges.last;
    return this.mark(this.activeAges.add(age)) ? { previous } : null;
  }

  /** Adds a funnel step; `at` in epoch milliseconds. */
  reach(step: string, at: number): void {
    this.note(this.journal.addStep(this.lastEntry, step, Math.max(0, Math.floor(at / 1_000))));
  }

  /** Adds revenue in micros; `age` is the number of days since the acquisition. */
  earn(kind: Earning, currency: string, age: number, micros: number): void {
    if (micros === 0) return;
    this.note(this.journal.addEarning(this.lastEntry, kind, currency, bandOf(age), micros));
  }

  /**
   * As it is to be stored, and whether that is anything else than what is. `stored`: its history so far. Throws where something was
   * added to one that cannot be read.
   */
  toState(stored: DeviceHistory): { state: DeviceState; isChanged: boolean } {
    let [history, earned]: [StepHistory | null, DeviceRevenue | null] = [null, null];
    let hasNewSteps = false;
    this.journal.visit(
      this.firstEntry,
      (step, second) => {
        history ??= StepHistory.parse(stored.steps);
        if (history.add(step, second)) hasNewSteps = true;
      },
      (kind, currency, band, micros) => {
        earned ??= DeviceRevenue.parse(stored.revenue);
        earned.addToBand(kind, currency, band, micros);
      },
    );
    const { applicationId, acquiredDay, id, test, segment } = this;
    const state = {
      ...{ applicationId, acquiredDay, id, test, segment },
      activeDays: `${this.activeDays}`,
      activeAges: `${this.activeAges}`,
      paidDays: `${this.paidDays}`,
      steps: hasNewSteps ? `${history}` : stored.steps,
      revenue: earned === null ? stored.revenue : `${earned}`,
    };
    return { state, isChanged: this.hasNewDays || hasNewSteps || earned !== null };
  }

  private note(place: number): void {
    if (this.firstEntry < 0) this.firstEntry = place;
    this.lastEntry = place;
  }

  private mark(isNew: boolean): boolean {
    this.hasNewDays ||= isNew;
    return isNew;
  }
}

const parsed = (days: string | DaySet): DaySet => (typeof days === 'string' ? DaySet.parse(days) : days);
