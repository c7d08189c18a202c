import ipaddr from 'ipaddr.js';
import type { OutboundEvent } from '../outbound.ts';

/** Names under which links carry an address, a browser or an id of the device. None of these was given to be passed on. */
const HIDDEN_NAME =
  /^(?:(?:\w+[_-])?ip(?:_?(?:addr(?:ess)?|v[46]))?|uip|(?:\w+[_-])?(?:ua|user_?agent)|(?:\w+[_-])?(?:idfa|idfv|ifa|gaid|adid|aaid|oaid|maid|madid|android_?id|advertising_?id|device_?id)(?:_(?:md5|sha1|sha256|lower|upper))?)$/i;

const IPV4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/;
const LIKE_IPV6 = /[\da-f:.]*:[\da-f:.]*:[\da-f:.]*/gi;

/** Whether a click's parameter of this name never leaves. */
export const isHiddenParameter = (name: string): boolean => HIDDEN_NAME.test(name);

/** Whether a text has an IP address in it. */
const hasAddress = (text: string): boolean =>
  IPV4.test(text) || (text.match(LIKE_IPV6) ?? []).some((part) => ipaddr.IPv6.isValid(part));

/** The parameters of a click that may leave: without addresses and ids of the device. */
export const passableParams = (params: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).filter(([name, text]) => !isHiddenParameter(name) && !hasAddress(text)),
  );

/** The parameters of the credited click that may leave. */
export const clickOf = ({ attribution }: OutboundEvent): Record<string, string> =>
  passableParams(attribution?.click ?? {});
