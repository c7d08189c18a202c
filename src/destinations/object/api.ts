import type { DeliveryOutcome, DestinationSetup } from '#networks/outbound';
import type { STATUSES } from '../statuses.ts';

/** One attempt to send an event. Times are epoch milliseconds. */
export type Attempt = {
  at: number;
  /** How long it took, in milliseconds. */
  tookMs: number;
  /** The status of the answer; null if there was none. */
  status: number | null;
  /** Why it failed; null if it did not. */
  reason: string | null;
  /** The request without secrets. */
  request: { method: string; url: string; headers: Record<string, string>; body: string | null };
  /** The first 1,000 characters of the answer. */
  answer: string;
};

/** How events are sent. */
export type SenderSetup = { kind: string; given: DestinationSetup; allowsLocal: boolean };

/** What became of an event: an attempt and what its answer means, or why there was none. */
export type Delivered = { skipped: string } | { attempt: Attempt; outcome: DeliveryOutcome };

type DeliveryStatus = (typeof STATUSES)[number];

export type StoredDelivery = {
  eventId: string;
  type: string;
  status: DeliveryStatus;
  reason: string | null;
  dueAt: number | null;
  attempts: Attempt[];
};

/** Which deliveries are meant. */
export type DeliveryFilter = { status?: DeliveryStatus | undefined; eventId?: string | undefined };

/** What is sent again: events received from `from` on and before `to` (epoch milliseconds), or one. */
export type Replay = { from: number; to: number; status: DeliveryStatus | 'all' } | { eventId: string };

/** How a destination does. Times are epoch milliseconds; null if there is none. */
export type DestinationHealth = {
  /** Events that are to be sent again. Those that were not sent yet are only in `oldestAt`. */
  pending: number;
  /** When the oldest event was received that is still to be sent. */
  oldestAt: number | null;
  failuresInRow: number;
  failingSince: number | null;
  lastSuccessAt: number | null;
  /** Attempts in the current hour and the one before, and how many of them failed. */
  attempts: number;
  failed: number;
};

/** The RPC interface of a destination's object (`env.DESTINATIONS.getByName(id)`). Every call is idempotent, except `sendTest`. */
export interface DestinationApi {
  /** Stores parts from a counter. Ignores those that it has, and events that were sent before. */
  accept(parts: { id: string; payload: string }[]): Promise<void>;
  /** Call it when the destination was changed: continues what waits. */
  changed(): Promise<void>;
  /** Sends an event that was made up, and returns what happened. A success switches the destination on again. Throws if it does not exist. */
  sendTest(): Promise<Attempt | { skipped: string }>;
  /** The newest first, before the event with an id. */
  deliveries(filter: DeliveryFilter, before: string, limit: number): Promise<StoredDelivery[]>;
  /** Makes deliveries due at once. Returns how many. */
  replay(what: Replay): Promise<number>;
  health(): Promise<DestinationHealth>;
  /** Deletes everything. */
  deleteAll(): Promise<void>;
}
