import {
  type DeviceEvent,
  type EventKind,
  hourIdOf,
  hourOfId,
  isOfDevice,
  isSent,
  kindOf,
  type LoggedEvent,
  type MeasureAmounts,
  type OwnValues,
  ownValuesOf,
  type Rollups,
  type SegmentBook,
  UNKNOWN_SEGMENT,
  withOwnValues,
} from '#catalogue';
import { dayNumber, daysBetween } from '#lib/time';
import { AddingUp, type CountedRows, type DeviceNamed } from './adding-up.ts';
import type { RunningDevice } from './device/device-state.ts';
import { KeyValues } from './key-values.ts';
import { Additions, emptyKey, KEY_AT } from './tables.ts';
import type { TransactionStep, Transactions } from './transactions.ts';

export type IgnoredReason = 'test event' | 'sent with a revoked token' | 'its device was erased';

/**
 * Why an accepted event is not counted; null if it is. A revoked token invalidates events received after the revocation, but not the install
 * for which it was issued. `revokedAt` is in epoch milliseconds.
 */
export function reasonToIgnore(
  event: DeviceEvent,
  device: { test: boolean } | 'erased',
  revokedAt: number | undefined,
): IgnoredReason | null {
  if (device === 'erased') return 'its device was erased';
  if (event.test || device.test) return 'test event';
  if (revokedAt === undefined || event.received_at < revokedAt || !isSent(event)) return null;
  return 'sent with a revoked token';
}

/** What is known before an event is counted. It grows from event to event. */
type KnownSoFar = {
  segments: SegmentBook;
  /** Whether something that counts once across several events, such as a session, is new: see `EventKind.partKeys`. Notes it. */
  isFirst: (partKey: string) => boolean;
  deviceNamed: DeviceNamed;
  transactions: Transactions;
};

const SECONDS_PER_DAY = 86_400;
const secondOfDay = (second: number, day: string) => second - dayNumber(day) * SECONDS_PER_DAY;

/**
 * Adds events to the rollups, one after the other. The catalogue defines what each kind adds; this applies the rules that all kinds share. Pure.
 * The result depends on the order of events only where the contract allows it: which steps a device keeps if there are too many. If `count` throws,
 * the sums so far are unusable. One object per run, so that events do not allocate any.
 */
export class Tally extends AddingUp implements Rollups {
  readonly counted: CountedRows;
  protected readonly transactions: Transactions;
  protected readonly deviceNamed: DeviceNamed;
  readonly isFirst: KnownSoFar['isFirst'];
  private readonly book: SegmentBook;
  /** The values that the event's rows have in their keys, as far as they are set. */
  private readonly key = emptyKey();
  private isByHour = false;
  /** Figures by hour are not broken down. */
  private readonly noSegment: number;
  /** By day, the numbers of its hours by their ids. */
  private readonly hours = new Map<string, Map<number, number>>();

  constructor({ segments, isFirst, deviceNamed, transactions }: KnownSoFar) {
    super();
    const values = new KeyValues();
    this.counted = {
      daily: new Additions('rollup_daily', values),
      hours: new Additions('rollup_hours', values),
      ads: new Additions('rollup_ads', values),
      items: new Additions('rollup_items', values),
      custom: new Additions('rollup_custom', values),
      activity: new Additions('cohort_activity', values),
      revenue: new Additions('cohort_revenue', values),
      values,
    };
    this.book = segments;
    this.isFirst = isFirst;
    this.deviceNamed = deviceNamed;
    this.transactions = transactions;
    this.noSegment = this.numberOf(0);
  }

  /** Counts an event that is no duplicate and has no `reasonToIgnore`. `device` is its device, which is updated; undefined if it has none. */
  count(event: LoggedEvent, device: RunningDevice | undefined): void {
    const kind = kindOf(event);
    const { key } = this;
    key[KEY_AT.application_id] = this.numberOf(event.application_id);
    key[KEY_AT.day] = this.numberOf(event.day);
    key[KEY_AT.creative_id] = this.numberOf(event.creative_id ?? '');
    const hour = hourIdOf(event);
    this.isByHour = hour !== null;
    if (hour !== null) key[KEY_AT.hour] = this.numberOfHour(event.day, hour);
    if (!isOfDevice(event) || !device) {
      // An event without a device contains its own segment.
      const own = kind.segmentOf?.(event) ?? UNKNOWN_SEGMENT;
      const [segment, cohort] = [own, kind.cohortOf?.(event) ?? own].map((one) =>
        this.numberOf(this.book.idOf(one)),
      ) as [number, number];
      this.begin(event, { event: segment, cohort }, null);
      kind.count(event, this);
      return;
    }
    key[KEY_AT.acquired_day] = this.numberOf(event.acquired_day);
    const own = ownValuesOf(event, device.segment, device.segments?.own);
    const age = daysBetween(event.acquired_day, event.day);
    this.begin(event, this.segmentsOf(device, own), { event, device, own, age });
    kind.count(event, this);
    this.addActivity(kind);
    const step = kind.stepOf(event);
    if (step !== null) device.reach(step, event.occurred_at);
  }

  addDaily(amounts: MeasureAmounts<'rollup_daily'>, currency = ''): void {
    this.key[KEY_AT.currency] = this.numberOf(currency);
    this.counted.daily.addNumbered(this.key, this.segments.event, amounts);
    if (this.isByHour) this.counted.hours.addNumbered(this.key, this.noSegment, amounts);
  }

