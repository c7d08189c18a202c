import type { Api } from '../api.ts';
import { AAK_POSTBACK, SKAN_POSTBACKS } from './apple-postbacks.ts';

// What Apple's devices and stores post. Only Apple and Google can sign it: the postbacks are those that Apple published, and the other
// requests are forged, so that the debugger has something that was refused.

const SKAN_PATH = '/.well-known/skadnetwork/report-attribution/';
const AAK_PATH = '/.well-known/appattribution/report-attribution/';

const storeUrl = (app: string) => `https://apps.apple.com/app/id${app}`;
/** The apps of the published postbacks. */
const [SKAN_APP, AAK_APP] = ['525463029', '10738027756'];

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

const SETTINGS = {
  ios_store_url: storeUrl(SKAN_APP),
  apple_bundle_id: 'com.example.game',
  google_push_account: 'push@example.iam.gserviceaccount.com',
};

/** What the conversion values of the published postbacks may mean. */
const SCHEMA = {
  valid_from: '2020-01-01',
  currency: 'usd',
  fine: {
    20: { event: 'level_10', revenue_min: 0.5, revenue_max: 1.5 },
    63: { event: 'purchase', revenue_min: 10, revenue_max: 30 },
  },
  coarse: { 1: { high: { event: 'purchase', revenue_min: 5, revenue_max: 30 } } },
};

/**
 * Sends Apple's postbacks for the application, and forged ones. Does nothing if it has an App Store app of its own: the published postbacks are of
 * other apps.
 */
export async function sendPostbacks(api: Api, application: string): Promise<void> {
  const path = `/v1/applications/${application}`;
  const { ios_store_url } = await api.team<{ ios_store_url: string | null }>('GET', path);
  if (ios_store_url !== null && ios_store_url !== SETTINGS.ios_store_url) return;
  // A postback belongs to the application that has its app when it arrives.
  await api.team('PATCH', path, { ...SETTINGS, ios_store_url: storeUrl(AAK_APP) });
  await api.post(AAK_PATH, AAK_POSTBACK);
  await api.team('PATCH', path, SETTINGS);
  await api.team('PUT', `${path}/skan-schema`, { versions: [SCHEMA] });
  for (const postback of Object.values(SKAN_POSTBACKS)) await api.post(SKAN_PATH, postback);
  // Anyone can send a postback again with another value.
  await api.post(SKAN_PATH, { ...SKAN_POSTBACKS['4.0 fine'], 'conversion-value': 1 });
  await api.postRefused(SKAN_PATH, { ...SKAN_POSTBACKS['4.0 fine'], 'source-identifier': '1' });
  const payload = { 'advertised-item-identifier': Number(SKAN_APP), 'postback-identifier': 'forged' };
  const forged = [{ alg: 'ES256', kid: 'apple-cas-identifier/0' }, payload].map(encode).join('.');
  await api.postRefused(AAK_PATH, { 'jws-string': `${forged}.${'A'.repeat(86)}` });
}

/** Sends forged notifications of the App Store and Google Play. `secret` is the intake secret. */
export async function sendForgedNotifications(api: Api, secret: string): Promise<void> {
  const header = { alg: 'ES256', x5c: [] };
  const notification = { notificationType: 'REFUND', notificationUUID: 'forged' };
  const forged = [header, notification].map(encode).join('.');
  await api.postRefused(`/stores/apple/${secret}`, { signedPayload: `${forged}.${'A'.repeat(86)}` });
  const message = { messageId: 'forged', data: encode({ packageName: 'com.example.game' }) };
  await api.postRefused(`/stores/google/${secret}`, { message, subscription: 'forged' });
}
