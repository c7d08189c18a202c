import type * as z from 'zod';
import type { Amounts } from './measures.ts';
import type { Segment } from './segments.ts';
import type { OwnFields } from './stored.ts';
import type { WireForm } from './wire.ts';

/** What a field is, and so how it is shown and stored. `flag`: true or absent. `money`: micros, shown in units. */
export type ColumnType = 'text' | 'integer' | 'double' | 'boolean' | 'flag' | 'money' | 'json';

/** A field of an event as the API, its CSV and the raw event files name it. */
export type EventColumn = {
  name: string;
  type: ColumnType;
  /** Its name in the stored event, where that is another. */
  field?: string;
};

/** An event as the API shows it: amounts in units, under the names of its columns. */
export type ShownEvent = Readonly<Record<string, unknown>>;

/** Where an event is added up. Each method adds to the row of the event's own day and of its device's creative and cohort. */
export interface Rollups {
  /** `currency`: of amounts of money; absent for counts, which have none. */
  addDaily(amounts: Amounts<'rollup_daily'>, currency?: string): void;
  addAds(
    by: { source: string; media_source: string; placement: string; currency: string },
    amounts: Amounts<'rollup_ads'>,
  ): void;
  addItem(by: { item_id: string; currency: string }, amounts: Amounts<'rollup_items'>): void;
  addCustom(eventName: string, amounts: Amounts<'rollup_custom'>): void;
  /** Revenue of the device's cohort. */
  addRevenue(currency: string, amounts: Amounts<'cohort_revenue'>): void;
  /** The device paid: it is one payer of the day, however often. */
  addPayer(): void;
  /** Whether a part of events (see `partKeys`) has not been seen before. */
  isFirst(partKey: string): boolean;
}

/** The running total that clients keep of a kind's value and send along, to be compared with what was counted. */
export interface ClientTotal<Event> {
  /** Which of a device's totals it is. */
  readonly of: 'ad' | 'purchase';
  /** What the client says, in units. */
  claimed(event: Event): number | undefined;
  /** What the event adds to what was counted, in micros. */
  earned(event: Event): number;
  currencyOf(event: Event): string;
}

/**
 * Everything about one kind of event. Its methods are pure. The methods' parameters are of the kind's own event; whoever has an
 * event of any kind looks its kind up with `kindOf`.
 */
export interface EventKind<Event extends { type: string } = { type: string }> {
  readonly type: Event['type'];
  /** In a sentence, for documentation. */
  readonly description: string;
  /** Whose event it is: a creative's is of no device yet. */
  readonly subject: 'device' | 'creative';
  readonly stored: z.ZodType<Event> & z.core.$ZodTypeDiscriminable;
  /** How clients send it; empty where the service makes it itself. */
  readonly wires: readonly WireForm<unknown, OwnFields<Event>>[];
  /** Its own fields. Kinds may share a column, of one type. */
  readonly columns: readonly EventColumn[];
  /**
   * Its keys match whenever they come, are kept as long as raw events, and stand in the raw event files. Other kinds' match on the
   * day of `created_at` and its neighbours.
   */
  readonly keepsKeys: boolean;
  /** Its steps in funnels that are known beforehand, with their labels. */
  readonly steps: Readonly<Record<string, string>>;
  readonly clientTotal?: ClientTotal<Event>;
  /** Adds the event up. */
  count(event: Event, into: Rollups): void;
  /** Of a kind whose subject is a creative: what its event says of country, OS and version. A device's stand with the device. */
  segmentOf?(event: Event): Segment;
  /** The step of a funnel that an event is; null where it is none. */
  stepOf(event: Event): string | null;
  /** The day number for which the event makes its device active, where the event itself says so. */
  ageOf?(event: Event): number;
  /** Keys of what counts once however many events tell of it, such as a session. They match whenever they come. */
  partKeys?(event: Event): string[];
  /** What the event is about, in a line. `amount`: its `value` as money, empty where it has none. */
  summarise(shown: ShownEvent, amount: string): string;
  /** The `type` and `payload` that give the event again. */
  toWire?(event: Event): { type: string; payload: Record<string, unknown> };
}

/** Words of a summary. What is absent or no word is left out. */
export const line = (...parts: unknown[]): string =>
  parts.filter((part) => typeof part === 'number' || (typeof part === 'string' && part !== '')).join(' · ');
