import * as z from 'zod';
import { sha256Hex } from '#lib/crypto';
import { readObject } from '#lib/encoding/json-object';
import { requiredText } from '#lib/input/fields';
import type { DestinationKind, OutboundEvent } from '../outbound.ts';
import { clickOf } from './click.ts';
import { advertisingIdOf, isTrackingLimited } from './consent.ts';
import {
  accessToken,
  amountOf,
  CONVERSION_LABELS,
  conversionSettings,
  eventNameOf,
  externalIdOf,
  failed,
  isOn,
  isTrackingAllowed,
  jsonRequest,
  readUndocumented,
  skipReason,
  told,
} from './conversions.ts';

// TikTok's Events API 2.0 for app events.

const URL_OF_EVENTS = 'https://business-api.tiktok.com/open_api/v1.3/event/track/';
const NETWORK = 'TikTok';
const NAMES = { install: 'InstallApp', purchase: 'Purchase', ad: 'InAppADImpr', retention: 'LaunchAPP' };

/** Too many requests, and from 50000 on failures of TikTok itself. */
const isPassing = (code: number, message: string) =>
  code === 40_100 || code >= 50_000 || message.includes('QPS limit');

/** TikTok hashes the IDFA in lower case, and Google's id, which is in lower case, as it is. */
async function idsOf(event: OutboundEvent) {
  const id = advertisingIdOf(event);
  const hash = id === null ? null : await sha256Hex(id.toLowerCase());
  return event.os === 'ios'
    ? { idfa: hash, idfv: isTrackingLimited(event) ? null : event.vendorId }
    : { gaid: hash };
}

function attStatusOf(event: OutboundEvent): string {
  if (event.os !== 'ios') return 'NOT_APPLICABLE';
  return (
    event.consent.attStatus?.toUpperCase() ?? (isTrackingAllowed(event) ? 'AUTHORIZED' : 'NOT_DETERMINED')
  );
}

/** What TikTok takes of advertisers only that it has enabled for it. */
function allowListed(event: OutboundEvent) {
  const { application, attribution, appVersion } = event;
  return {
    app: told({ app_id: application.storeId, app_name: application.name, app_version: appVersion }),
    ad: told({ callback: clickOf(event).ttclid, attributed: attribution?.network === 'tiktok' }),
  };
}

export const tiktok: DestinationKind = {
  label: 'TikTok Events API',
  settings: z.object({
    tiktok_app_id: requiredText(64).regex(/^[\w-]+$/, 'must be the TikTok app ID'),
    ...conversionSettings,
    app_and_ad: conversionSettings.limited_data_use,
  }),
  credentials: z.object({ access_token: accessToken() }),
  labels: {
    tiktok_app_id: 'TikTok app ID',
    ...CONVERSION_LABELS,
    app_and_ad: 'Send the fields app and ad, which TikTok has to enable for you: true or false',
  },
  source: 'https://business-api.tiktok.com/portal/docs',
  unverified:
    'Nobody has run this against TikTok. The fields `app` and `ad`, with the click id, need to be enabled by TikTok.',
  describe: ({ settings }) => `App ${settings.tiktok_app_id ?? ''}`,
  async prepare(event, setup) {
    const { settings, credentials, isTest } = setup;
    const name = eventNameOf(event, setup, NAMES);
    const skipped = skipReason(event, setup, NETWORK, name);
    if (skipped !== null) return { skipped };
    const { purchase } = event;
    const conversion = {
      event: name,
      event_time: Math.floor(event.at / 1000),
      event_id: event.id,
      user: told({
        external_id: [await externalIdOf(event)],
        ...(await idsOf(event)),
        att_status: attStatusOf(event),
      }),
      properties: told({
        ...amountOf(event),
        contents: purchase?.productId ? [{ content_id: purchase.productId }] : undefined,
      }),
      limited_data_use: isOn(settings.limited_data_use) || isTrackingLimited(event),
      ...(isOn(settings.app_and_ad) ? allowListed(event) : {}),
    };
    const body = {
      event_source: 'app',
      event_source_id: settings.tiktok_app_id,
      ...(isTest ? { test_event_code: settings.test_event_code } : {}),
      data: [conversion],
    };
    return jsonRequest(URL_OF_EVENTS, body, {
      header: 'Access-Token',
      value: credentials.access_token ?? '',
    });
  },
  /** TikTok answers with HTTP 200 whatever it thinks of the events; `code` decides. */
  read(answer, now) {
    const { code, message } = readObject(answer.body) ?? {};
    if (typeof code !== 'number') return readUndocumented(NETWORK, answer, now);
    if (code === 0) return { isDelivered: true };
    return failed(NETWORK, code, message, isPassing(code, String(message)));
  },
};
