import {
  type Amounts,
  type DeviceEvent,
  type EventKind,
  isOfDevice,
  isSent,
  kindOf,
  type LoggedEvent,
  type Rollups,
  type SegmentBook,
  UNKNOWN_SEGMENT,
} from '#catalogue';
import { daysBetween } from '#lib/time';
import { type DeviceState, deviceKey, RunningDevice } from './device-state.ts';
import { Journal } from './journal.ts';
import { KeyValues } from './key-values.ts';
import { type EventKey, keysOf, partKey, scopedKey } from './keys.ts';
import { Additions } from './tables.ts';

/** What is known before a run of events is counted. */
export type Known = {
  /** By `deviceKey`: one object per device, however often it is asked for. A device that is missing here was erased. */
  devices: Pick<ReadonlyMap<string, DeviceState>, 'get'>;
  /** By `scopedKey`: the event that was counted under it. */
  keys: Pick<ReadonlyMap<string, string>, 'get'>;
  /** By token id: when it was revoked, epoch milliseconds. Other tokens are missing. */
  revokedTokens: ReadonlyMap<string, number>;
  segments: SegmentBook;
};

/** What counting a run of events changes. */
export type Counted = {
  daily: Additions<'rollup_daily'>;
  ads: Additions<'rollup_ads'>;
  items: Additions<'rollup_items'>;
  custom: Additions<'rollup_custom'>;
  activity: Additions<'cohort_activity'>;
  revenue: Additions<'cohort_revenue'>;
  /** Of the keys of all of these. */
  values: KeyValues;
};

export const deviceKeyOf = (event: DeviceEvent) =>
  deviceKey({ applicationId: event.application_id, acquiredDay: event.acquired_day, id: event.device_id });

export type IgnoredReason = 'test event' | 'sent with a revoked token';

/**
 * Why an event that was taken is counted nowhere; null where it counts. A token ends what is received from its revocation on;
 * the install that it was given out for happened all the same. `revokedAt`: epoch milliseconds.
 */
export function reasonToIgnore(
  event: DeviceEvent,
  device: { test: boolean },
  revokedAt: number | undefined,
): IgnoredReason | null {
  if (event.test || device.test) return 'test event';
  if (revokedAt === undefined || event.received_at < revokedAt || !isSent(event)) return null;
  return 'sent with a revoked token';
}

/**
 * Counts events into the rollups: the catalogue says what each kind adds, this what holds for all of them.
 * Pure; the result depends on the order of the events only where the contract lets it (which of two repeats counts, and which
 * steps a device keeps of more than there is room for). Events of erased devices and those with a `reasonToIgnore` count in
 * nothing, change no device and take no key. A refund is activity of its device and nothing else: no purchase, no money.
 */
export function tally(
  events: Iterable<LoggedEvent>,
  { devices, keys, ...known }: Known,
): Counted & { devices: DeviceState[]; keys: Omit<TakenKey, 'name'>[] } {
  const taken = new Map<string, Omit<TakenKey, 'name'>>();
  const seen: SeenKeys = {
    eventOf: (name) => keys.get(name) ?? taken.get(name)?.eventId,
    take: ({ name, ...key }) => taken.set(name, key),
  };
  const journal = new Journal();
  const running = new Map<string, { stored: DeviceState; device: RunningDevice }>();
  const deviceOf = (event: DeviceEvent) => {
    const key = deviceKeyOf(event);
    const stored = devices.get(key);
    if (stored && !running.has(key)) running.set(key, { stored, device: new RunningDevice(stored, journal) });
    return running.get(key)?.device;
  };
  const run = startTally({ ...known, keys: seen, deviceOf });
  for (const event of events) run.count(event);
  const after = [...running.values()].map(({ stored, device }) => device.toState(stored));
  return {
    ...run.counted,
    devices: after.flatMap(({ state, isChanged }) => (isChanged ? [state] : [])),
    keys: [...taken.values()],
  };
}

