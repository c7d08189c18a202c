import { type Attributed, type Installation, namesClick, parseOs } from '#attribution';
import {
  type DeviceDimension,
  devicePropertiesOf,
  EVENT_DIMENSIONS,
  type LoggedEvent,
  ofDimensions,
  SEGMENT,
  type Segment,
} from '#catalogue';
import type { NewDevice } from '#counting';
import type { AuthenticatedApplication } from '#http';
import { hmac } from '#lib/crypto';
import { toBase64Url } from '#lib/encoding/base64url';
import { newId } from '#lib/ids';
import { DAY_MS, dayIn, zoneOffset } from '#lib/time';
import { toOccurredAt } from '#lib/timestamp';
import { countryOfTimezone } from '#lib/zone-countries';
import { consentIn } from '#networks';
import { type DeviceMetrics, deviceWarnings, identityOf } from './device-metrics.ts';

/** The device and token that one message creates, unless the device is already known. Its ids are minted before the first attempt. */
export type Draft = Installation & {
  metrics: DeviceMetrics;
  /** Keyed hash of the name by which the sender knows the device; null if it has none. */
  alias: string | null;
  deviceId: string;
  tokenId: string;
  tokenStored: TokenStored;
  installId: string;
  acquiredDay: string;
  /** Minutes by which the application's clocks were ahead of UTC then. */
  zoneOffset: number;
  clockAhead: boolean;
};

/**
 * When the token of a draft is stored. `first`: while clicks are read, because its device is most likely new; if it is not, the token is
 * moved. `with_credit`: its device names a click, and the token shows whether that credit was already counted. `last`: under the device
 * that it turns out to be.
 */
export type TokenStored = 'first' | 'with_credit' | 'last';

/** A draft whose device is new. */
export type NewDraft = Draft & Attributed;

/** `hashKey` is that of `hashKeyOf`. */
export async function draftOf(
  hashKey: string,
  application: AuthenticatedApplication,
  metrics: DeviceMetrics,
  now: number,
): Promise<Draft> {
  const { occurredAt: acquiredAt, clockAhead } = toOccurredAt(metrics.created_at, now);
  const alias = await aliasOf(hashKey, application.id, identityOf(metrics));
  const deviceId = newId('dev');
  return {
    metrics,
    alias,
    claim: alias ?? deviceId,
    report: metrics.data,
    test: metrics.dev === true,
    deviceId,
    tokenId: newId('tok'),
    tokenStored: whenToStore(metrics, alias, now - acquiredAt),
    installId: newId('evt'),
    acquiredAt,
    acquiredDay: dayIn(application.timezone, acquiredAt),
    zoneOffset: zoneOffset(application.timezone, acquiredAt),
    clockAhead,
  };
}

function whenToStore({ data }: DeviceMetrics, alias: string | null, ageMs: number): TokenStored {
  if (namesClick(data)) return 'with_credit';
  return alias === null || ageMs < DAY_MS ? 'first' : 'last';
}

/** The sender's name for a device may be personal data, so only its keyed hash is stored. */
export async function aliasOf(
  hashKey: string,
  applicationId: string,
  identity: string | null,
): Promise<string | null> {
  if (identity === null) return null;
  return toBase64Url(await hmac(hashKey, `device:${applicationId}:${identity}`));
}

/** The country that a device is counted in, empty if unknown, and its source: the backend, else the click, else the time zone. */
function placeOf({ metrics: { data }, clickCountry }: NewDraft) {
  if (data.country) return { country: data.country, countrySource: 'data' } as const;
  if (clickCountry) return { country: clickCountry, countrySource: 'click' } as const;
  const country = countryOfTimezone(data.timezone);
  return { country: country ?? '', countrySource: country === null ? null : 'timezone' } as const;
}

/** What is decided of a device once, at its acquisition. What events tell themselves is what its own message tells. */
function acquiredSegmentOf(draft: NewDraft): Segment {
  const { data } = draft.metrics;
  const ofDevice: Record<DeviceDimension, string> = {
    country: placeOf(draft).country,
    os: parseOs(data.os_system, data.device_name, data.device_model).family,
    network: draft.network,
  };
  return {
    ...ofDevice,
    ...ofDimensions(EVENT_DIMENSIONS, (name) => draft.metrics[SEGMENT[name].field] ?? ''),
  };
}

export function newDeviceOf(draft: NewDraft, now: number): NewDevice {
  const { data } = draft.metrics;
  const consent = consentIn(draft.metrics);
  const warnings = deviceWarnings(draft.metrics, now);
  return {
    id: draft.deviceId,
    acquiredDay: draft.acquiredDay,
    acquiredAt: draft.acquiredAt,
    creativeId: draft.attribution.creative_id,
    description: {
      deviceName: data.device_name,
      deviceModel: data.device_model,
      osSystem: data.os_system,
      timezone: data.timezone,
      segment: acquiredSegmentOf(draft),
      countrySource: placeOf(draft).countrySource,
      dpi: data.dpi ?? null,
      windowHeight: data.window_height ?? null,
      windowWidth: data.window_width ?? null,
      test: draft.test,
      consent,
      ...(warnings.length > 0 ? { warnings } : {}),
    },
    attribution: JSON.stringify(draft.attribution),
  };
}

export function installOf(applicationId: string, draft: NewDraft, shard: number, now: number): LoggedEvent {
  const { metrics, acquiredDay, attribution } = draft;
  const { warnings } = metrics;
  const told = Object.entries(devicePropertiesOf({ ...metrics, ...metrics.data }));
  const device = told.flatMap(([name, text]) => (text ? [[name, text]] : []));
  return {
    id: draft.installId,
    application_id: applicationId,
    type: 'install',
    device_id: draft.deviceId,
    ...(shard === 0 ? {} : { shard }),
    creative_id: attribution.creative_id,
    attribution_method: attribution.method,
    attribution_confidence: attribution.confidence,
    ...(attribution.doubts ? { doubts: attribution.doubts.map(({ rule }) => rule) } : {}),
    acquired_day: acquiredDay,
    day: acquiredDay,
    occurred_at: draft.acquiredAt,
    received_at: now,
    ...(draft.zoneOffset === 0 ? {} : { zone_offset: draft.zoneOffset }),
    token_id: draft.tokenId,
    ...(draft.test ? { test: true } : {}),
    ...(draft.clockAhead ? { clock_ahead: true } : {}),
    ...(device.length > 0 ? { device: Object.fromEntries(device) } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}
