import {
  type Amounts,
  type DeviceEvent,
  type EventKind,
  hourIdOf,
  hourText,
  type LoggedEvent,
  type NewTransactionStep,
  type OwnValues,
  type Rollups,
} from '#catalogue';
import { dayNumber, daysBetween } from '#lib/time';
import type { RunningDevice } from './device/device-state.ts';
import type { Earning } from './device/journal.ts';
import type { KeyValues } from './key-values.ts';
import { type EventKey, partKey } from './keys.ts';
import type { Additions, KeyNumbers } from './tables.ts';
import {
  type Amount,
  hasStep,
  isCounted,
  isTold,
  newAmountIn,
  purchaseIn,
  type Refunded,
  refundedBy,
  refundedOf,
  type TransactionStep,
  type Transactions,
} from './transactions.ts';

/** The changes from counting a run of events. */
export type CountedRows = {
  daily: Additions<'rollup_daily'>;
  hours: Additions<'rollup_hours'>;
  ads: Additions<'rollup_ads'>;
  items: Additions<'rollup_items'>;
  custom: Additions<'rollup_custom'>;
  activity: Additions<'cohort_activity'>;
  revenue: Additions<'cohort_revenue'>;
  /** The values of the keys of all these tables. */
  values: KeyValues;
};

/** Returns whether none of these keys was seen, and stores them all for the event, or for the original that it repeats. */
export type IsFirst = (event: LoggedEvent, keys: readonly EventKey[]) => boolean;

/** The event's own segment, and the device's segment at its acquisition, which separates cohorts, as numbers of the run's `KeyValues`. */
export type Segments = { event: number; cohort: number };

/** A device other than the event's own, which counts what is refunded of its purchases. Undefined if it was erased. */
export type DeviceNamed = (
  named: Pick<DeviceEvent, 'application_id' | 'acquired_day' | 'device_id'>,
) => RunningDevice | undefined;

/** The number of the segment that a device's events with these own values have. */
export type SegmentOf = (device: RunningDevice, own: OwnValues) => number;

const SECONDS_PER_DAY = 86_400;

const timesAll = <Own extends Record<string, number>>(times: 1 | -1, amounts: Own): Own =>
  times === 1
    ? amounts
    : (Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, times * amount])) as Own);

/** Adds events one after the other to their rows. One object per run, so that events do not allocate any. */
export class AddingUp implements Rollups {
  private readonly counted: CountedRows;
  private readonly isFirstOfKeys: IsFirst;
  private readonly segmentOf: SegmentOf;
  private readonly transactions: Transactions;
  private readonly deviceNamed: DeviceNamed;
  /** The values that the event's rows have in their keys, as far as they are set. */
  private readonly key: KeyNumbers = {
    ...{ application_id: 0, day: 0, hour: 0, acquired_day: 0, age: 0, creative_id: 0, currency: 0 },
    ...{ source: 0, media_source: 0, placement: 0, item_id: 0, event_name: 0 },
  };
  private segments: Segments = { event: 0, cohort: 0 };
  private isByHour = false;
  /** Figures by hour are not broken down. */
  private readonly noSegment: number;
  /** By day, the numbers of its hours by their ids. */
  private readonly hours = new Map<string, Map<number, number>>();
  private current: LoggedEvent | null = null;
  /** What the event adds to its transaction for somebody who was told of it so far: see `newAmountIn`. Undefined without a transaction. */
  private newAmount: Amount | null | undefined;
  /** -1 while what another counter added is taken back. */
  private times: 1 | -1 = 1;
  /** Null for an event without a device. */
  private of: { event: DeviceEvent; device: RunningDevice; own: OwnValues } | null = null;

  constructor(
    counted: CountedRows,
    {
      isFirst,
      segmentOf,
      transactions,
      deviceNamed,
    }: { isFirst: IsFirst; segmentOf: SegmentOf; transactions: Transactions; deviceNamed: DeviceNamed },
  ) {
    this.counted = counted;
    this.isFirstOfKeys = isFirst;
    this.segmentOf = segmentOf;
    this.transactions = transactions;
    this.deviceNamed = deviceNamed;
    this.noSegment = this.numberOf(0);
  }

