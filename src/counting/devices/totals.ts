import type { ClientTotal, LoggedEvent } from '#catalogue';
import { lettered, readLettered } from '#lib/encoding/lettered';
import { toNanos } from '#lib/money';
import { highOf, NANOS_PER_HIGH } from '#rollup';

// Compares the running totals that clients keep (`total_ad_value`, `total_purchase_value`) with what was counted for the same device.

/** A client with several currencies has no meaningful running total, nor has one of whose currency nothing is known. */
export const MIXED = '*';
const isComparable = (currency: string): boolean => currency !== MIXED && currency !== '';

const HIGH = BigInt(NANOS_PER_HIGH);

/** The nanos of an amount that is stored in two parts. */
export const joinParts = (high: number, low: number): bigint => BigInt(high) * HIGH + BigInt(low);

/** Clients add up in floating point or in the millionths of ad networks: each event may be off by one of those. */
const NANOS_OFF_PER_EVENT = 1_000;

/** The totals of one kind of value for one device. Flat and mutable, because a run keeps two per device. */
export type DeviceTotals = {
  events: number;
  /** Empty as long as no event had one. */
  currency: string;
  countedHigh: number;
  countedLow: number;
  /** Both null as long as the client reported no total. */
  clientHigh: number | null;
  clientLow: number | null;
};

/** The letters that name the numbers in what is stored: see `lettered`. The currency is before them. */
const LETTERS: Readonly<Record<Exclude<keyof DeviceTotals, 'currency'>, string>> = {
  events: 'E',
  countedHigh: 'H',
  countedLow: 'L',
  clientHigh: 'C',
  clientLow: 'D',
};
const NUMBERS = Object.keys(LETTERS) as (keyof typeof LETTERS)[];
const NAME_OF = new Map(NUMBERS.map((name) => [LETTERS[name], name]));

const noTotals = (currency: string): DeviceTotals => ({
  ...{ events: 0, currency, countedHigh: 0, countedLow: 0, clientHigh: null, clientLow: null },
});

/** The form in a device's row. */
export function writeTotals(totals: DeviceTotals): string {
  let text = totals.currency;
  for (const name of NUMBERS) {
    const number = totals[name];
    if (number !== null) text += lettered(LETTERS[name], number);
  }
  return text;
}

/** Reads what `writeTotals` wrote, in this release or another: missing numbers have their usual values, unknown ones are ignored. Throws on anything else. */
export function readTotals(text: string): DeviceTotals {
  const totals = noTotals('');
  totals.currency = readLettered(text, (letter, number) => {
    const name = NAME_OF.get(letter);
    if (name) totals[name] = number;
  });
  return totals;
}

/** The totals of a device whose client reported one. */
export type ComparedTotal = Pick<DeviceTotals, 'currency' | 'countedHigh' | 'countedLow'> & {
  hasGap: boolean;
  clientHigh: number;
  clientLow: number;
};

/** Null for a device whose client reported no total. Throws like `readTotals`. */
export function readComparedTotal(text: string): ComparedTotal | null {
  const { events, currency, countedHigh, countedLow, clientHigh, clientLow } = readTotals(text);
  if (clientHigh === null || clientLow === null) return null;
  // Exact below 2^53, far above any number of events.
  const gap = (clientHigh - countedHigh) * NANOS_PER_HIGH + (clientLow - countedLow);
  return {
    currency: isComparable(currency) ? currency : MIXED,
    hasGap: isComparable(currency) && Math.abs(gap) > events * NANOS_OFF_PER_EVENT,
    ...{ countedHigh, countedLow, clientHigh, clientLow },
  };
}

/** The totals after a counted event. A failed or refunded purchase adds an event but no value. Modifies `before`, if given. */
export function addToTotals(
  before: DeviceTotals | null,
  event: LoggedEvent,
  total: ClientTotal<LoggedEvent>,
): DeviceTotals {
  const claimed = total.claimed(event);
  const currency = total.currencyOf(event);
  const totals = before ?? noTotals(currency);
  totals.events++;
  // An event whose revenue is unknown has no currency and adds nothing, so it agrees with every other.
  if (totals.currency === '') totals.currency = currency;
  else if (currency !== '' && totals.currency !== currency) totals.currency = MIXED;
  const [high, low] = add([totals.countedHigh, totals.countedLow], total.earned(event));
  totals.countedHigh = high;
  totals.countedLow = low;
  const client = claimed === undefined ? null : partsOf(claimed);
  if (client && isAfter(client, totals)) [totals.clientHigh, totals.clientLow] = client;
  return totals;
}

type AmountParts = readonly [high: number, low: number];

function add([high, low]: AmountParts, nanos: number): AmountParts {
  const sum = low + (nanos % NANOS_PER_HIGH);
  const carry = sum >= NANOS_PER_HIGH ? 1 : 0;
  return [high + highOf(nanos) + carry, sum - carry * NANOS_PER_HIGH];
}

/** Whether the client's total is at least as large as ever before. */
const isAfter = ([high, low]: AmountParts, { clientHigh, clientLow }: DeviceTotals) =>
  clientHigh === null || clientLow === null || high > clientHigh || (high === clientHigh && low >= clientLow);

/** Null for totals that no client can have: negative ones, or ones beyond what a device's row can hold. */
function partsOf(amount: number): AmountParts | null {
  if (amount < 0 || amount >= 1e18) return null;
  const nanos = toNanos(amount);
  return [Number(nanos / HIGH), Number(nanos % HIGH)];
}
