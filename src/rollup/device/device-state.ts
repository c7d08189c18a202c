import { type OwnValues, ownValuesOf, type Segment } from '#catalogue';
import { DaySet } from '#lib/collections/day-set';
import { DayVersions, type VersionAt } from './day-versions.ts';
import { addRevenue, bandOf, type StoredRevenue } from './device-revenue.ts';
import type { Earning, Journal } from './journal.ts';
import { addLaunch, type Teller } from './launches.ts';
import type { StoredSteps } from './step-format.ts';
import { StepHistory } from './step-history.ts';

/** The part of a device's stored state that every event needs. */
export type DeviceFacts = {
  applicationId: string;
  acquiredDay: string;
  id: string;
  /** Created by an editor or a debug build. Nothing of it is counted. */
  test: boolean;
  /** Its segment at its acquisition. */
  segment: Segment;
  activeDays: string;
  activeAges: string;
  paidDays: string;
  /** Launches per day: see `addLaunch`. */
  launches: string;
  /** The versions of its last active days and of its last days with a purchase: see `DayVersions`. */
  activeVersions: string;
  paidVersions: string;
};

/** The part of a device's stored state that events only add to. */
export type DeviceHistory = {
  /** Its funnel steps: see `StepHistory`. */
  steps: StoredSteps;
  revenue: StoredRevenue;
};

/** A device's state, as stored by its counter. */
export type DeviceState = DeviceFacts & DeviceHistory;

/**
 * A device during a run. A run keeps many of them, so each list of days exists only once: as text until a day is added, then parsed. Additions to
 * steps and revenue wait in the run's journal, and the stored ones are read only when everything is written. A device and an event thus take the
 * same resources however many days, steps and currencies a device has had.
 */
export class RunningDevice {
  readonly applicationId: string;
  readonly acquiredDay: string;
  readonly id: string;
  readonly test: boolean;
  readonly segment: Segment;
  /** Its own segment and its last event's, as numbers of the run's `KeyValues`. Maintained by the tally. */
  segments: { cohort: number; event: number; own: OwnValues } | null = null;
  private readonly journal: Journal;
  private activeDays: string | DaySet;
  private activeAges: string | DaySet;
  private paidDays: string | DaySet;
  private launches: string;
  private activeVersions: string | DayVersions;
  private paidVersions: string | DayVersions;
  /** Positions in the journal; -1 as long as nothing was added. */
  private firstEntry = -1;
  private lastEntry = -1;
  private hasNewFacts = false;

  /** All devices of a run share one `journal`. */
  constructor(stored: DeviceFacts, journal: Journal) {
    this.applicationId = stored.applicationId;
    this.acquiredDay = stored.acquiredDay;
    this.id = stored.id;
    this.test = stored.test;
    this.segment = stored.segment;
    this.activeDays = stored.activeDays;
    this.activeAges = stored.activeAges;
    this.paidDays = stored.paidDays;
    this.launches = stored.launches;
    this.activeVersions = stored.activeVersions;
    this.paidVersions = stored.paidVersions;
    this.journal = journal;
  }

  /** Whether an event added anything to it, even if that is known already. */
  get isTouched(): boolean {
    return this.hasNewFacts || this.firstEntry >= 0;
  }

  /**
   * Marks a calendar day as active, under the versions of an event. Returns what changed: see `DayVersions.add`. Throws if what is stored
   * cannot be parsed.
   */
  addActiveDay(day: number, at: VersionAt): { former: OwnValues | null } | null {
    this.activeDays = parsed(this.activeDays);
    this.activeVersions = parsedVersions(this.activeVersions);
    return this.markAdded(this.activeVersions.add(day, at, this.activeDays.add(day)));
  }

  /** Marks a calendar day as paid, like `addActiveDay`. */
  addPaidDay(day: number, at: VersionAt): { former: OwnValues | null } | null {
    this.paidDays = parsed(this.paidDays);
    this.paidVersions = parsedVersions(this.paidVersions);
    return this.markAdded(this.paidVersions.add(day, at, this.paidDays.add(day)));
  }

