import { sha256Hex } from '#lib/crypto';
import { toShortDecimal } from '#lib/money';
import { iso } from '#lib/time';
import {
  advertisingIdOf,
  clickOf,
  isHiddenParameter,
  isTrackingLimited,
  type OutboundEvent,
} from '#networks/outbound';

// The macros of a template: `{value}`, `{click.fbclid}`. A question mark makes one optional: `{value?}` is empty for an event without a value.

/** What an event has for a macro; null if it has nothing. `argument`: what follows the dot; undefined without one. */
type Macro = {
  read: (event: OutboundEvent, argument: string) => string | null | Promise<string | null>;
  /** What the argument is, for one that needs it. */
  argument?: string;
  /** Whether the macro may do without its argument. */
  isArgumentOptional?: true;
  /** Whether it is always a number, which may stand in JSON without quotes. */
  isNumber?: true;
  /** Why an argument is refused; null if it is not. */
  refuse?: (argument: string) => string | null;
};

const seconds = (at: number) => String(Math.floor(at / 1000));
const MICROS_PER_NANO = 1000n;
/** Halves are rounded up: amounts are not negative. */
const toMicros = (nanos: bigint) => (nanos + MICROS_PER_NANO / 2n) / MICROS_PER_NANO;
const oneOrZero = (is: boolean | null) => (is === null ? null : Number(is).toString());
const own = (record: Readonly<Record<string, string>>, name: string): string | null =>
  Object.hasOwn(record, name) ? (record[name] ?? null) : null;

/** By name. Every kind of text that may leave through a template is here; docs/destinations.md describes each. */
export const MACROS: Readonly<Record<string, Macro>> = {
  event_id: { read: ({ id }) => id },
  event_type: {
    read: ({ type }) => type,
  },
  event_time: {
    read: ({ at }) => seconds(at),
    isNumber: true,
  },
  event_time_ms: {
    read: ({ at }) => String(at),
    isNumber: true,
  },
  event_time_iso: {
    read: ({ at }) => iso(at),
  },
  value: {
    read: ({ value }) => value && toShortDecimal(value.nanos),
    isNumber: true,
  },
  value_micros: {
    read: ({ value }) => value && toMicros(value.nanos).toString(),
    isNumber: true,
  },
  currency: {
    read: ({ value }) => value?.currency.toUpperCase() || null,
  },
  application_id: { read: ({ application }) => application.id },
  application_name: { read: ({ application }) => application.name },
  store_id: {
    read: ({ application }) => application.storeId,
  },
  network: {
    read: ({ attribution }) => attribution?.network ?? null,
  },
  campaign: {
    read: ({ attribution }) => attribution?.campaign?.name ?? null,
  },
  campaign_id: {
    read: ({ attribution }) => attribution?.campaign?.id ?? null,
  },
  adset: { read: ({ attribution }) => attribution?.adset?.name ?? null },
  adset_id: { read: ({ attribution }) => attribution?.adset?.id ?? null },
  creative: {
    read: ({ attribution }) => attribution?.creative?.name ?? null,
  },
  creative_id: {
    read: ({ attribution }) => attribution?.creative?.id ?? null,
  },
  method: {
    read: ({ attribution }) => attribution?.method ?? null,
  },
  click_time: {
    read: ({ attribution }) => (attribution?.clickAt ? seconds(attribution.clickAt) : null),
    isNumber: true,
  },
  attributed: {
    read: ({ attribution }, network) =>
      oneOrZero(network === '' ? attribution !== null : attribution?.network === network),
    argument: 'the network',
    isArgumentOptional: true,
    isNumber: true,
  },
  click: {
    read: (event, name) => own(clickOf(event), name),
    argument: 'the parameter of the click',
    refuse: (name) =>
      isHiddenParameter(name)
        ? 'names an address, a browser or an id of a device, which is never sent'
        : null,
  },
  property: {
    read: ({ properties }, name) => own(properties, name),
    argument: 'the parameter of the event',
  },
  country: {
    read: ({ country }) => country?.toUpperCase() || null,
  },
  os: { read: ({ os }) => os },
  os_version: { read: ({ osVersion }) => osVersion },
  app_version: { read: ({ appVersion }) => appVersion },
  time_zone: { read: ({ timeZone }) => timeZone },
  device_id: { read: ({ deviceId }) => deviceId },
  device_id_sha256: {
    read: ({ deviceId }) => deviceId && sha256Hex(deviceId),
  },
  advertising_id: {
    read: advertisingIdOf,
  },
  idfa: {
    read: (event) => (event.os === 'ios' ? advertisingIdOf(event) : null),
  },
  gaid: {
    read: (event) => (event.os === 'android' ? advertisingIdOf(event) : null),
  },
  vendor_id: {
    read: (event) => (isTrackingLimited(event) ? null : event.vendorId),
  },
  transaction_id: {
    read: ({ purchase }) => purchase?.transactionId ?? null,
  },
  product_id: { read: ({ purchase }) => purchase?.productId ?? null },
  ad_network: { read: ({ ad }) => ad?.network ?? null },
  ad_format: { read: ({ ad }) => ad?.format ?? null },
  lat: {
    read: (event) => oneOrZero(isTrackingLimited(event)),
    isNumber: true,
  },
  att_status: { read: ({ consent }) => consent.attStatus },
  ad_user_data: {
    read: ({ consent }) => oneOrZero(consent.adUserData),
    isNumber: true,
  },
};

