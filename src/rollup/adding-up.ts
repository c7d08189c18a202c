import type { DeviceEvent, LoggedEvent, MeasureAmounts, NewTransactionStep, OwnValues } from '#catalogue';
import { daysBetween } from '#lib/time';
import type { RunningDevice } from './device/device-state.ts';
import type { Earning } from './device/journal.ts';
import type { KeyValues } from './key-values.ts';
import type { Additions } from './tables.ts';
import {
  hasStep,
  isCounted,
  isOwnPurchase,
  isPurchaseElsewhere,
  isTold,
  type MoneyAmount,
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

/** The event's own segment, and the device's segment at its acquisition, which separates cohorts, as numbers of the run's `KeyValues`. */
type Segments = { event: number; cohort: number };

/** A device other than the event's own, which counts what is refunded of its purchases. Undefined if it was erased. */
export type DeviceNamed = (
  named: Pick<DeviceEvent, 'application_id' | 'acquired_day' | 'device_id'>,
) => RunningDevice | undefined;

/** The funnel step of a payment. */
const PURCHASE_STEP = 'purchase';

const ageOf = ({ acquiredDay, day }: TransactionStep) => daysBetween(acquiredDay, day);

const timesAll = <Own extends Record<string, number>>(times: 1 | -1, amounts: Own): Own =>
  times === 1
    ? amounts
    : (Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, times * amount])) as Own);

/** The event that is being counted, and what it adds to its transaction: also to rows of other days, segments and devices than its own. */
export abstract class AddingUp {
  /** The sums so far. The devices hold their own changes. */
  abstract readonly counted: CountedRows;
  protected abstract readonly transactions: Transactions;
  protected abstract readonly deviceNamed: DeviceNamed;
  protected segments: Segments = { event: 0, cohort: 0 };
  private current: LoggedEvent | null = null;
  /** Whether another counter has the purchase of the event's transaction. */
  private isElsewhere = false;
  /** What the event adds to its transaction for somebody who was told of it so far: see `newAmountIn`. Undefined without a transaction. */
  private newAmount: MoneyAmount | null | undefined;
  /** -1 while what another counter added is taken back. */
  private times: 1 | -1 = 1;
  /** Null for an event without a device. `age`: the number of days from the acquisition to the event's day. */
  private of: { event: DeviceEvent; device: RunningDevice; own: OwnValues; age: number } | null = null;

  protected begin(event: LoggedEvent, segments: Segments, of: AddingUp['of']): void {
    this.segments = segments;
    this.current = event;
    this.newAmount = undefined;
    this.isElsewhere = false;
    this.of = of;
  }