/** What is known when an event is counted: it may be found then, and grow from event to event. */
export type KnownSoFar = Omit<Known, 'devices' | 'keys'> & {
  /** Of keys, by `scopedKey`. */
  keys: SeenKeys;
  /** Where the event is counted too. A device that is missing was erased. */
  deviceOf: (event: DeviceEvent) => RunningDevice | undefined;
};

/** The keys that were seen, before a run and in it. */
export type SeenKeys = {
  /** The event that was counted under a key (`scopedKey`); undefined for a key that was not seen. */
  eventOf(name: string): string | undefined;
  /** Remembers a key that was not seen. */
  take(key: TakenKey): void;
};
export type TakenKey = { name: string; applicationId: string; day: number; key: string; eventId: string };

/** A tally that is fed event by event. */
export type Tally = {
  /** What was added up so far; what changed of devices stands with them. */
  readonly counted: Counted;
  /** False for an event that counts in nothing: a repeat, one of an erased device, one with a `reasonToIgnore`. */
  count(event: LoggedEvent): boolean;
};

/**
 * Starts a `tally` of which whoever feeds it decides when it is large enough. After `count` has thrown, what was added up is of
 * no use.
 */
export function startTally(known: KnownSoFar): Tally {
  const values = new KeyValues();
  const counted: Counted = {
    daily: new Additions('rollup_daily', values),
    ads: new Additions('rollup_ads', values),
    items: new Additions('rollup_items', values),
    custom: new Additions('rollup_custom', values),
    activity: new Additions('cohort_activity', values),
    revenue: new Additions('cohort_revenue', values),
    values,
  };
  const isFirst = firstOfKeys(known.keys);
  const adding = new AddingUp(counted, isFirst);
  const count = (event: LoggedEvent): boolean => {
    const kind = kindOf(event);
    if (!isOfDevice(event)) {
      // Of an event of a creative, what says the segment stands in the event itself.
      const segment = known.segments.idOf(kind.segmentOf?.(event) ?? UNKNOWN_SEGMENT);
      adding.begin(event, event.creative_id, { event: segment, cohort: segment }, null);
      kind.count(event, adding);
      return true;
    }
    const device = known.deviceOf(event);
    if (!device || reasonToIgnore(event, device, known.revokedTokens.get(event.token_id ?? ''))) return false;
    if (!isFirst(event, keysOf(event))) return false;
    const segments = segmentsOf(event, device, known.segments);
    adding.begin(event, event.creative_id ?? '', segments, { event, device });
    kind.count(event, adding);
    adding.addActivity(kind);
    const step = kind.stepOf(event);
    if (step !== null) device.reach(step, event.occurred_at);
    return true;
  };
  return { counted, count };
}

/** Most events of a device are of one segment, so their ids are kept with it. */
function segmentsOf(event: DeviceEvent, device: RunningDevice, book: SegmentBook): Segments {
  const { segment } = device;
  const appVersion = event.device?.app_version ?? segment.appVersion;
  const known = device.segmentIds;
  if (known?.appVersion === appVersion) return known;
  const own = book.idOf({ ...segment, appVersion });
  device.segmentIds = { event: own, cohort: known?.cohort ?? book.idOf(segment), appVersion };
  return device.segmentIds;
}

type IsFirst = (event: DeviceEvent, keys: readonly EventKey[]) => boolean;

/** Answers whether none of these keys has been seen, and remembers them all for the event, or for the one that it repeats. */
function firstOfKeys(seen: SeenKeys): IsFirst {
  return (event, keys) => {
    if (keys.length === 0) return true;
    const applicationId = event.application_id;
    const names = keys.map(({ key, days }) => days.map((day) => scopedKey(applicationId, day, key)));
    let first: string | undefined;
    for (const name of names.flat()) first ??= seen.eventOf(name);
    for (const [index, { key, days }] of keys.entries()) {
      const name = names[index]?.[0] ?? '';
      if (seen.eventOf(name) !== undefined) continue;
      // A repeat's other keys have been seen too: they stand for the event that it repeats.
      seen.take({ name, applicationId, day: days[0], key, eventId: first ?? event.id });
    }
    return first === undefined;
  };
}