  /** Starts the next event. `creativeId` is empty for an organic device. */
  begin(event: LoggedEvent, creativeId: string, segments: Segments, of: AddingUp['of']): void {
    const { key } = this;
    key.application_id = this.numberOf(event.application_id);
    key.day = this.numberOf(event.day);
    key.creative_id = this.numberOf(creativeId);
    if (of) key.acquired_day = this.numberOf(of.event.acquired_day);
    this.segments = segments;
    const hour = hourIdOf(event);
    this.isByHour = hour !== null;
    if (hour !== null) key.hour = this.numberOfHour(event.day, hour);
    this.current = event;
    this.newAmount = undefined;
    this.of = of;
  }

  /** See `Tally`. */
  get news(): LoggedEvent | null {
    const { event, newAmount } = this;
    if (newAmount === undefined) return event;
    return newAmount && { ...event, ...{ value_nanos: newAmount.nanos, currency: newAmount.currency } };
  }

  addDaily(amounts: Amounts<'rollup_daily'>, currency = ''): void {
    this.key.currency = this.numberOf(currency);
    this.counted.daily.addNumbered(this.key, this.segments.event, amounts);
    if (this.isByHour) this.counted.hours.addNumbered(this.key, this.noSegment, amounts);
  }

  /** Counts the device once per day, which does not exist by hour, under the versions of the day's latest event: see `DayVersions`. */
  private countOnceADay(measure: 'active_devices' | 'payers', day: number): void {
    const { event, device, own } = this.ofDevice();
    const second = Math.floor(event.occurred_at / 1_000) - dayNumber(event.day) * SECONDS_PER_DAY;
    const at = { own, second };
    const added = measure === 'payers' ? device.addPaidDay(day, at) : device.addActiveDay(day, at);
    if (!added || added.former?.text === own.text) return;
    this.key.currency = this.numberOf('');
    const { daily } = this.counted;
    if (added.former !== null)
      daily.addNumbered(this.key, this.segmentOf(device, added.former), { [measure]: -1 });
    daily.addNumbered(this.key, this.segments.event, { [measure]: 1 });
  }

  addAds(
    { source, media_source, placement, currency }: Parameters<Rollups['addAds']>[0],
    amounts: Amounts<'rollup_ads'>,
  ): void {
    const { key } = this;
    key.source = this.numberOf(source);
    key.media_source = this.numberOf(media_source);
    key.placement = this.numberOf(placement);
    key.currency = this.numberOf(currency);
    this.counted.ads.addNumbered(key, this.segments.event, amounts);
  }

  addItem({ item_id, currency }: Parameters<Rollups['addItem']>[0], amounts: Amounts<'rollup_items'>): void {
    this.key.item_id = this.numberOf(item_id);
    this.key.currency = this.numberOf(currency);
    this.counted.items.addNumbered(this.key, this.segments.event, amounts);
  }

  addCustom(eventName: string, amounts: Amounts<'rollup_custom'>): void {
    this.key.event_name = this.numberOf(eventName);
    this.counted.custom.addNumbered(this.key, this.segments.event, amounts);
  }

  addRevenue(currency: string, amounts: Amounts<'cohort_revenue'>): void {
    const { event, device } = this.ofDevice();
    const age = daysBetween(event.acquired_day, event.day);
    device.earn('ad', currency, age, amounts.ad_revenue ?? 0);
    device.earn('purchase', currency, age, amounts.purchase_revenue ?? 0);
    this.key.currency = this.numberOf(currency);
    this.counted.revenue.addNumbered(this.key, this.segments.cohort, amounts);
  }