  /**
   * The event counted last as destinations are told of it: a payment or a refund with the amount that counted. Null if it tells nothing but a
   * payment, or a refund, that another one told: by a client and its store.
   */
  news(): LoggedEvent | null {
    const { event, newAmount } = this;
    if (newAmount === undefined) return event;
    return newAmount && { ...event, ...{ value_nanos: newAmount.nanos, currency: newAmount.currency } };
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
      if (hasStep(before, step)) return step;
      if (isPurchaseElsewhere(step)) this.giveUpEarned(before);
      else this.takeOver(before, step);
      this.transactions.add(id, step);
      return step;
    }
    if (hasStep(before, step) || !isCounted(before, step)) return { nanos, currency };
    this.newAmount = newAmountIn(before, step);
    this.isElsewhere = before.some(isPurchaseElsewhere);
    if (isTold(step)) {
      const first = origin === undefined ? undefined : purchaseIn(this.transactions.stepsOf(origin));
      if (first && step.acquiredDay === '') {
        const { deviceId, acquiredDay, creativeId, segments } = first;
        Object.assign(step, { deviceId, acquiredDay, creativeId, segments });
      }
      const device = this.deviceOf(step);
      if (device) step.segments = this.segmentsOn(device, ageOf(step));
    }
    this.addStep(before, step, isRenewal);
    this.transactions.add(id, step);
    return purchaseIn([...before, step]) ?? step;
  }

  /** Counts what another counter has counted, and takes back what that one added, in whichever order the two learned of the transaction. */
  private takeOver(before: readonly TransactionStep[], step: TransactionStep): void {
    if (isCounted(before, step)) this.addStep(before, step);
    const there = before.filter(({ countedBy }) => countedBy === step.countedBy);
    this.times = -1;
    this.addStep(there, step);
    this.times = 1;
  }

  /** Takes from the device that a store named what it earned by a transaction whose purchase another counter's device made. */
  private giveUpEarned(before: readonly TransactionStep[]): void {
    const told = purchaseIn(before);
    if (!told || isOwnPurchase(told) || before.some(isPurchaseElsewhere)) return;
    this.unreach(told);
    this.earn(told, 'purchase', told.currency, -told.nanos);
    for (const [currency, nanos] of refundedOf(before)) this.earn(told, 'returned', currency, -Number(nanos));
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
    const purchase = before.find(isOwnPurchase);
    const row = purchase ?? told;
    this.addCounts(row, { renewals: isRenewal ? 1 : 0, trials: told.is === 'trial' ? 1 : 0 });
    if (purchase) this.addPurchase(row, purchase, -1);
    if (purchase || told.is === 'payment') this.addPurchase(row, told, 1);
    if (purchase || told.is !== 'payment' || told.countedBy !== undefined) return;
    const device = this.deviceOf(told);
    if (!device) return;
    device.reach(PURCHASE_STEP, told.second * 1_000);
    this.addPayerOf(told, device, ageOf(told));
  }

  /** Takes a store's payment out of the funnel of its device. The day stays paid, because it is not known how often the device did. */
  private unreach(told: TransactionStep): void {
    if (told.is === 'payment' && told.countedBy === undefined)
      this.deviceOf(told)?.unreach(PURCHASE_STEP, told.second * 1_000);
  }

  /** The ids of the segments of a device `age` days after its acquisition, without an event of its own. */
  protected abstract segmentsOn(device: RunningDevice, age: number): TransactionStep['segments'];

  /** Counts a device as a payer on the day of a step that is no event of its own. */
  protected abstract addPayerOf(step: TransactionStep, device: RunningDevice, age: number): void;

  /** Takes back what was counted of a store's payment without its device, which counts it itself from now on. */
  private moveToDevice(before: readonly TransactionStep[], purchase: TransactionStep): void {
    const told = before.find(isTold);
    if (!told) return;
    this.unreach(told);
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
  private addRefunded({ purchase, step, refunds, currency, nanos }: Refunded): void {
    // A store does not name the device of a refund: it is that of the purchase.
    const row = step.acquiredDay === '' ? { ...purchase, day: step.day } : step;
    this.addCounts(row, { refunds, refunded_revenue: nanos }, currency);
    if (nanos !== 0) this.addReturned(purchase, currency, nanos);
  }

  private addReturned(purchase: TransactionStep, currency: string, nanos: number): void {
    this.addMoney(purchase, currency, { returned_revenue: nanos });
    this.earn(purchase, 'returned', currency, nanos);
  }

  /** Adds to what the device of a step earned, if it has one and no device of another counter made the purchase. */
  private earn(of: TransactionStep, kind: Earning, currency: string, nanos: number): void {
    if (this.isElsewhere && of.is !== 'purchase') return;
    this.deviceOf(of)?.earn(kind, currency, ageOf(of), nanos);
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

  private addCounts(row: TransactionStep, amounts: MeasureAmounts<'rollup_daily'>, currency = ''): void {
    if (Object.values(amounts).every((amount) => amount === 0)) return;
    this.counted.daily.add(this.keyOf(row, currency), row.segments.event, timesAll(this.times, amounts));
  }

  protected keyOf({ day, acquiredDay, creativeId }: TransactionStep, currency: string) {
    const { application_id } = this.event;
    return { application_id, day, acquired_day: acquiredDay, creative_id: creativeId, currency };
  }

  protected get event(): LoggedEvent {
    if (!this.current) throw new Error('No event was begun');
    return this.current;
  }

  protected ofDevice(): NonNullable<AddingUp['of']> {
    if (!this.of) throw new Error('The event has no device');
    return this.of;
  }
}
