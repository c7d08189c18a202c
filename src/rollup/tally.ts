import type { SegmentBook } from '#catalogue';
import { daysBetween } from '#lib/time';
import { type DeviceState, deviceKey, RunningDevice } from './device-state.ts';
import { type DeviceEvent, isOfDevice, type LoggedEvent } from './event.ts';
import { type EventKey, keysOf, scopedKey, sessionEndKey, sessionKey } from './keys.ts';
import { EVENT_STEP } from './step-history.ts';
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
  /** Devices of which something changed, as they are now. */
  devices: DeviceState[];
  keys: { applicationId: string; day: number; key: string; eventId: string }[];
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
  if (event.type === 'install' || revokedAt === undefined || event.received_at < revokedAt) return null;
  return 'sent with a revoked token';
}

/**
 * Counts events into the rollups: the one place that says what each event means for each metric.
 * Pure; the result depends on the order of the events only where the contract lets it (which of two repeats counts, and which
 * steps a device keeps of more than there is room for). Events of erased devices and those with a `reasonToIgnore` count in
 * nothing, change no device and take no key. A refund is activity of its device and nothing else: no purchase, no money.
 */
export function tally(events: Iterable<LoggedEvent>, known: Known): Counted {
  const run = startTally(known);
  for (const event of events) run.count(event);
  run.counted.devices.push(...run.changedDevices());
  return run.counted;
}

/** A tally that is fed event by event. */
export type Tally = {
  /** What was added up so far, without the devices. */
  readonly counted: Counted;
  /** False for an event that counts in nothing: a repeat, one of an erased device, one with a `reasonToIgnore`. */
  count(event: LoggedEvent): boolean;
  /** What changed of devices, one after the other. */
  changedDevices(): Generator<DeviceState>;
};

/**
 * Starts a `tally` of which whoever feeds it decides when it is large enough. `known` may grow meanwhile: it has to hold what
 * concerns an event when that event is counted. After `count` has thrown, what was added up is of no use.
 */
export function startTally(known: Known): Tally {
  const counted: Counted = {
    daily: new Additions('rollup_daily'),
    ads: new Additions('rollup_ads'),
    items: new Additions('rollup_items'),
    custom: new Additions('rollup_custom'),
    activity: new Additions('cohort_activity'),
    revenue: new Additions('cohort_revenue'),
    devices: [],
    keys: [],
  };
  const isFirst = firstOfKeys(known, counted);
  const running = new Map<DeviceState, RunningDevice>();
  const count = (event: LoggedEvent): boolean => {
    if (!isOfDevice(event)) {
      const { application_id, day, creative_id, country = '', os_family = '' } = event;
      const segment = known.segments.idOf({ country, os: os_family, appVersion: '' });
      counted.daily.add({ application_id, day, creative_id, currency: '' }, segment, { clicks: 1 });
      return true;
    }
    const stored = known.devices.get(deviceKeyOf(event));
    if (!stored || reasonToIgnore(event, stored, known.revokedTokens.get(event.token_id ?? ''))) return false;
    if (!isFirst(event, keysOf(event))) return false;
    let device = running.get(stored);
    if (!device) {
      device = new RunningDevice(stored);
      running.set(stored, device);
    }
    const key = {
      application_id: event.application_id,
      day: event.day,
      creative_id: event.creative_id ?? '',
    };
    const { segment } = stored;
    const appVersion = event.device?.app_version ?? segment.appVersion;
    const segments = {
      event: known.segments.idOf({ ...segment, appVersion }),
      cohort: known.segments.idOf(segment),
    };
    countEvent(event, key, segments, device, counted, isFirst);
    countActivity(event, key, segments, device, counted);
    const step = funnelStep(event);
    if (step !== null) device.reach(step, event.occurred_at);
    return true;
  };
  const changedDevices = function* () {
    for (const device of running.values()) {
      const state = device.toState();
      if (state) yield state;
    }
  };
  return { counted, count, changedDevices };
}

type IsFirst = (event: DeviceEvent, keys: readonly EventKey[]) => boolean;

/** Answers whether none of these keys has been seen, and remembers them all for the event, or for the one that it repeats. */
function firstOfKeys(known: Known, counted: Counted): IsFirst {
  const taken = new Map<string, string>();
  const counterpart = (name: string) => known.keys.get(name) ?? taken.get(name);
  return (event, keys) => {
    const applicationId = event.application_id;
    const names = keys.map(({ key, days }) => days.map((day) => scopedKey(applicationId, day, key)));
    const first = names
      .flat()
      .map(counterpart)
      .find((id) => id !== undefined);
    for (const [index, { key, days }] of keys.entries()) {
      const name = names[index]?.[0] ?? '';
      if (counterpart(name) !== undefined) continue;
      // A repeat's other keys have been seen too: they stand for the event that it repeats.
      const eventId = first ?? event.id;
      taken.set(name, eventId);
      counted.keys.push({ applicationId, day: days[0], key, eventId });
    }
    return first === undefined;
  };
}

