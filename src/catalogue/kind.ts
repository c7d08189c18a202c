import type * as z from 'zod';
import type { MeasureAmounts } from './measures.ts';
import type { Segment } from './segments.ts';
import type { OwnFields } from './stored.ts';
import type { WireForm } from './wire.ts';

/** The type of a field, which decides how it is shown and stored. `flag`: true or absent. `money`: nanos (billionths), shown in units. */
export type ColumnType = 'text' | 'integer' | 'double' | 'boolean' | 'flag' | 'money' | 'json';

/** An event field, as named by the API, its CSV and the raw event files. */
export type EventColumn = {
  name: string;
  type: ColumnType;
  /** The name in the stored event, if it differs. */
  field?: string;
};

/** An event in the API's format: amounts in units, named like its columns. */
export type ShownEvent = Readonly<Record<string, unknown>>;

/**
 * What happens to a transaction. `purchase`: its device sent it. `payment`, `trial`: a store told of it. `reversal`: a refund was taken back.
 */
export type TransactionStepKind = 'purchase' | 'refund' | 'reversal' | 'payment' | 'trial';

/** `nanos` are 0 of a refund or a reversal of all that is left. */
export type NewTransactionStep = {
  is: TransactionStepKind;
  nanos: number;
  currency: string;
  /** Of a payment that a store told: whether it renews a subscription. */
  isRenewal?: boolean;
  /** The device that paid and its acquisition, if the event is not of the device but knows it. */
  deviceId?: string | undefined;
  acquiredDay?: string | undefined;
  /** Of a renewal: the id of the first transaction of the subscription, whose device it is counted for. */
  origin?: string | undefined;
  /**
   * Of what another counter has counted: its shard, and the event. The step is counted as if it had come here, and what that counter added is
   * taken back. A purchase stays with that counter, and the devices of this one give up what they earned by the transaction.
   */
  counted?: { shard: number; eventId: string } | undefined;
};

/** Adds up an event. Each method adds to the row of the event's own day and of its device's creative and cohort. */
export interface Rollups {
  /** `currency` is that of the amounts of money; absent for counts. */
  addDaily(amounts: MeasureAmounts<'rollup_daily'>, currency?: string): void;
  addAds(
    by: { source: string; media_source: string; placement: string; currency: string },
    amounts: MeasureAmounts<'rollup_ads'>,
  ): void;
  addItem(by: { item_id: string; currency: string }, amounts: MeasureAmounts<'rollup_items'>): void;
  addCustom(eventName: string, amounts: MeasureAmounts<'rollup_custom'>): void;
  /** Revenue of the device's cohort. */
  addRevenue(currency: string, amounts: MeasureAmounts<'cohort_revenue'>): void;
  /**
   * Adds a step to the transaction with an id. A refund or its reversal counts once the purchase is known: on its own day, and on the day and
   * cohort of the purchase. What a store tells of a payment is counted by this alone; if the device tells of it too, the amount is the store's
   * and everything else the device's. Returns the amount of the transaction so far: of a purchase, what its device has to be credited with.
   */
  addToTransaction(id: string, step: NewTransactionStep): { nanos: number; currency: string };
  /** Counts the device as a payer of the day, once however often it pays. */
  addPayer(): void;
  /**
   * Whether a launch of the app on the event's day was not told before. `session`: it is told by a session, which has an id of its own.
   * `return`: it is told by a return without one, and a session may tell it too.
   */
  isNewLaunch(teller: 'session' | 'return'): boolean;
  /** Whether this is the first event with the key (see `partKeys`). */
  isFirst(partKey: string): boolean;
}

/** The running total of a kind's values that clients send along, which is compared with what was counted. */
export interface ClientTotal<Event> {
  /** Which of a device's totals this is. */
  readonly of: 'ad' | 'purchase';
  /** The client's total, in units. */
  claimed(event: Event): number | undefined;
  /** What the event adds to the counted total, in nanos. */
  earned(event: Event): number;
  currencyOf(event: Event): string;
}

/** An amount that an event counts, as it is compared with others of its kind: the revenue of one ad impression, or what one purchase paid. */
export type JudgedAmount = { of: 'impression' | 'purchase'; nanos: number; currency: string };

/**
 * Everything about one kind of event. Its methods are pure, and take events of this kind only. For an event of any kind, look the kind up
 * with `kindOf`.
 */
export interface EventKind<Event extends { type: string } = { type: string }> {
  readonly type: Event['type'];
  /** What people call one such event. */
  readonly label: string;
  /** One sentence, for documentation. */
  readonly description: string;
  /** What the event belongs to. An event of a creative has no device yet, and that of a payment may have none. */
  readonly subject: 'device' | 'creative' | 'payment' | 'impression';
  readonly stored: z.ZodType<Event> & z.core.$ZodTypeDiscriminable;
  /** How clients send it; empty if the service creates it itself. */
  readonly wires: readonly WireForm<unknown, OwnFields<Event>>[];
  /** Its own fields. Kinds may share a column if its type is the same. */
  readonly columns: readonly EventColumn[];
  /**
   * Whether its idempotency keys match repeats at any time. If so, they are kept as long as raw events and included in the raw event
   * files. The keys of other kinds match only on the day of `created_at` and the days next to it.
   */
  readonly keepsKeys: boolean;
  /** The funnel steps that are known in advance, with their labels. */
  readonly steps: Readonly<Record<string, string>>;
  readonly clientTotal?: ClientTotal<Event>;
  /** The money that the event counts, null if it counts none. Absent for kinds without money. */
  amountOf?(event: Event): JudgedAmount | null;
  /** Adds up the event. */
  count(event: Event, into: Rollups): void;
  /** Country, OS and version of an event whose subject is not a device. Those of a device event are stored with the device. */
  segmentOf?(event: Event): Segment;
  /** That of its cohort, if it differs. */
  cohortOf?(event: Event): Segment | undefined;
  /** The transaction that `count` adds a step to, if any: a run looks up what is known of it before. */
  transactionOf?(event: Event): { id: string; is: TransactionStepKind; origin?: string | undefined } | null;
  /** The event's funnel step; null if it is not one. */
  stepOf(event: Event): string | null;
  /** The day number on which the event makes its device active, if the event reports it. */
  ageOf?(event: Event): number;
  /** Keys of things that count once across several events, such as a session. They match at any time. */
  partKeys?(event: Event): string[];
  /** Summarises the event in one line. `amount` is its `value` as money, empty if it has none. */
  summarise(shown: ShownEvent, amount: string): string;
  /** Which entry of a destination's `events` the event matches: see `outboundTypeOf`. Absent for a kind that is not sent. */
  outboundAs?(event: Event): string | null;
  /** The `type` and `payload` that recreate the event. */
  toWire?(event: Event): { type: string; payload: Record<string, unknown> };
}

/** Joins the parts of a summary. Leaves out absent values and anything that is not text or a number. */
export const line = (...parts: unknown[]): string =>
  parts.filter((part) => typeof part === 'number' || (typeof part === 'string' && part !== '')).join(' · ');
