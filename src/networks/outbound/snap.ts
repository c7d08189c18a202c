import * as z from 'zod';
import { readObject } from '#lib/encoding/json-object';
import { requiredText } from '#lib/input/fields';
import type { DestinationKind } from '../outbound.ts';
import { clickOf } from './click.ts';
import { advertisingIdOf, isTrackingLimited } from './consent.ts';
import {
  accessToken,
  amountOf,
  CONVERSION_LABELS,
  conversionSettings,
  eventNameOf,
  externalIdOf,
  extinfoOf,
  failed,
  isOn,
  isTrackingAllowed,
  jsonRequest,
  skipReason,
  told,
} from './conversions.ts';
import { readStatus } from './read-answer.ts';

// Snap's Conversions API v3 for app events.

const NETWORK = 'Snap';
const NAMES = { install: 'APP_INSTALL', purchase: 'PURCHASE', ad: 'AD_VIEW', retention: 'APP_OPEN' };
const REFUSED = new Set(['INVALID', 'FAILED', 'ERROR']);

export const snap: DestinationKind = {
  label: 'Snap Conversions API',
  settings: z.object({
    snap_app_id: requiredText(64).regex(/^[\w-]+$/, 'must be the Snap App ID'),
    ...conversionSettings,
  }),
  credentials: z.object({ access_token: accessToken() }),
  labels: { snap_app_id: 'Snap App ID', ...CONVERSION_LABELS },
  source: 'https://developers.snap.com/api/marketing-api/Conversions-API/UsingTheAPI',
  unverified:
    'Nobody has run this against Snap. Its own page shows `event_time` in seconds and `action_source` as `MOBILE_APP`; milliseconds and `app` are what its integration with Segment sends. The codes of tests and limited data use are sent as Meta takes them.',
  describe: ({ settings }) => `App ${settings.snap_app_id ?? ''}`,
  async prepare(event, setup) {
    const { settings, credentials, isTest } = setup;
    const name = eventNameOf(event, setup, NAMES);
    const skipped = skipReason(event, setup, NETWORK, name);
    if (skipped !== null) return { skipped };
    const { ScCid, sccid } = clickOf(event);
    const user = told({
      sc_click_id: ScCid ?? sccid,
      idfv: isTrackingLimited(event) ? null : event.vendorId,
      madid: advertisingIdOf(event)?.toLowerCase(),
    });
    if (Object.keys(user).length === 0) {
      return { skipped: 'The event has neither a click id of Snap nor an advertising or vendor id' };
    }
    const conversion = {
      event_name: name,
      event_time: event.at,
      event_id: event.id,
      action_source: 'app',
      user_data: { ...user, external_id: [await externalIdOf(event)] },
      app_data: told({
        app_id: event.application.storeId,
        advertiser_tracking_enabled: isTrackingAllowed(event) ? 1 : 0,
        application_tracking_enabled: 1,
        extinfo: extinfoOf(event),
      }),
      custom_data: told({ ...amountOf(event), order_id: event.purchase?.transactionId }),
      ...(isOn(settings.limited_data_use) ? { data_processing_options: ['LDU'] } : {}),
    };
    const body = { data: [conversion], ...(isTest ? { test_event_code: settings.test_event_code } : {}) };
    const url = `https://tr.snapchat.com/v3/${settings.snap_app_id ?? ''}/events`;
    return jsonRequest(url, body, { parameter: 'access_token', value: credentials.access_token ?? '' });
  },
  /** A success says so in its body, too: `{"status":"VALID"}`. */
  read(answer, now) {
    const { status, reason } = readObject(answer.body) ?? {};
    if (answer.status < 300 && REFUSED.has(String(status))) return failed(NETWORK, status, reason, false);
    return readStatus(answer, now);
  },
};