  /** Counts the device once per day, which does not exist by hour, under the versions of the day's latest event: see `DayVersions`. */
  private countOnceADay(measure: 'active_devices' | 'payers'): void {
    const { event, device, own, age } = this.ofDevice();
    const at = { own, second: secondOfDay(Math.floor(event.occurred_at / 1_000), event.day) };
    const added = measure === 'payers' ? device.addPaidDay(age, at) : device.addActiveDay(age, at);
    if (!added || added.former?.text === own.text) return;
    this.key[KEY_AT.currency] = this.numberOf('');
    const { daily } = this.counted;
    if (added.former !== null)
      daily.addNumbered(this.key, this.numberOfSegment(device, added.former), { [measure]: -1 });
    daily.addNumbered(this.key, this.segments.event, { [measure]: 1 });
  }

  protected segmentsOn(device: RunningDevice, age: number): TransactionStep['segments'] {
    const idOf = (own: OwnValues) => this.book.idOf(withOwnValues(device.segment, own));
    return { event: idOf(device.ownValuesOn(age)), cohort: idOf(ownValuesOf({}, device.segment)) };
  }

  protected addPayerOf(step: TransactionStep, device: RunningDevice, age: number): void {
    const own = device.ownValuesOn(age);
    const added = device.addPaidDay(age, { own, second: secondOfDay(step.second, step.day) });
    if (!added || added.former?.text === own.text) return;
    const { daily } = this.counted;
    const key = this.keyOf(step, '');
    if (added.former !== null)
      daily.add(key, this.book.idOf(withOwnValues(device.segment, added.former)), { payers: -1 });
    daily.add(key, step.segments.event, { payers: 1 });
  }

  addAds(
    { source, media_source, placement, currency }: Parameters<Rollups['addAds']>[0],
    amounts: MeasureAmounts<'rollup_ads'>,
  ): void {
    const { key } = this;
    key[KEY_AT.source] = this.numberOf(source);
    key[KEY_AT.media_source] = this.numberOf(media_source);
    key[KEY_AT.placement] = this.numberOf(placement);
    key[KEY_AT.currency] = this.numberOf(currency);
    this.counted.ads.addNumbered(key, this.segments.event, amounts);
  }

  addItem(
    { item_id, currency }: Parameters<Rollups['addItem']>[0],
    amounts: MeasureAmounts<'rollup_items'>,
  ): void {
    this.key[KEY_AT.item_id] = this.numberOf(item_id);
    this.key[KEY_AT.currency] = this.numberOf(currency);
    this.counted.items.addNumbered(this.key, this.segments.event, amounts);
  }

  addCustom(eventName: string, amounts: MeasureAmounts<'rollup_custom'>): void {
    this.key[KEY_AT.event_name] = this.numberOf(eventName);
    this.counted.custom.addNumbered(this.key, this.segments.event, amounts);
  }

  addRevenue(currency: string, amounts: MeasureAmounts<'cohort_revenue'>): void {
    const { device, age } = this.ofDevice();
    device.earn('ad', currency, age, amounts.ad_revenue ?? 0);
    device.earn('purchase', currency, age, amounts.purchase_revenue ?? 0);
    this.key[KEY_AT.currency] = this.numberOf(currency);
    this.counted.revenue.addNumbered(this.key, this.segments.cohort, amounts);
  }

  addPayer(): void {
    this.countOnceADay('payers');
  }

  isNewLaunch(teller: 'session' | 'return'): boolean {
    const { device, age } = this.ofDevice();
    return device.addLaunch(age, teller);
  }

  /** A device is active on the day of any of its events, including its acquisition. */
  private addActivity(kind: EventKind<LoggedEvent>): void {
    const { event, device, age: day } = this.ofDevice();
    this.countOnceADay('active_devices');
    // A backend may send events from before the acquisition that it reported. They count as day 0.
    const age = kind.ageOf ? kind.ageOf(event) : Math.max(0, day);
    const added = device.addActiveAge(age);
    if (!added) return;
    const { previous } = added;
    this.addAtAge(age, { active_devices: 1 });
    if (previous !== null && previous > age) return;
    if (previous !== null) this.addAtAge(previous, { last_active_devices: -1 });
    this.addAtAge(age, { last_active_devices: 1 });
  }

  private addAtAge(age: number, amounts: MeasureAmounts<'cohort_activity'>): void {
    this.key[KEY_AT.age] = this.numberOf(age);
    this.counted.activity.addNumbered(this.key, this.segments.cohort, amounts);
  }

  /** Most events of a device have the same segment, so its number is cached with the device. */
  private segmentsOf(device: RunningDevice, own: OwnValues): NonNullable<RunningDevice['segments']> {
    const known = device.segments;
    if (known?.own === own) return known;
    const event = this.numberOfSegment(device, own);
    const cohort = known?.cohort ?? this.numberOfSegment(device, ownValuesOf({}, device.segment));
    device.segments = { event, cohort, own };
    return device.segments;
  }

  /** The number of the segment that a device's events with these own values have. */
  private numberOfSegment(device: RunningDevice, own: OwnValues): number {
    return this.numberOf(this.book.idOf(withOwnValues(device.segment, own)));
  }

  private numberOfHour(day: string, id: number): number {
    const known = this.hours.get(day) ?? new Map<number, number>();
    this.hours.set(day, known);
    const number = known.get(id) ?? this.numberOf(hourOfId(day, id));
    known.set(id, number);
    return number;
  }

  private numberOf(value: string | number): number {
    return this.counted.values.numberOf(value);
  }
}