  /** Marks a retention day number. Returns null if it was already marked, otherwise the latest earlier one. Throws like `addActiveDay`. */
  addActiveAge(age: number): { previous: number | null } | null {
    this.activeAges = parsed(this.activeAges);
    const previous = this.activeAges.last;
    return this.markAdded(this.activeAges.add(age) ? { previous } : null);
  }

  /** Adds a launch on a calendar day. Returns whether it is new: see `addLaunch`, which throws if the stored launches cannot be parsed. */
  addLaunch(day: number, teller: Teller): boolean {
    const { launches, isNew } = addLaunch(this.launches, day, teller);
    this.mark(launches !== this.launches);
    this.launches = launches;
    return isNew;
  }

  /** What the device told itself last on or before a calendar day, if that is still known, or else at its acquisition. Throws like `addActiveDay`. */
  ownValuesOn(day: number): OwnValues {
    this.activeVersions = parsedVersions(this.activeVersions);
    return this.activeVersions.until(day) ?? ownValuesOf({}, this.segment);
  }

  /** Adds a funnel step; `at` is in epoch milliseconds. */
  reach(step: string, at: number): void {
    this.note(this.journal.addStep(this.lastEntry, 'added', step, secondOf(at)));
  }

  /** Takes back a step that `reach` added at this time. */
  unreach(step: string, at: number): void {
    this.note(this.journal.addStep(this.lastEntry, 'removed', step, secondOf(at)));
  }

  /** Adds revenue in nanos, or what was refunded of it; `age` is the number of days from the acquisition to the purchase. */
  earn(kind: Earning, currency: string, age: number, nanos: number): void {
    if (nanos === 0) return;
    this.note(this.journal.addEarning(this.lastEntry, kind, currency, bandOf(age), nanos));
  }

  /**
   * The state to store, and whether it changed. `stored` is its history so far, to whose revenue this adds. Throws if something was added to a
   * history that cannot be read.
   */
  toState(stored: DeviceHistory): { state: DeviceState; isChanged: boolean } {
    const own: { steps: StepHistory | null; revenue: StoredRevenue } = {
      steps: null,
      revenue: stored.revenue,
    };
    let [hasNewSteps, hasNewRevenue] = [false, false];
    this.journal.visit(
      this.firstEntry,
      (change, step, second) => {
        own.steps ??= StepHistory.read(stored.steps);
        const isNew = change === 'added' ? own.steps.add(step, second) : own.steps.remove(step, second);
        if (isNew) hasNewSteps = true;
      },
      (kind, currency, band, nanos) => {
        own.revenue ??= {};
        addRevenue(own.revenue, kind, currency, band, nanos);
        hasNewRevenue = true;
      },
    );
    const { applicationId, acquiredDay, id, test, segment } = this;
    const state = {
      ...{ applicationId, acquiredDay, id, test, segment },
      activeDays: `${this.activeDays}`,
      activeAges: `${this.activeAges}`,
      paidDays: `${this.paidDays}`,
      launches: this.launches,
      activeVersions: `${this.activeVersions}`,
      paidVersions: `${this.paidVersions}`,
      steps: own.steps && hasNewSteps ? own.steps.toStored() : stored.steps,
      revenue: own.revenue,
    };
    return { state, isChanged: this.hasNewFacts || hasNewSteps || hasNewRevenue };
  }

  private note(place: number): void {
    if (this.firstEntry < 0) this.firstEntry = place;
    this.lastEntry = place;
  }

  private markAdded<Added>(added: Added | null): Added | null {
    this.mark(added !== null);
    return added;
  }

  private mark(isNew: boolean): boolean {
    this.hasNewFacts ||= isNew;
    return isNew;
  }
}

const secondOf = (at: number) => Math.max(0, Math.floor(at / 1_000));
const parsed = (days: string | DaySet): DaySet => (typeof days === 'string' ? DaySet.parse(days) : days);
const parsedVersions = (days: string | DayVersions): DayVersions =>
  typeof days === 'string' ? new DayVersions(days) : days;
