import { addDay, type DaySet, hasDay, lastDay } from '#lib/day-set';
import { daysBetween } from '#lib/time';
import { type DeviceEvent, isOfDevice, type LoggedEvent } from './event.ts';
import { Additions } from './tables.ts';

/** What the fold remembers of a device: its row in `devices`. */
export type DeviceState = {
  applicationId: string;
  acquiredDay: string;
  id: string;
  activeDays: DaySet;
  activeAges: DaySet;
  paidDays: DaySet;
  /** Funnel step → epoch milliseconds of its first time. */
  milestones: Record<string, number>;
};

/** What is known before a run of events is counted. */
export type Known = {
  /** By `deviceKey`. A device that is missing here was erased. */
  devices: Pick<ReadonlyMap<string, DeviceState>, 'get'>;
  /** By `scopedKey`: the event that was counted under it. */
  keys: Pick<ReadonlyMap<string, string>, 'get'>;
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
  devices: Map<string, DeviceState>;
  keys: { applicationId: string; day: number; key: string; eventId: string }[];
};

export const deviceKey = (device: { applicationId: string; acquiredDay: string; id: string }) =>
  `${device.applicationId}/${device.acquiredDay}/${device.id}`;

export const deviceKeyOf = (event: DeviceEvent) =>
  deviceKey({ applicationId: event.application_id, acquiredDay: event.acquired_day, id: event.device_id });

export const scopedKey = (applicationId: string, day: number, key: string) =>
  `${applicationId}/${day}/${key}`;

/** The day of keys that match whenever they come. */
const ANY_DAY = 0;

/** Under what an event is remembered (`days[0]`), and the days on which an earlier event under that key makes it a repeat. */
export type EventKey = { key: string; days: readonly [number, ...number[]] };

/** The keys of an event: a purchase's match whenever they come, any other's on the day of its `created_at` and its neighbours. */
export function keysOf(event: DeviceEvent): EventKey[] {
  const day = event.key_day ?? ANY_DAY;
  const days: EventKey['days'] =
    event.type === 'custom.purchase' || day === ANY_DAY ? [ANY_DAY] : [day, day - 1, day + 1];
  return (event.keys ?? []).map((key) => ({ key, days }));
}

/** Repeats of one `session_id` by one device are one session, and its ends are one end. */
export function sessionKey(event: DeviceEvent): EventKey | undefined {
  if (event.type !== 'retention' || !event.session_id) return undefined;
  return { key: `s:${event.device_id}:${event.session_id}`, days: [ANY_DAY] };
}

/**
 * Counts events into the rollups: the one place that says what each event means for each metric.
 * Pure; the result depends on the order of the events only where the contract lets it (which of two repeats counts).
 */
export function tally(events: Iterable<LoggedEvent>, known: Known): Counted {
  const run = startTally(known);
  for (const event of events) run.count(event);
  return run.counted;
}

/**
 * A tally that is fed event by event, so that whoever feeds it decides when it is large enough. `known` may grow meanwhile: it
 * has to hold what concerns an event when that event is counted. `count` answers whether the event counted: false for a repeat,
 * a test event, and one of an unknown device.
 */