/** The macro of the destination's own credential. */
export const SECRET_MACRO = 'secret';

export type TemplatePart = string | { text: string; name: string; argument: string; isOptional: boolean };

const MACRO = /\{([A-Za-z_]\w*)(?:\.([^{}?"\s]*))?(\?)?\}/g;

/** A template in its parts: texts and macros. */
export function partsOf(template: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of template.matchAll(MACRO)) {
    const [text, name = '', argument = '', optional] = match;
    if (match.index > end) parts.push(template.slice(end, match.index));
    parts.push({ text, name, argument, isOptional: optional !== undefined });
    end = match.index + text.length;
  }
  if (end < template.length) parts.push(template.slice(end));
  return parts;
}

/** Why the macros of a template are refused, one text each. */
export function macroFaults(template: string): string[] {
  return partsOf(template).flatMap((part) => {
    if (typeof part === 'string' || part.name === SECRET_MACRO) return [];
    const { text, name, argument } = part;
    const macro = Object.hasOwn(MACROS, name) ? MACROS[name] : undefined;
    if (!macro) return [`has an unknown macro ${text}`];
    if (macro.argument === undefined && argument !== '')
      return [`has ${text}, but {${name}} takes nothing after a dot`];
    if (macro.argument !== undefined && argument === '' && !macro.isArgumentOptional) {
      return [`has ${text} without ${macro.argument}, as in {${name}.abc}`];
    }
    const refused = macro.refuse?.(argument) ?? null;
    return refused === null ? [] : [`has ${text}, which ${refused}`];
  });
}

/** The values of a template's macros for an event, by their text; those that the event lacks are null. */
export async function valuesOf(
  templates: readonly string[],
  event: OutboundEvent,
): Promise<Map<string, string | null>> {
  const values = new Map<string, string | null>();
  for (const part of templates.flatMap(partsOf)) {
    if (typeof part === 'string' || part.name === SECRET_MACRO) continue;
    const value = (await MACROS[part.name]?.read(event, part.argument)) ?? null;
    values.set(part.text, value === '' ? null : value);
  }
  return values;
}

const PERCENT = (character: string) =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

/** A text as a part of a URL's path or query, or of a form: everything but letters, digits, `-`, `.`, `_` and `~` is percent-encoded. */
export const inUrl = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*]/g, PERCENT);

/** A text within a JSON string. */
export const inJson = (text: string): string => JSON.stringify(text.toWellFormed()).slice(1, -1);

/** A text within a header: visible ASCII is kept, everything else and `%` are percent-encoded. */
export const inHeader = (text: string): string =>
  text.toWellFormed().replaceAll(/[^\x21-\x24\x26-\x7e]+/gu, encodeURIComponent);
