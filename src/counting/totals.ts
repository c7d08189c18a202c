import type { ClientTotal, LoggedEvent } from '#catalogue';

// The running totals that clients keep (`total_ad_value`, `total_purchase_value`) against what was counted of the same device.

/** Of several currencies a client has no running total. */
export const MIXED = '*';

/** One kind of value of one device; amounts are micros. */
export type DeviceTotals = { events: number; currency: string; counted: bigint; client: bigint | null };

/** Amounts are stored in two parts, so that SQL can add up those of many devices exactly. */
export const LIMB = 1_000_000_000n;
const high = (amount: bigint) => Number(amount / LIMB);
const low = (amount: bigint) => Number(amount % LIMB);
export const joinLimbs = (high: number, low: number): bigint => BigInt(high) * LIMB + BigInt(low);

type Stored = [
  events: number,
  currency: string,
  gap: 0 | 1,
  countedHigh: number,
  countedLow: number,
  clientHigh: number | null,
  clientLow: number | null,
];

/** As a device's row keeps it: a JSON array, see `Stored`. */
export function writeTotals(totals: DeviceTotals | null): string | null {
  if (!totals) return null;
  const { events, currency, counted, client } = totals;
  const stored: Stored = [
    events,
    currency,
    gapOf(totals),
    high(counted),
    low(counted),
    client === null ? null : high(client),
    client === null ? null : low(client),
  ];
  return JSON.stringify(stored);
}

export function readTotals(text: string | null): DeviceTotals | null {
  if (text === null) return null;
  const [events, currency, , countedHigh, countedLow, clientHigh, clientLow]: Stored = JSON.parse(text);
  const client = clientHigh === null || clientLow === null ? null : joinLimbs(clientHigh, clientLow);
  return { events, currency, counted: joinLimbs(countedHigh, countedLow), client };
}

/** 1 where the two are further apart than the rounding of the events to whole micros explains. */
function gapOf({ events, currency, counted, client }: DeviceTotals): 0 | 1 {
  if (client === null || currency === MIXED) return 0;
  const gap = client > counted ? client - counted : counted - client;
  return gap > BigInt(events) ? 1 : 0;
}

/** The totals after a counted event; a purchase that failed or was refunded adds an event but no value. */
export function addToTotals(
  before: DeviceTotals | null,
  event: LoggedEvent,
  total: ClientTotal<LoggedEvent>,
): DeviceTotals {
  const running = total.claimed(event);
  const currency = total.currencyOf(event);
  const client = running === undefined ? null : toMicros(running);
  const known = before ?? { events: 0, currency, counted: 0n, client: null };
  return {
    events: known.events + 1,
    currency: known.currency === currency ? known.currency : MIXED,
    counted: known.counted + BigInt(total.earned(event)),
    client: client === null || (known.client !== null && known.client > client) ? known.client : client,
  };
}

/** Null for what no client can have earned: a negative number, or one beyond what a device's row can hold. */
function toMicros(amount: number): bigint | null {
  if (amount < 0 || amount >= 1e18) return null;
  // Micros of large amounts leave 2^53, whole units and the rest of one do not.
  const whole = Math.trunc(amount);
  return BigInt(whole) * 1_000_000n + BigInt(Math.round((amount - whole) * 1_000_000));
}