export function startTally(known: Known): { counted: Counted; count: (event: LoggedEvent) => boolean } {
  const counted: Counted = {
    daily: new Additions('rollup_daily'),
    ads: new Additions('rollup_ads'),
    items: new Additions('rollup_items'),
    custom: new Additions('rollup_custom'),
    activity: new Additions('cohort_activity'),
    revenue: new Additions('cohort_revenue'),
    devices: new Map(),
    keys: [],
  };
  const taken = new Map<string, string>();
  const isFirst = (event: DeviceEvent, keys: readonly EventKey[]) => {
    const applicationId = event.application_id;
    const counterpart = (name: string) => known.keys.get(name) ?? taken.get(name);
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
  const count = (event: LoggedEvent) => {
    if (!isOfDevice(event)) {
      const { application_id, day, creative_id } = event;
      counted.daily.add({ application_id, day, creative_id, currency: '' }, { clicks: 1 });
      return true;
    }
    const device = counted.devices.get(deviceKeyOf(event)) ?? known.devices.get(deviceKeyOf(event));
    if (!device || event.test || !isFirst(event, keysOf(event))) return false;
    const changed = { ...device };
    const key = {
      application_id: event.application_id,
      day: event.day,
      creative_id: event.creative_id ?? '',
    };
    const session = sessionKey(event);
    countEvent(event, key, changed, counted, () => !session || isFirst(event, [session]));
    countActivity(event, key, changed, counted);
    reachMilestone(event, changed);
    if (!sameState(device, changed)) counted.devices.set(deviceKeyOf(event), changed);
    return true;
  };
  return { counted, count };
}

type DayKey = { application_id: string; day: string; creative_id: string };

function countEvent(
  event: DeviceEvent,
  key: DayKey,
  device: DeviceState,
  { daily, ads, items, custom, revenue }: Counted,
  isNewSession: () => boolean,
): void {
  const cohort = { ...key, acquired_day: event.acquired_day };
  switch (event.type) {
    case 'install':
      daily.add({ ...key, currency: '' }, { installs: 1 });
      break;
    case 'retention':
      if (isNewSession()) daily.add({ ...key, currency: '' }, { sessions: 1 });
      break;
    case 'custom.purchase': {
      const { currency, item_id } = event;
      const amounts =
        event.status === 'failed'
          ? { failed_purchases: 1 }
          : { purchases: 1, purchase_revenue: event.value_micros };
      daily.add({ ...key, currency }, amounts);
      items.add({ ...key, currency, item_id }, amounts);
      if (event.status === 'failed') break;
      revenue.add({ ...cohort, currency }, { purchase_revenue: event.value_micros });
      const paidDay = daysBetween(event.acquired_day, event.day);
      if (hasDay(device.paidDays, paidDay)) break;
      device.paidDays = addDay(device.paidDays, paidDay);
      daily.add({ ...key, currency: '' }, { payers: 1 });
      break;
    }
    case 'custom.ad': {
      const { currency, source, media_source = '', ad_id: placement } = event;
      const amounts = { impressions: 1, ad_revenue: event.value_micros };
      daily.add({ ...key, currency }, amounts);
      ads.add({ ...key, currency, source, media_source, placement }, amounts);
      revenue.add({ ...cohort, currency }, { ad_revenue: event.value_micros });
      break;
    }
    case 'custom': {
      const requests = event.ad_requests;
      daily.add({ ...key, currency: '' }, { custom_events: 1, ad_requests: requests?.count ?? 0 });
      custom.add({ ...key, event_name: event.event_name }, { custom_events: 1 });
      if (!requests) break;
      const { source, placement, count } = requests;
      ads.add({ ...key, currency: '', source, media_source: '', placement }, { ad_requests: count });
    }
  }
}

/** A device is active on the day of any of its events, its acquisition included. */
function countActivity(
  event: DeviceEvent,
  key: DayKey,
  device: DeviceState,
  { daily, activity }: Counted,
): void {
  const day = daysBetween(event.acquired_day, event.day);
  if (!hasDay(device.activeDays, day)) {
    device.activeDays = addDay(device.activeDays, day);
    daily.add({ ...key, currency: '' }, { active_devices: 1 });
  }
  // A backend may send what happened before the acquisition that it reported: that is still its day 0.
  const age = event.type === 'retention' ? event.age : Math.max(0, day);
  if (hasDay(device.activeAges, age)) return;
  const cohort = {
    application_id: key.application_id,
    acquired_day: event.acquired_day,
    creative_id: key.creative_id,
  };
  const previous = lastDay(device.activeAges);
  device.activeAges = addDay(device.activeAges, age);
  activity.add({ ...cohort, age }, { active_devices: 1 });
  if (previous !== null && previous > age) return;
  if (previous !== null) activity.add({ ...cohort, age: previous }, { last_active_devices: -1 });
  activity.add({ ...cohort, age }, { last_active_devices: 1 });
}

/** The funnel step that an event is; a failed purchase is none. */
export function funnelStep(event: DeviceEvent): string | null {
  switch (event.type) {
    case 'install':
      return 'install';
    case 'retention':
      return 'retention';
    case 'custom.purchase':
      return event.status === 'failed' ? null : 'purchase';
    case 'custom.ad':
      return 'ad';
    case 'custom':
      return `event:${event.event_name}`;
  }
}

function reachMilestone(event: DeviceEvent, device: DeviceState): void {
  const step = funnelStep(event);
  if (step === null || (device.milestones[step] ?? Number.POSITIVE_INFINITY) <= event.occurred_at) return;
  device.milestones = { ...device.milestones, [step]: event.occurred_at };
}

function sameState(before: DeviceState, after: DeviceState): boolean {
  return (
    before.activeDays === after.activeDays &&
    before.activeAges === after.activeAges &&
    before.paidDays === after.paidDays &&
    before.milestones === after.milestones
  );
}
