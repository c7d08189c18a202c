import * as z from 'zod';
import { optionalText, requiredText } from '#http';
import { amountField } from '#lib/money';
import { iso, isoOrNull } from '#lib/time';
import {
  advertisingIdOf,
  clickOf,
  type DestinationKind,
  isTrackingLimited,
  type OutboundEvent,
  readStatus,
} from '#networks/outbound';
import { signWebhook } from './webhook-signature.ts';

/** Names of a custom event's parameters, separated by commas. */
export const listed = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

const propertiesOf = ({ properties }: OutboundEvent, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(properties, name) ? [[name, properties[name] ?? '']] : [])),
  );

/** What a webhook is told of an event: `data` of its body. */
function dataOf(event: OutboundEvent, names: readonly string[]) {
  const { application, attribution, value, purchase, ad, consent } = event;
  return {
    event_id: event.id,
    application: { id: application.id, name: application.name, store_id: application.storeId },
    device: {
      id: event.deviceId,
      os: event.os,
      os_version: event.osVersion,
      app_version: event.appVersion,
      country: event.country?.toUpperCase() ?? null,
      time_zone: event.timeZone,
      advertising_id: advertisingIdOf(event),
      vendor_id: isTrackingLimited(event) ? null : event.vendorId,
    },
    ...(value
      ? { ...amountField('value', value.nanos), currency: value.currency }
      : { value: null, currency: null }),
    purchase: purchase && { transaction_id: purchase.transactionId, product_id: purchase.productId },
    ad: ad && { network: ad.network, format: ad.format },
    properties: propertiesOf(event, names),
    attribution: attribution && {
      network: attribution.network,
      campaign: attribution.campaign,
      adset: attribution.adset,
      creative: attribution.creative,
      method: attribution.method,
      clicked_at: isoOrNull(attribution.clickAt),
      click: clickOf(event),
    },
    consent: {
      lat: consent.limitAdTracking,
      att_status: consent.attStatus,
      ad_user_data: consent.adUserData,
    },
  };
}

/** The URL without its query, which may have a key in it. */
function shownUrl(text: string): string {
  const { origin, pathname, search } = new URL(text);
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

/** Signed as Standard Webhooks say. The same event is sent with the same id and body at every attempt; only its time and signature change. */
export const webhook: DestinationKind = {
  label: 'Webhook',
  settings: z.object({ url: requiredText(2048), properties: optionalText(1024) }),
  credentials: z.object({}),
  labels: {
    url: 'URL',
    properties: 'Parameters of custom events to send, separated by commas',
  },
  source: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  unverified: null,
  describe: ({ settings }) => shownUrl(settings.url ?? ''),
  async prepare(event, { settings, secrets, isTest }, now) {
    const url = settings.url ?? '';
    const body = JSON.stringify({
      type: event.type,
      timestamp: iso(event.at),
      data: { ...dataOf(event, listed(settings.properties)), ...(isTest ? { test: true } : {}) },
    });
    const signed = await signWebhook({ id: event.id, body, secrets }, now);
    const headers = { 'Content-Type': 'application/json', ...signed };
    return { method: 'POST', url, headers, body, shown: { url: shownUrl(url), headers, body } };
  },
  read: readStatus,
};