  addToTransaction(
    id: string,
    { is, nanos, currency, isRenewal = false, deviceId, acquiredDay, origin, counted }: NewTransactionStep,
  ): { nanos: number; currency: string } {
    const before = this.transactions.stepsOf(id);
    const step = this.stepOf({ is, nanos, currency, deviceId, acquiredDay });
    this.newAmount = null;
    if (counted) {
      Object.assign(step, { eventId: counted.eventId, countedBy: counted.shard });
      if (!hasStep(before, step)) this.takeOver(id, before, step);
      return step;
    }
    if (hasStep(before, step) || !isCounted(before, step)) return { nanos, currency };
    this.newAmount = newAmountIn(before, step);
    if (isTold(step)) {
      const first = origin === undefined ? undefined : purchaseIn(this.transactions.stepsOf(origin));
      if (first && step.acquiredDay === '') {
        const { deviceId, acquiredDay, creativeId, segments } = first;
        Object.assign(step, { deviceId, acquiredDay, creativeId, segments });
      }
    }
    this.addStep(before, step, isRenewal);
    this.transactions.add(id, step);
    return purchaseIn([...before, step]) ?? step;
  }

  /** Counts what another counter has counted, and takes back what that one added, in whichever order the two learned of the transaction. */
  private takeOver(id: string, before: readonly TransactionStep[], step: TransactionStep): void {
    if (isCounted(before, step)) this.addStep(before, step);
    const there = before.filter(({ countedBy }) => countedBy === step.countedBy);
    this.times = -1;
    this.addStep(there, step);
    this.times = 1;
    this.transactions.add(id, step);
  }

  private addStep(before: readonly TransactionStep[], step: TransactionStep, isRenewal = false): void {
    if (isTold(step)) this.addPayment(before, step, isRenewal);
    else if (step.is === 'purchase') this.moveToDevice(before, step);
    for (const refunded of refundedBy(before, step)) this.addRefunded(refunded);
  }

  private stepOf({
    deviceId,
    acquiredDay,
    ...step
  }: Pick<NewTransactionStep, 'is' | 'nanos' | 'currency' | 'deviceId' | 'acquiredDay'>): TransactionStep {
    const { event } = this;
    const { values } = this.counted;
    return {
      ...{ ...step, eventId: event.id, second: Math.floor(event.occurred_at / 1_000), day: event.day },
      deviceId: this.of?.event.device_id ?? deviceId ?? '',
      acquiredDay: this.of?.event.acquired_day ?? acquiredDay ?? '',
      creativeId: event.creative_id ?? '',
      segments: {
        event: Number(values.valueOf(this.segments.event)),
        cohort: Number(values.valueOf(this.segments.cohort)),
      },
    };
  }

  /** Counts what a store told: as a payment of its own, or as the amount of its device's purchase. */
  private addPayment(before: readonly TransactionStep[], told: TransactionStep, isRenewal: boolean): void {
    const purchase = before.find(({ is }) => is === 'purchase');
    const row = purchase ?? told;
    this.addCounts(row, { renewals: isRenewal ? 1 : 0, trials: told.is === 'trial' ? 1 : 0 });
    if (purchase) this.addPurchase(row, purchase, -1);
    if (purchase || told.is === 'payment') this.addPurchase(row, told, 1);
  }

  /** Takes back what was counted of a store's payment without its device, which counts it itself from now on. */
  private moveToDevice(before: readonly TransactionStep[], purchase: TransactionStep): void {
    const told = before.find(isTold);
    if (!told) return;
    const trials = told.is === 'trial' ? 1 : 0;
    this.addCounts(told, { trials: -trials });
    this.addCounts(purchase, { trials });
    if (trials === 0) this.addPurchase(told, told, -1);
    for (const [currency, nanos] of refundedOf(before)) {
      this.addReturned(told, currency, -Number(nanos));
      this.addReturned(purchase, currency, Number(nanos));
    }
  }

  /** Adds to rows of other days, segments and devices than the event's own. */
  private addRefunded({ purchase, step, isNew, currency, nanos }: Refunded): void {
    const refunds = isNew && step.is === 'refund' && nanos > 0 ? 1 : 0;
    // A store does not name the device of a refund: it is that of the purchase.
    const row = step.acquiredDay === '' ? { ...purchase, day: step.day } : step;
    this.addCounts(row, { refunds, refunded_revenue: nanos }, currency);
    this.addReturned(purchase, currency, nanos);
  }

