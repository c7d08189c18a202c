import type { Segment } from '#catalogue';
import { DaySet } from '#lib/day-set';

/** A device keeps the first times of this many funnel steps: more event names count as events, but are no steps. */
export const MAX_FUNNEL_STEPS = 200;
/** What the steps of custom events begin with; the others always have room. */
export const EVENT_STEP = 'event:';
const OTHER_STEPS = ['install', 'retention', 'purchase', 'ad'];
const MAX_EVENT_STEPS = MAX_FUNNEL_STEPS - OTHER_STEPS.length;

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
  /** JSON: funnel step → epoch milliseconds of its first time. */
  milestones: string;
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
  private readonly milestones: Map<string, number>;
  private eventSteps: number;
  private changed = false;

  /** Throws where the stored state cannot be read. */
  constructor(stored: DeviceState) {
    this.stored = stored;
    this.activeDays = DaySet.parse(stored.activeDays);
    this.activeAges = DaySet.parse(stored.activeAges);
    this.paidDays = DaySet.parse(stored.paidDays);
    this.milestones = new Map(Object.entries<number>(JSON.parse(stored.milestones)));
    this.eventSteps = [...this.milestones.keys()].filter((step) => step.startsWith(EVENT_STEP)).length;
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

  /** Keeps the earliest time of a funnel step; of more steps than there is room for, those that were counted first. */
  reach(step: string, at: number): void {
    const known = this.milestones.get(step);
    if (known !== undefined && known <= at) return;
    if (known === undefined && step.startsWith(EVENT_STEP)) {
      if (this.eventSteps >= MAX_EVENT_STEPS) return;
      this.eventSteps++;
    }
    this.milestones.set(step, at);
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
      milestones: JSON.stringify(Object.fromEntries(this.milestones)),
    };
  }

  private mark(isNew: boolean): boolean {
    this.changed ||= isNew;
    return isNew;
  }
}
