import * as z from 'zod';
import { readObject } from '#lib/encoding/json-object';
import { META_API, PASSING_CODES } from '../meta-api.ts';
import type { DestinationKind, OutboundEvent } from '../outbound.ts';
import { clickOf } from './click.ts';
import { advertisingIdOf } from './consent.ts';
import {
  accessToken,
  amountOf,
  CONVERSION_LABELS,
  conversionSettings,
  digits,
  eventNameOf,
  externalIdOf,
  extinfoOf,
  failed,
  isOn,
  isTrackingAllowed,
  jsonRequest,
  readUndocumented,
  skipReason,
  told,
} from './conversions.ts';
import { retryAfterOf } from './read-answer.ts';

// Meta's Conversions API for app events.

const NETWORK = 'Meta';

/** Meta's names of app events. Those of custom events are free, so they are their own. */
const NAMES = {
  install: 'MobileAppInstall',
  purchase: 'Purchase',
  ad: 'AdImpression',
  retention: 'ActivateApp',
};
const CUSTOM = /^custom:(.+)$/s;

/** Meta's form of a click id: `fb.1.<time of the click in ms>.<fbclid>`. */
function fbcOf(event: OutboundEvent): string | undefined {
  const { fbclid } = clickOf(event);
  return fbclid && event.attribution?.clickAt ? `fb.1.${event.attribution.clickAt}.${fbclid}` : undefined;
}

export const meta: DestinationKind = {
  label: 'Meta Conversions API',
  settings: z.object({ dataset_id: digits(), ...conversionSettings }),
  credentials: z.object({ access_token: accessToken() }),
  labels: { dataset_id: 'Dataset ID', ...CONVERSION_LABELS },
  source: 'https://developers.facebook.com/documentation/ads-commerce/conversions-api/app-events',
  unverified:
    'Nobody has run this against Meta. Our device id stands for `anon_id`, which Meta’s SDK makes itself. An install is sent as `MobileAppInstall`, as the SDK does.',
  describe: ({ settings }) => `Dataset ${settings.dataset_id ?? ''}`,
  async prepare(event, setup) {
    const { settings, credentials, isTest } = setup;
    const name = eventNameOf(event, setup, NAMES) ?? CUSTOM.exec(event.type)?.[1] ?? null;
    const skipped = skipReason(event, setup, NETWORK, name);
    if (skipped !== null) return { skipped };
    // Required, at the fifth place of `extinfo`.
    if (event.osVersion === null) return { skipped: 'The version of the OS is unknown, which Meta requires' };
    const conversion = {
      event_name: name,
      event_time: Math.floor(event.at / 1000),
      event_id: event.id,
      action_source: 'app',
      user_data: told({
        anon_id: event.deviceId,
        external_id: [await externalIdOf(event)],
        madid: advertisingIdOf(event),
        fbc: fbcOf(event),
      }),
      app_data: {
        advertiser_tracking_enabled: isTrackingAllowed(event) ? 1 : 0,
        application_tracking_enabled: 1,
        extinfo: extinfoOf(event),
      },
      custom_data: told({ ...amountOf(event), order_id: event.purchase?.transactionId }),
      ...(isOn(settings.limited_data_use)
        ? {
            data_processing_options: ['LDU'],
            data_processing_options_country: 0,
            data_processing_options_state: 0,
          }
        : {}),
    };
    const body = { data: [conversion], ...(isTest ? { test_event_code: settings.test_event_code } : {}) };
    const url = `${META_API}/${settings.dataset_id ?? ''}/events`;
    return jsonRequest(url, body, { parameter: 'access_token', value: credentials.access_token ?? '' });
  },
  read(answer, now) {
    const read = readObject(answer.body);
    const error = readObject(JSON.stringify(read?.error ?? null));
    if (error) {
      const { code, message, is_transient: isTransient } = error;
      const passes = PASSING_CODES.has(Number(code)) || isTransient === true || answer.status >= 429;
      const retryAfterMs = retryAfterOf(answer.headers, now);
      return {
        ...failed(NETWORK, code, message, passes || retryAfterMs !== undefined),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      };
    }
    if (typeof read?.events_received !== 'number') return readUndocumented(NETWORK, answer, now);
    if (read.events_received > 0 && answer.status < 300) return { isDelivered: true };
    return failed(NETWORK, answer.status, 'It received no event', false);
  },
};
