import * as z from 'zod';
import { sha256Hex } from '#lib/crypto';
import { optionalText, requiredText } from '#lib/input/fields';
import { fromNanos } from '#lib/money';
import type { DeliveryOutcome, DestinationSetup, OutboundEvent, OutboundRequest } from '../outbound.ts';
import { advertisingIdOf, isTrackingLimited, refusalOf } from './consent.ts';
import { readStatus } from './read-answer.ts';

// What the conversions APIs of networks have in common.

/** Shown in place of a credential. */
const HIDDEN = '***';

const yesOrNo = () =>
  optionalText(5)
    .transform((text) => text?.toLowerCase())
    .pipe(z.enum(['true', 'false'], { error: 'must be true or false' }).optional());

const EVENT_NAME = /^\s*([^=]+?)\s*=\s*(\S+)\s*$/;

/** Lines of `custom:level_up = LevelAchieved`; undefined if one is not like that. */
function readNames(text: string | undefined): Map<string, string> | undefined {
  const lines = (text ?? '').split(/\r?\n|,/).filter((line) => line.trim() !== '');
  const entries = lines.map((line) => EVENT_NAME.exec(line));
  if (entries.includes(null)) return undefined;
  return new Map(entries.map((match) => [match?.[1] ?? '', match?.[2] ?? '']));
}

/** The settings of every conversions API, and what people read beside them. */
export const conversionSettings = {
  test_event_code: optionalText(128),
  event_names: optionalText(4096).refine(
    (text) => readNames(text) !== undefined,
    'must be lines such as custom:level_up = LevelAchieved',
  ),
  limited_data_use: yesOrNo(),
};
export const CONVERSION_LABELS = {
  test_event_code: 'Test event code',
  event_names: 'Names of events, one a line, as custom:level_up = LevelAchieved',
  limited_data_use: 'Limited data use for all events: true or false',
  access_token: 'Access token',
};
/** ASCII, as it stands in a header or a URL. */
export const accessToken = () => requiredText(2048).regex(/^[\x21-\x7e]+$/, 'must be of ASCII characters');
export const digits = () => requiredText(32).regex(/^\d+$/, 'must be a number');

export const isOn = (setting: string | undefined): boolean => setting === 'true';

/** What the network is told as the event's name; null if none is known. */
export function eventNameOf(
  { type }: OutboundEvent,
  { settings }: DestinationSetup,
  known: Readonly<Record<string, string>>,
): string | null {
  return (
    readNames(settings.event_names)?.get(type) ?? (Object.hasOwn(known, type) ? (known[type] ?? null) : null)
  );
}

/** Why an event is not sent to a conversions API; null if it may be. `network`: as the network writes its name. */
export function skipReason(
  event: OutboundEvent,
  { settings, isTest }: DestinationSetup,
  network: string,
  eventName: string | null,
): string | null {
  if (isTest && settings.test_event_code === undefined) {
    return `A test needs a test event code, or ${network} would count it`;
  }
  const refusal = refusalOf(event);
  if (refusal !== null) return refusal;
  if (event.deviceId === null) return 'The event belongs to no device';
  if (event.os !== 'ios' && event.os !== 'android')
    return `${network} takes app events of iOS and Android only`;
  if (eventName === null) return `${network} has no name for ${event.type}; set one in event_names`;
  if (event.type === 'purchase' && event.value === null) return 'The purchase has no amount';
  return null;
}

/** SHA-256 of our id of the device, in hexadecimal: the advertiser's own id of a person, for all networks. */
export const externalIdOf = ({ deviceId }: OutboundEvent): Promise<string> => sha256Hex(deviceId ?? '');

/** Whether the person lets the advertiser track. On iOS that has to be told, by the answer or by the id that only then exists. */
export function isTrackingAllowed(event: OutboundEvent): boolean {
  if (isTrackingLimited(event)) return false;
  return event.os !== 'ios' || event.consent.attStatus === 'authorized' || advertisingIdOf(event) !== null;
}

/**
 * Meta's `extinfo`, which Snap has too: exactly 16 texts. Only the OS with its version, the application with its version, and the time zone are told; model,
 * screen, carrier and storage would describe the device, and are left empty.
 */
export function extinfoOf({ os, osVersion, appVersion, timeZone, application }: OutboundEvent): string[] {
  const version = appVersion ?? '';
  const app = [os === 'ios' ? 'i2' : 'a2', application.storeId ?? '', version, version, osVersion ?? ''];
  return [...app, ...Array.from({ length: 10 }, () => ''), timeZone ?? ''];
}

/** The amount as networks take it: a number in units, and the currency in upper case. */
export const amountOf = ({ value }: OutboundEvent): { value: number; currency: string } | undefined =>
  value ? { value: fromNanos(value.nanos), currency: value.currency.toUpperCase() } : undefined;

/** A record without what is undefined or null. */
export const told = <Value extends object>(record: Value): Partial<Value> =>
  Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== null),
  ) as Partial<Value>;

/** A request with a JSON body. `credential`: where it stands, in the URL's query or in a header. */
export function jsonRequest(
  url: string,
  body: object,
  credential: { parameter?: string; header?: string; value: string },
): OutboundRequest {
  const text = JSON.stringify(body);
  const at = (value: string) => ({
    url: credential.parameter === undefined ? url : `${url}?${credential.parameter}=${value}`,
    headers: {
      'Content-Type': 'application/json',
      ...(credential.header === undefined ? {} : { [credential.header]: value }),
    },
    body: text,
  });
  const { parameter, value } = credential;
  return {
    method: 'POST',
    ...at(parameter === undefined ? value : encodeURIComponent(value)),
    shown: at(HIDDEN),
  };
}

const MAX_REASON = 300;

/** A failure in the network's own words. */
export const failed = (
  network: string,
  code: unknown,
  message: unknown,
  retry: boolean,
): DeliveryOutcome => ({
  isDelivered: false,
  reason: `${network}: ${String(message ?? 'no reason').slice(0, MAX_REASON)} (${String(code)})`,
  retry,
});

/** What an answer means that has nothing of what is documented: by its status, but no success. */
export function readUndocumented(
  network: string,
  answer: { status: number; headers: Headers },
  now: number,
): DeliveryOutcome {
  const outcome = readStatus(answer, now);
  if (!outcome.isDelivered) return outcome;
  return {
    isDelivered: false,
    reason: `${network} answered ${answer.status} with something else than its documentation says`,
    retry: true,
  };
}