type DayKey = { application_id: string; day: string; creative_id: string };
/** The segment of the event itself, and that of its device at its acquisition, by which cohorts are told apart. */
type Segments = { event: number; cohort: number };

function countEvent(
  event: DeviceEvent,
  key: DayKey,
  segments: Segments,
  device: RunningDevice,
  { daily, ads, items, custom, revenue }: Counted,
  isFirst: IsFirst,
): void {
  const cohort = { ...key, acquired_day: event.acquired_day };
  switch (event.type) {
    case 'install':
      daily.add({ ...key, currency: '' }, segments.event, { installs: 1 });
      break;
    case 'retention': {
      const [session, end] = [sessionKey(event), sessionEndKey(event)];
      // An end whose start got lost is still a session. Without an id nothing pairs the two, so the start alone is one.
      const isSession = session ? isFirst(event, [session]) : !event.session_end;
      const seconds = !end || isFirst(event, [end]) ? (event.session_end && event.session_seconds) || 0 : 0;
      if (!isSession && seconds === 0) break;
      daily.add({ ...key, currency: '' }, segments.event, {
        sessions: isSession ? 1 : 0,
        session_seconds: seconds,
      });
      break;
    }
    case 'custom.purchase': {
      const { currency, item_id } = event;
      if (event.status === 'refunded') break;
      const amounts =
        event.status === 'failed'
          ? { failed_purchases: 1 }
          : { purchases: 1, purchase_revenue: event.value_micros };
      daily.add({ ...key, currency }, segments.event, amounts);
      items.add({ ...key, currency, item_id }, segments.event, amounts);
      if (event.status === 'failed') break;
      revenue.add({ ...cohort, currency }, segments.cohort, { purchase_revenue: event.value_micros });
      const age = daysBetween(event.acquired_day, event.day);
      device.earn('purchase', currency, age, event.value_micros);
      if (device.addPaidDay(age)) {
        daily.add({ ...key, currency: '' }, segments.event, { payers: 1 });
      }
      break;
    }
    case 'custom.ad': {
      const { currency, source, media_source = '', ad_id: placement } = event;
      const amounts = { impressions: 1, ad_revenue: event.value_micros };
      daily.add({ ...key, currency }, segments.event, amounts);
      ads.add({ ...key, currency, source, media_source, placement }, segments.event, amounts);
      revenue.add({ ...cohort, currency }, segments.cohort, { ad_revenue: event.value_micros });
      device.earn('ad', currency, daysBetween(event.acquired_day, event.day), event.value_micros);
      break;
    }
    case 'custom': {
      const requests = event.ad_requests;
      daily.add({ ...key, currency: '' }, segments.event, {
        custom_events: 1,
        ad_requests: requests?.count ?? 0,
      });
      custom.add({ ...key, event_name: event.event_name }, segments.event, { custom_events: 1 });
      if (!requests) break;
      const { source, placement, count } = requests;
      ads.add({ ...key, currency: '', source, media_source: '', placement }, segments.event, {
        ad_requests: count,
      });
    }
  }
}

/** A device is active on the day of any of its events, its acquisition included. */
function countActivity(
  event: DeviceEvent,
  key: DayKey,
  segments: Segments,
  device: RunningDevice,
  { daily, activity }: Counted,
): void {
  const day = daysBetween(event.acquired_day, event.day);
  if (device.addActiveDay(day)) daily.add({ ...key, currency: '' }, segments.event, { active_devices: 1 });
  // A backend may send what happened before the acquisition that it reported: that is still its day 0.
  const age = event.type === 'retention' ? event.age : Math.max(0, day);
  const added = device.addActiveAge(age);
  if (!added) return;
  const cohort = {
    application_id: key.application_id,
    acquired_day: event.acquired_day,
    creative_id: key.creative_id,
  };
  const { previous } = added;
  activity.add({ ...cohort, age }, segments.cohort, { active_devices: 1 });
  if (previous !== null && previous > age) return;
  if (previous !== null)
    activity.add({ ...cohort, age: previous }, segments.cohort, { last_active_devices: -1 });
  activity.add({ ...cohort, age }, segments.cohort, { last_active_devices: 1 });
}

/** The funnel step that an event is; a purchase that failed or was refunded is none. */
export function funnelStep(event: DeviceEvent): string | null {
  switch (event.type) {
    case 'install':
      return 'install';
    case 'retention':
      return 'retention';
    case 'custom.purchase':
      return event.status === 'failed' || event.status === 'refunded' ? null : 'purchase';
    case 'custom.ad':
      return 'ad';
    case 'custom':
      return `${EVENT_STEP}${event.event_name}`;
  }
}
