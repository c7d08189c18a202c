import type { ClientTotal, LoggedEvent } from '#catalogue';

// Compares the running totals that clients keep (`total_ad_value`, `total_purchase_value`) with what was counted for the same device.

/** A client with several currencies has no meaningful running total. */
export const MIXED = '*';

/** Amounts (micros) are stored in two parts, so that SQL can add up those of many devices exactly. */
type Amount = readonly [high: number, low: number];
const LIMB = 1_000_000_000;
export const joinLimbs = (high: number, low: number): bigint => BigInt(high) * BigInt(LIMB) + BigInt(low);

/** The totals of one kind of value for one device. */
export type DeviceTotals = { events: number; currency: string; counted: Amount; client: Amount | null };

type Stored = [
  events: number,
  currency: string,
  gap: 0 | 1,
  countedHigh: number,
  countedLow: number,
  clientHigh: number | null,
  clientLow: number | null,
];

/** The form in a device's row: a JSON array, see `Stored`. */
export function writeTotals(totals: DeviceTotals | null): string | null {
  if (!totals) return null;
  const { events, currency, counted, client } = totals;
  const stored: Stored = [
    events,
    currency,
    gapOf(totals),
    ...counted,
    client?.[0] ?? null,
    client?.[1] ?? null,
  ];
  return JSON.stringify(stored);
}

export function readTotals(text: string | null): DeviceTotals | null {
  if (text === null) return null;
  const [events, currency, , countedHigh, countedLow, clientHigh, clientLow]: Stored = JSON.parse(text);
  const client: Amount | null = clientHigh === null || clientLow === null ? null : [clientHigh, clientLow];
  return { events, currency, counted: [countedHigh, countedLow], client };
}

/** 1 if the two differ by more than rounding each event to whole micros can explain. */
function gapOf({ events, currency, counted, client }: DeviceTotals): 0 | 1 {
  if (client === null || currency === MIXED) return 0;
  // Exact below 2^53, far above any number of events.
  const gap = (client[0] - counted[0]) * LIMB + (client[1] - counted[1]);
  return Math.abs(gap) > events ? 1 : 0;
}

/** The totals after a counted event. A failed or refunded purchase adds an event but no value. */
export function addToTotals(
  before: DeviceTotals | null,
  event: LoggedEvent,
  total: ClientTotal<LoggedEvent>,
): DeviceTotals {
  const running = total.claimed(event);
  const currency = total.currencyOf(event);
  const client = running === undefined ? null : toMicros(running);
  const known = before ?? { events: 0, currency, counted: NOTHING, client: null };
  return {
    events: known.events + 1,
    currency: known.currency === currency ? known.currency : MIXED,
    counted: add(known.counted, total.earned(event)),
    client: client === null || (known.client && compare(known.client, client) > 0) ? known.client : client,
  };
}

const NOTHING: Amount = [0, 0];

/** `micros` is a whole number up to 2^53. */
function add([high, low]: Amount, micros: number): Amount {
  const sum = low + (micros % LIMB);
  const carry = sum >= LIMB ? 1 : 0;
  return [high + Math.floor(micros / LIMB) + carry, sum - carry * LIMB];
}

const compare = (left: Amount, right: Amount) => left[0] - right[0] || left[1] - right[1];

/** Null for totals that no client can have: negative ones, or ones beyond what a device's row can hold. */
function toMicros(amount: number): Amount | null {
  if (amount < 0 || amount >= 1e18) return null;
  // Micros of large amounts exceed 2^53; whole thousands (the high part), whole units and the remaining fraction do not.
  const whole = Math.trunc(amount);
  const units = whole % 1_000;
  return add(
    [Math.round((whole - units) / 1_000), units * 1_000_000],
    Math.round((amount - whole) * 1_000_000),
  );
}
