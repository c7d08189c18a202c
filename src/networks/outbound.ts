import type * as z from 'zod';
import type { AttStatus } from './consent.ts';
import type { IdAndName } from './id-and-name.ts';

// What a destination is told of a counted event, and what its kind decides: the request to send, and what the answer means. Pure: whoever delivers
// reads the clock, encrypts, sends and stores.

/** One counted event as a destination gets it. Null is what nobody told. */
export type OutboundEvent = {
  /** The event's own id, the same at every attempt and for every destination. */
  id: string;
  /** The entry of the destination's `events` that it matched: `install`, `purchase`, `ad`, `retention`, `refund` or `custom:<name>`. */
  type: string;
  /** When it happened, in epoch milliseconds. */
  at: number;
  /** `storeId`: the bundle id or package name on the device's platform, else the number of the App Store. */
  application: { id: string; name: string; storeId: string | null };
  os: string | null;
  osVersion: string | null;
  appVersion: string | null;
  /** ISO 3166, lower case. */
  country: string | null;
  /** IANA name. */
  timeZone: string | null;
  /** Our id of the device (`dev_…`): of the backend's own id, only a keyed hash is stored. Null for a store's payment without a device. */
  deviceId: string | null;
  /** The ids that the event itself carries to be passed on, as sent: `advertising_id` and `vendor_id`. Tracking is then not limited. */
  advertisingId: string | null;
  vendorId: string | null;
  /** Null for an event without an amount, and for a refund of all of a purchase that was not known. */
  value: { nanos: bigint; currency: string } | null;
  purchase: { transactionId: string | null; productId: string | null } | null;
  ad: { network: string | null; format: string | null } | null;
  /** A custom event's own parameters. None leaves unless the destination's settings name it. */
  properties: Readonly<Record<string, string>>;
  /** What the device is credited to; null for an organic one. */
  attribution: {
    network: string | null;
    campaign: IdAndName | null;
    adset: IdAndName | null;
    creative: IdAndName | null;
    method: string;
    /** Epoch milliseconds. */
    clickAt: number | null;
    /** The query parameters that were kept of the click. */
    click: Readonly<Record<string, string>>;
  } | null;
  consent: {
    /** `lat`. */
    limitAdTracking: boolean | null;
    attStatus: AttStatus | null;
    adUserData: boolean | null;
    /** `ad_personalization` is refused. */
    refusesPersonalization?: boolean;
    /** A choice was sent and not understood: no id of the person leaves. */
    isWithheld?: boolean;
  };
};

type ShownRequest = { url: string; headers: Readonly<Record<string, string>>; body: string | null };

/** What to send. `url`, `headers` and `body` may hold credentials; `shown` is the same request without them, for the log. */
export type OutboundRequest = {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
  shown: ShownRequest;
};

/** A request, or why this event is not sent. */
export type PreparedRequest = OutboundRequest | { skipped: string };

/**
 * What an answer means. `retry`: whether the delivery is tried again; otherwise it has failed for good. `off`: the receiver wants nothing more, so the
 * destination is switched off. `retryAfterMs`: the earliest next attempt, as the receiver asks.
 */
export type DeliveryOutcome =
  | { isDelivered: true }
  | { isDelivered: false; reason: string; retry: boolean; off?: true; retryAfterMs?: number };

/** What a destination was set up with. Fields that were left out are absent. */
export type DestinationSetup = {
  settings: Readonly<Record<string, string>>;
  credentials: Readonly<Record<string, string>>;
  /** Of a webhook: the signing secrets (`whsec_…`), the newest first, two while they rotate. */
  secrets: readonly string[];
  /** A test that a person asked for: networks get it with their test code. */
  isTest: boolean;
};

type FieldSchemas = z.ZodObject<Record<string, z.ZodType<string | undefined>>>;

/** A kind of destination: a webhook, a template, or the conversions API of a network. */
export type DestinationKind = {
  label: string;
  /** Not secret: shown and returned by the API. */
  settings: FieldSchemas;
  /** Secret: encrypted, never shown again. */
  credentials: FieldSchemas;
  /** What a person reads beside each field. */
  labels: Readonly<Record<string, string>>;
  source: string;
  /** What nobody has confirmed against the live network; null if it needs no such confirmation. */
  unverified: string | null;
  /** Where it sends, without credentials, for lists and the audit log. */
  describe(setup: Pick<DestinationSetup, 'settings' | 'credentials'>): string;
  /** `now`: the time of the attempt. The same event gives the same request at every attempt, except for times and signatures. Throws only for settings that its schemas refuse. */
  prepare(
    event: OutboundEvent,
    setup: DestinationSetup,
    now: number,
  ): PreparedRequest | Promise<PreparedRequest>;
  /** `body`: the answer's text, or its first part. */
  read(answer: { status: number; headers: Headers; body: string }, now: number): DeliveryOutcome;
};