type DayKey = { application_id: string; day: string; creative_id: string };
/** The segment of the event itself, and that of its device at its acquisition, by which cohorts are told apart. */
type Segments = { event: number; cohort: number };

/** Adds one event after the other to the rows that are its own: one object for a run, so that an event costs none. */
class AddingUp implements Rollups {
  private readonly counted: Counted;
  private readonly isFirstOfKeys: IsFirst;
  private key: DayKey = { application_id: '', day: '', creative_id: '' };
  private segments: Segments = { event: 0, cohort: 0 };
  /** Null for an event of a creative. */
  private of: { event: DeviceEvent; device: RunningDevice } | null = null;

  constructor(counted: Counted, isFirst: IsFirst) {
    this.counted = counted;
    this.isFirstOfKeys = isFirst;
  }

  /** What is added from now on is this event's. `creativeId`: empty for an organic device. */
  begin(event: LoggedEvent, creativeId: string, segments: Segments, of: AddingUp['of']): void {
    this.key = { application_id: event.application_id, day: event.day, creative_id: creativeId };
    this.segments = segments;
    this.of = of;
  }

  addDaily(amounts: Amounts<'rollup_daily'>, currency = ''): void {
    this.counted.daily.add({ ...this.key, currency }, this.segments.event, amounts);
  }

  addAds(by: Parameters<Rollups['addAds']>[0], amounts: Amounts<'rollup_ads'>): void {
    this.counted.ads.add({ ...this.key, ...by }, this.segments.event, amounts);
  }

  addItem(by: Parameters<Rollups['addItem']>[0], amounts: Amounts<'rollup_items'>): void {
    this.counted.items.add({ ...this.key, ...by }, this.segments.event, amounts);
  }

  addCustom(event_name: string, amounts: Amounts<'rollup_custom'>): void {
    this.counted.custom.add({ ...this.key, event_name }, this.segments.event, amounts);
  }

  addRevenue(currency: string, amounts: Amounts<'cohort_revenue'>): void {
    const { event, device } = this.ofDevice();
    const { acquired_day } = event;
    const age = daysBetween(acquired_day, event.day);
    device.earn('ad', currency, age, amounts.ad_revenue ?? 0);
    device.earn('purchase', currency, age, amounts.purchase_revenue ?? 0);
    this.counted.revenue.add({ ...this.key, acquired_day, currency }, this.segments.cohort, amounts);
  }

  addPayer(): void {
    const { event, device } = this.ofDevice();
    if (device.addPaidDay(daysBetween(event.acquired_day, event.day))) this.addDaily({ payers: 1 });
  }

  isFirst(key: string): boolean {
    return this.isFirstOfKeys(this.ofDevice().event, [partKey(key)]);
  }

  /** A device is active on the day of any of its events, its acquisition included. */
  addActivity(kind: EventKind<LoggedEvent>): void {
    const { event, device } = this.ofDevice();
    const day = daysBetween(event.acquired_day, event.day);
    if (device.addActiveDay(day)) this.addDaily({ active_devices: 1 });
    // A backend may send what happened before the acquisition that it reported: that is still its day 0.
    const age = kind.ageOf ? kind.ageOf(event) : Math.max(0, day);
    const added = device.addActiveAge(age);
    if (!added) return;
    const { activity } = this.counted;
    const { application_id, creative_id } = this.key;
    const cohort = { application_id, acquired_day: event.acquired_day, creative_id };
    const { previous } = added;
    const segment = this.segments.cohort;
    activity.add({ ...cohort, age }, segment, { active_devices: 1 });
    if (previous !== null && previous > age) return;
    if (previous !== null) activity.add({ ...cohort, age: previous }, segment, { last_active_devices: -1 });
    activity.add({ ...cohort, age }, segment, { last_active_devices: 1 });
  }

  private ofDevice(): { event: DeviceEvent; device: RunningDevice } {
    if (!this.of) throw new Error('The event is of no device');
    return this.of;
  }
}
