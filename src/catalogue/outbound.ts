import { CUSTOM_OUTBOUND } from './events/custom.ts';
import { groupedAs } from './joined-networks.ts';
import { findKind, type LoggedEvent } from './logged-event.ts';
import type { Segment } from './segments.ts';

// Which counted events a destination is sent. Pure: a counter asks for each event that it has counted.

/** The entries of a destination's `events`, besides `custom:<name>`. */
export const OUTBOUND_EVENTS = ['install', 'purchase', 'ad', 'retention', 'refund'] as const;

const MAX_NAME = 255;

/** Whether a text is an entry of a destination's `events`. */
export function isOutboundType(text: string): boolean {
  if (OUTBOUND_EVENTS.some((own) => own === text)) return true;
  const { length } = text;
  return text.startsWith(CUSTOM_OUTBOUND) && length > CUSTOM_OUTBOUND.length && length <= MAX_NAME;
}

/** The entry that a counted event matches; null for an event that is sent to nobody, such as a click or a failed purchase. */
export const outboundTypeOf = (event: LoggedEvent): string | null =>
  findKind(event)?.outboundAs?.(event) ?? null;

/** What the device of an event must have, in the form that is stored. Absent: anything. */
export type OutboundFilter = {
  network?: string;
  /** The counter does not know campaigns: whoever has the names checks it. */
  campaign_id?: string;
  country?: string;
  os?: string;
  /** Leaves out organic devices. */
  paid_only?: boolean;
};

/** A destination, as far as a counter knows it. `isOff`: it is sent nothing, but may have to erase what it has. */
export type OutboundRule = {
  id: string;
  events: readonly string[];
  filter: OutboundFilter;
  isOff: boolean;
};

type Facts = { segment: Pick<Segment, 'country' | 'os' | 'network'>; creativeId: string | null };

/** Whether an event passes a filter, but for the campaign, of which it only says that there is one. */
export function passesFilter(filter: OutboundFilter, { segment, creativeId }: Facts): boolean {
  const { network, country, os, campaign_id, paid_only } = filter;
  if ((paid_only || campaign_id !== undefined) && !creativeId) return false;
  return (
    (network === undefined || groupedAs('network', segment.network) === network) &&
    (country === undefined || segment.country === country) &&
    (os === undefined || segment.os === os)
  );
}
