import {
  type DeviceEvent,
  isOfDevice,
  isSent,
  kindOf,
  type LoggedEvent,
  type OwnValues,
  ownValuesOf,
  type SegmentBook,
  UNKNOWN_SEGMENT,
  withOwnValues,
} from '#catalogue';
import {
  AddingUp,
  type CountedRows,
  type DeviceNamed,
  type IsFirst,
  type SegmentOf,
  type Segments,
} from './adding-up.ts';
import type { RunningDevice } from './device/device-state.ts';
import { KeyValues } from './key-values.ts';
import { keysOf, scopedKey } from './keys.ts';
import { Additions } from './tables.ts';
import type { Transactions } from './transactions.ts';

export type IgnoredReason = 'test event' | 'sent with a revoked token' | 'its device was erased';

/**
 * Why an accepted event is not counted; null if it is. A revoked token invalidates events received after the revocation, but not the install
 * for which it was issued. `revokedAt` is in epoch milliseconds.
 */
export function reasonToIgnore(
  event: DeviceEvent,
  device: { test: boolean } | undefined,
  revokedAt: number | undefined,
): IgnoredReason | null {
  if (!device) return 'its device was erased';
  if (event.test || device.test) return 'test event';
  if (revokedAt === undefined || event.received_at < revokedAt || !isSent(event)) return null;
  return 'sent with a revoked token';
}

/** What is known before an event is counted. It grows from event to event. */
type KnownSoFar = {
  /** By token id: when it was revoked, in epoch milliseconds. Tokens that were not revoked are missing. */
  revokedTokens: ReadonlyMap<string, number>;
  segments: SegmentBook;
  /** Events by key (`scopedKey`). */
  keys: SeenKeys;
  /** The device of the event, which is updated too. A device that is missing was erased. */
  deviceOf: (event: DeviceEvent) => RunningDevice | undefined;
  deviceNamed: DeviceNamed;
  transactions: Transactions;
};

/** The keys that were seen, before the run and during it. */
export type SeenKeys = {
  /** The event that was counted under a key (`scopedKey`); undefined for a new key. */
  eventOf(name: string): string | undefined;
  /** Stores a new key. */
  take(key: TakenKey): void;
};
export type TakenKey = { name: string; applicationId: string; day: number; key: string; eventId: string };

/** A tally that receives events one by one. */
export type Tally = {
  /** The sums so far. The devices hold their own changes. */
  readonly counted: CountedRows;
  /** Returns false for an event that is not counted: a duplicate, an erased device's, or one with a `reasonToIgnore`. */
  count(event: LoggedEvent): boolean;
  /**
   * The event counted last as destinations are told of it: a payment or a refund with the amount that counted. Null if it tells nothing but a
   * payment, or a refund, that another one told: by a client and its store.
   */
  news(): LoggedEvent | null;
};

/**
 * Starts to add events to the rollups. The catalogue defines what each kind adds; this function applies the rules that all kinds share. Pure. The
 * result depends on the order of events only where the contract allows it: which of two duplicates counts, and which steps a device keeps if there
 * are too many. Events of erased devices and events with a `reasonToIgnore` add nothing, change no device and store no key. If `count` throws, the
 * sums so far are unusable.
 */
export function startTally(known: KnownSoFar): Tally {
  const values = new KeyValues();
  const counted: CountedRows = {
    daily: new Additions('rollup_daily', values),
    hours: new Additions('rollup_hours', values),
    ads: new Additions('rollup_ads', values),
    items: new Additions('rollup_items', values),
    custom: new Additions('rollup_custom', values),
    activity: new Additions('cohort_activity', values),
    revenue: new Additions('cohort_revenue', values),
    values,
  };
  const isFirst = firstOfKeys(known.keys);
  const segmentOf: SegmentOf = (device, own) =>
    values.numberOf(known.segments.idOf(withOwnValues(device.segment, own)));
  const { transactions, deviceNamed } = known;
  const adding = new AddingUp(counted, { isFirst, segmentOf, transactions, deviceNamed });
  const count = (event: LoggedEvent): boolean => {
    const kind = kindOf(event);
    if (!isOfDevice(event)) {
      if (!isFirst(event, keysOf(event))) return false;
      // An event without a device contains its own segment.
      const own = kind.segmentOf?.(event) ?? UNKNOWN_SEGMENT;
      const [segment, cohort] = [own, kind.cohortOf?.(event) ?? own].map((one) =>
        values.numberOf(known.segments.idOf(one)),
      ) as [number, number];
      adding.begin(event, event.creative_id ?? '', { event: segment, cohort }, null);
      kind.count(event, adding);
      return true;
    }
    const device = known.deviceOf(event);
    if (!device || reasonToIgnore(event, device, known.revokedTokens.get(event.token_id ?? ''))) return false;
    if (!isFirst(event, keysOf(event))) return false;
    const own = ownValuesOf(event, device.segment, device.segments?.own);
    adding.begin(event, event.creative_id ?? '', segmentsOf(device, own, segmentOf), { event, device, own });
    kind.count(event, adding);
    adding.addActivity(kind);
    const step = kind.stepOf(event);
    if (step !== null) device.reach(step, event.occurred_at);
    return true;
  };
  return { counted, count, news: () => adding.news };
}

/** Most events of a device have the same segment, so its number is cached with the device. */
function segmentsOf(device: RunningDevice, own: OwnValues, segmentOf: SegmentOf): Segments {
  const known = device.segments;
  if (known?.own === own) return known;
  const event = segmentOf(device, own);
  const cohort = known?.cohort ?? segmentOf(device, ownValuesOf({}, device.segment));
  device.segments = { event, cohort, own };
  return device.segments;
}

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
      // A duplicate's other keys now refer to the original event too.
      seen.take({ name, applicationId, day: days[0], key, eventId: first ?? event.id });
    }
    return first === undefined;
  };
}
