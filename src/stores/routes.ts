import { type Context, Hono } from 'hono';
import * as z from 'zod';
import {
  AppError,
  bearerOf,
  invalidRequest,
  limitBody,
  requireDataCollection,
  toFaults,
  unavailable,
} from '#http';
import { parseExactJson } from '#lib/encoding/exact-json';
import { logWarning } from '#lib/log';
import { appStoreIdOf, packageNameOf } from '#lib/store-urls';
import { type IntakeEnv, refuseOtherMethods, requireIntakeSecret } from '#teams';
import type { NotificationReceived } from './answers.ts';
import { readAppStoreNotification } from './app-store.ts';
import { readGooglePush, unreadGooglePush } from './google-play.ts';
import { GOOGLE_KEYS_URL, GoogleKeys, verifyGoogleToken } from './google-token.ts';
import type { StoreNotification } from './notification.ts';
import { receiveNotification } from './receive.ts';
import { isAuthorized, readRevenueCatEvent } from './revenuecat.ts';

/** Above the largest notifications, those of customers with many names at RevenueCat. */
const BODY_BYTES = 256 * 1024;
const KEYS_TIMEOUT_MS = 5_000;

type IntakeContext = Context<IntakeEnv>;

async function readBody(c: IntakeContext): Promise<unknown> {
  const text = await c.req.text();
  try {
    return parseExactJson(text);
  } catch {
    throw invalidRequest([{ path: '', message: 'The body is not valid JSON' }]);
  }
}

const missingSetting = (name: string) =>
  invalidRequest([
    { path: '', message: `The application has no ${name}: set it to receive these notifications` },
  ]);

const AppleBody = z.object({ signedPayload: z.string('must be text').max(200_000, 'is too long') });

async function fromApple(c: IntakeContext): Promise<StoreNotification> {
  const { appleBundleId, iosStoreUrl } = c.get('intake');
  if (appleBundleId === null) throw missingSetting('apple_bundle_id');
  const body = AppleBody.safeParse(await readBody(c));
  if (!body.success) throw invalidRequest(toFaults(body.error));
  const appAppleId = appStoreIdOf(iosStoreUrl);
  const app = { bundleId: appleBundleId, ...(appAppleId === null ? {} : { appAppleId }) };
  return readAppStoreNotification(body.data.signedPayload, app, { now: Date.now() });
}

/** Google's keys, which this isolate keeps for an hour. */
const googleKeys = new GoogleKeys(async () => {
  const answer = await fetch(GOOGLE_KEYS_URL, { signal: AbortSignal.timeout(KEYS_TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`Google’s keys: ${answer.status}`);
  return answer.json();
});

async function isOfGoogle(token: string, expected: { audience: string; email: string }): Promise<boolean> {
  try {
    return await verifyGoogleToken(token, expected, googleKeys, Date.now());
  } catch (error) {
    logWarning('keys of Google not fetched', error);
    throw unavailable();
  }
}

async function fromGoogle(c: IntakeContext): Promise<StoreNotification> {
  const { androidStoreUrl, googlePushAccount } = c.get('intake');
  const packageName = packageNameOf(androidStoreUrl);
  if (packageName === null) throw missingSetting('android_store_url of Google Play');
  if (googlePushAccount === null) throw missingSetting('google_push_account');
  // Pub/Sub's audience is the address of the push, unless another one is set there.
  const { origin, pathname } = new URL(c.req.url);
  const expected = { audience: origin + pathname, email: googlePushAccount };
  if (!(await isOfGoogle(bearerOf(c) ?? '', expected))) {
    throw new AppError(
      'unauthenticated',
      'The token is not Google’s for this address and google_push_account, or has expired',
    );
  }
  const body = await readBody(c);
  // Pub/Sub sends what is refused again, for days.
  return readGooglePush(body, packageName) ?? unreadGooglePush(body);
}

async function fromRevenueCat(c: IntakeContext): Promise<StoreNotification> {
  const { revenuecatAuthorizationHash } = c.get('intake');
  if (revenuecatAuthorizationHash === null) throw missingSetting('revenuecat_authorization');
  if (!(await isAuthorized(c.req.header('Authorization'), revenuecatAuthorizationHash))) {
    throw new AppError('unauthenticated', 'The Authorization value is not revenuecat_authorization');
  }
  const read = readRevenueCatEvent(await readBody(c));
  if (!read) throw invalidRequest([{ path: 'event', message: 'is not an event of RevenueCat' }]);
  return read;
}

const receive = (read: (c: IntakeContext) => Promise<StoreNotification>) => async (c: IntakeContext) => {
  const notification = await read(c);
  const { eventId, reason } = await receiveNotification(c.env, c.get('intake'), notification, Date.now());
  if (eventId !== null) c.set('eventId', eventId);
  return c.json<NotificationReceived>({
    ...{ success: true, message: 'Notification received' },
    ...{ event_id: eventId, reason },
  });
};

const checks = [requireIntakeSecret, limitBody(BODY_BYTES), requireDataCollection] as const;

export const storeRoutes = new Hono<IntakeEnv>()
  .post('/stores/apple/:secret', ...checks, receive(fromApple))
  .post('/stores/google/:secret', ...checks, receive(fromGoogle))
  .post('/stores/revenuecat/:secret', ...checks, receive(fromRevenueCat))
  .all('/stores/apple/:secret', requireIntakeSecret, refuseOtherMethods('POST'))
  .all('/stores/google/:secret', requireIntakeSecret, refuseOtherMethods('POST'))
  .all('/stores/revenuecat/:secret', requireIntakeSecret, refuseOtherMethods('POST'));