  private addReturned(purchase: TransactionStep, currency: string, nanos: number): void {
    this.addMoney(purchase, currency, { returned_revenue: nanos });
    this.earn(purchase, 'returned', currency, nanos);
  }

  /** Adds to what the device of a step earned, if it has one. */
  private earn(of: TransactionStep, kind: Earning, currency: string, nanos: number): void {
    this.deviceOf(of)?.earn(kind, currency, daysBetween(of.acquiredDay, of.day), this.times * nanos);
  }

  private deviceOf({ deviceId, acquiredDay }: TransactionStep): RunningDevice | undefined {
    if (deviceId === '') return undefined;
    if (this.of?.event.device_id === deviceId) return this.of.device;
    const { application_id } = this.event;
    return this.deviceNamed({ application_id, acquired_day: acquiredDay, device_id: deviceId });
  }

  /** Adds a purchase to a row, or takes it from there. */
  private addPurchase(row: TransactionStep, { currency, nanos }: TransactionStep, times: 1 | -1): void {
    this.addMoney(row, currency, { purchase_revenue: times * nanos });
    this.earn(row, 'purchase', currency, times * nanos);
    this.addCounts(row, { purchases: times }, currency);
  }

  /** Adds to the day of a step, and to the cohort of its device if it has one. */
  private addMoney(
    row: TransactionStep,
    currency: string,
    amounts: { purchase_revenue: number } | { returned_revenue: number },
  ): void {
    const { daily, revenue } = this.counted;
    const added = timesAll(this.times, amounts);
    daily.add(this.keyOf(row, currency), row.segments.event, added);
    if (row.acquiredDay !== '') revenue.add(this.keyOf(row, currency), row.segments.cohort, added);
  }

  private addCounts(row: TransactionStep, amounts: Amounts<'rollup_daily'>, currency = ''): void {
    if (Object.values(amounts).every((amount) => amount === 0)) return;
    this.counted.daily.add(this.keyOf(row, currency), row.segments.event, timesAll(this.times, amounts));
  }

  private keyOf({ day, acquiredDay, creativeId }: TransactionStep, currency: string) {
    const { application_id } = this.event;
    return { application_id, day, acquired_day: acquiredDay, creative_id: creativeId, currency };
  }

  addPayer(): void {
    const { event } = this.ofDevice();
    this.countOnceADay('payers', daysBetween(event.acquired_day, event.day));
  }

  isNewLaunch(teller: 'session' | 'return'): boolean {
    const { event, device } = this.ofDevice();
    return device.addLaunch(daysBetween(event.acquired_day, event.day), teller);
  }

  isFirst(key: string): boolean {
    return this.isFirstOfKeys(this.ofDevice().event, [partKey(key)]);
  }

  /** A device is active on the day of any of its events, including its acquisition. */
  addActivity(kind: EventKind<LoggedEvent>): void {
    const { event, device } = this.ofDevice();
    const day = daysBetween(event.acquired_day, event.day);
    this.countOnceADay('active_devices', day);
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

  private addAtAge(age: number, amounts: Amounts<'cohort_activity'>): void {
    this.key.age = this.numberOf(age);
    this.counted.activity.addNumbered(this.key, this.segments.cohort, amounts);
  }

  private numberOfHour(day: string, id: number): number {
    const known = this.hours.get(day) ?? new Map<number, number>();
    this.hours.set(day, known);
    const number = known.get(id) ?? this.numberOf(hourText(day, id));
    known.set(id, number);
    return number;
  }

  private numberOf(value: string | number): number {
    return this.counted.values.numberOf(value);
  }

  private get event(): LoggedEvent {
    if (!this.current) throw new Error('No event was begun');
    return this.current;
  }

  private ofDevice(): NonNullable<AddingUp['of']> {
    if (!this.of) throw new Error('The event has no device');
    return this.of;
  }
}
