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

const text = (read: Macro['read']): Macro => ({ read });
const number = (read: Macro['read']): Macro => ({ read, isNumber: true });

/** By name. Every kind of text that may leave through a template is here; docs/destinations.md describes each. */
export const MACROS: Readonly<Record<string, Macro>> = {
  event_id: text(({ id }) => id),
  event_type: text(({ type }) => type),
  event_time: number(({ at }) => seconds(at)),
  event_time_ms: number(({ at }) => String(at)),
  event_time_iso: text(({ at }) => iso(at)),
  value: number(({ value }) => value && toShortDecimal(value.nanos)),
  value_micros: number(({ value }) => value && toMicros(value.nanos).toString()),
  currency: text(({ value }) => value?.currency.toUpperCase() || null),
  application_id: text(({ application }) => application.id),
  application_name: text(({ application }) => application.name),
  store_id: text(({ application }) => application.storeId),
  network: text(({ attribution }) => attribution?.network ?? null),
  campaign: text(({ attribution }) => attribution?.campaign?.name ?? null),
  campaign_id: text(({ attribution }) => attribution?.campaign?.id ?? null),
  adset: text(({ attribution }) => attribution?.adset?.name ?? null),
  adset_id: text(({ attribution }) => attribution?.adset?.id ?? null),
  creative: text(({ attribution }) => attribution?.creative?.name ?? null),
  creative_id: text(({ attribution }) => attribution?.creative?.id ?? null),
  method: text(({ attribution }) => attribution?.method ?? null),
  click_time: number(({ attribution }) => (attribution?.clickAt ? seconds(attribution.clickAt) : null)),
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
  country: text(({ country }) => country?.toUpperCase() || null),
  os: text(({ os }) => os),
  os_version: text(({ osVersion }) => osVersion),
  app_version: text(({ appVersion }) => appVersion),
  time_zone: text(({ timeZone }) => timeZone),
  device_id: text(({ deviceId }) => deviceId),
  device_id_sha256: text(({ deviceId }) => deviceId && sha256Hex(deviceId)),
  advertising_id: text(advertisingIdOf),
  idfa: text((event) => (event.os === 'ios' ? advertisingIdOf(event) : null)),
  gaid: text((event) => (event.os === 'android' ? advertisingIdOf(event) : null)),
  vendor_id: text((event) => (isTrackingLimited(event) ? null : event.vendorId)),
  transaction_id: text(({ purchase }) => purchase?.transactionId ?? null),
  product_id: text(({ purchase }) => purchase?.productId ?? null),
  ad_network: text(({ ad }) => ad?.network ?? null),
  ad_format: text(({ ad }) => ad?.format ?? null),
  lat: number((event) => oneOrZero(isTrackingLimited(event))),
  att_status: text(({ consent }) => consent.attStatus),
  ad_user_data: number(({ consent }) => oneOrZero(consent.adUserData)),
};

/** The macro of the destination's own credential. */
export const SECRET_MACRO = 'secret';

export type MacroPart = { text: string; name: string; argument: string; isOptional: boolean };
export type TemplatePart = string | MacroPart;

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

/** The macros of a template. */
export const macrosOf = (template: string): MacroPart[] =>
  partsOf(template).filter((part) => typeof part !== 'string');

/** Why the macros of a template are refused, one text each. */
export function macroFaults(template: string): string[] {
  return macrosOf(template).flatMap(({ text, name, argument }) => {
    if (name === SECRET_MACRO) return [];
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
  for (const { text, name, argument } of templates.flatMap(macrosOf)) {
    if (name === SECRET_MACRO) continue;
    const value = (await MACROS[name]?.read(event, argument)) ?? null;
    values.set(text, value === '' ? null : value);
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
