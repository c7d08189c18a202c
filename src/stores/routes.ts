import type { Context } from 'hono';
import * as z from 'zod';
import {
  AppError,
  bearerOf,
  type Endpoint,
  EXAMPLE,
  exactJsonBody,
  invalidRequest,
  keepAliveOf,
  limitBody,
  readAs,
  requireDataCollection,
  unavailable,
} from '#http';
import { faults, nullableText } from '#http/answers';
import { logWarning } from '#lib/log';
import { packageNameOf } from '#lib/store-urls';
import { type IntakeEnv, refuseOtherMethods, requireIntakeSecret } from '#teams';
import { readAppStoreNotification } from './app-store.ts';
import { readGooglePush } from './google-play.ts';
import { GOOGLE_KEYS_URL, GoogleKeys, verifyGoogleToken } from './google-token.ts';
import type { StoreNotification } from './notification.ts';
import { receiveNotification } from './receive.ts';
import { isAuthorized, readRevenueCatEvent } from './revenuecat.ts';

/** Above the largest notifications, those of customers with many names at RevenueCat. */
const BODY_BYTES = 256 * 1024;
const KEYS_TIMEOUT_MS = 5_000;

type IntakeContext = Context<IntakeEnv>;

const missingSetting = (name: string) =>
  invalidRequest([
    { path: '', message: `The application has no ${name}: set it to receive these notifications` },
  ]);

const AppleBody = z.object({ signedPayload: z.string('must be text').max(200_000, 'is too long') });

async function fromApple(c: IntakeContext): Promise<StoreNotification> {
  const { appleBundleId, appStoreId } = c.get('intake');
  if (appleBundleId === null) throw missingSetting('apple_bundle_id');
  const { signedPayload } = readAs(AppleBody, await exactJsonBody(c));
  const app = { bundleId: appleBundleId, ...(appStoreId === null ? {} : { appAppleId: appStoreId }) };
  return readAppStoreNotification(signedPayload, app, { now: Date.now() });
}

/** Google's keys, which this isolate keeps for an hour. */
const googleKeys = new GoogleKeys(async () => {
  const answer = await fetch(GOOGLE_KEYS_URL, {
    redirect: 'manual',
    signal: AbortSignal.timeout(KEYS_TIMEOUT_MS),
  });
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
  // Pub/Sub sends what is refused again, for days.
  return readGooglePush(await exactJsonBody(c), packageName);
}

async function fromRevenueCat(c: IntakeContext): Promise<StoreNotification> {
  const { revenuecatAuthorizationHash } = c.get('intake');
  if (revenuecatAuthorizationHash === null) throw missingSetting('revenuecat_authorization');
  if (!(await isAuthorized(c.req.header('Authorization'), revenuecatAuthorizationHash))) {
    throw new AppError('unauthenticated', 'The Authorization value is not revenuecat_authorization');
  }
  const read = readRevenueCatEvent(await exactJsonBody(c));
  if (!read) throw invalidRequest([{ path: 'event', message: 'is not an event of RevenueCat' }]);
  return read;
}

const NotificationReceived = z.object({
  success: z.literal(true),
  message: z.literal('Notification received'),
  event_id: nullableText().meta({
    description: 'The event that counts it. Null if it counts nothing; `reason` says why.',
  }),
  reason: nullableText(),
  warnings: faults.optional().meta({
    description: 'What of it says nothing, or was taken for something else. Present only if there is any.',
  }),
});

const receive = (read: (c: IntakeContext) => Promise<StoreNotification>) => async (c: IntakeContext) => {
  const notification = await read(c);
  const {
    eventId,
    reason,
    warnings = [],
  } = await receiveNotification(c.env, keepAliveOf(c), c.get('intake'), notification, Date.now());
  if (eventId !== null) c.set('eventId', eventId);
  return c.json<z.input<typeof NotificationReceived>>({
    ...{ success: true, message: 'Notification received' },
    ...{ event_id: eventId, reason },
    ...(warnings.length > 0 ? { warnings: [...warnings] } : {}),
  });
};

const checks = [requireIntakeSecret, limitBody(BODY_BYTES), requireDataCollection] as const;

const shared = {
  tag: 'Stores',
  method: 'post',
  credential: null,
  params: { secret: EXAMPLE.intakeSecret },
  otherMethods: [requireIntakeSecret, refuseOtherMethods('POST')],
  answer: {
    description: 'It is genuine, and its event is in the queue if it counts. A repeated one counts once.',
    schema: NotificationReceived,
  },
} as const;

const COUNTS =
  'Payments, renewals, trials, refunds and reversals of refunds count; the sandbox and everything else is kept and counts nothing. A payment that a client sends too counts once, with the amount that the store tells.';

export const storeEndpoints: Endpoint[] = [
  {
    ...shared,
    path: '/stores/apple/{secret}',
    summary: 'Receive an App Store notification',
    description: `App Store Server Notifications V2. Both JWS have to lead to Apple Root CA - G3, and to be of \`apple_bundle_id\`. ${COUNTS}`,
    body: { schema: z.object({ signedPayload: z.string() }), examples: {} },
    errors: { 400: 'It is not genuine, is of another app, or `apple_bundle_id` is not set.' },
    handlers: [...checks, receive(fromApple)],
  },
  {
    ...shared,
    path: '/stores/google/{secret}',
    summary: 'Receive a Google Play notification',
    description: `Real-time developer notifications, pushed by Pub/Sub with a token of \`google_push_account\` for this address. Refunds count; Google tells no amounts of payments. A push of another app is acknowledged, or Pub/Sub would send it again. ${COUNTS}`,
    body: {
      schema: z.object({ message: z.object({ data: z.string(), messageId: z.string() }) }),
      examples: {},
    },
    errors: { 400: '`android_store_url` or `google_push_account` is not set.' },
    handlers: [...checks, receive(fromGoogle)],
  },
  {
    ...shared,
    path: '/stores/revenuecat/{secret}',
    summary: 'Receive a RevenueCat webhook',
    description: `With \`revenuecat_authorization\` in the header Authorization. ${COUNTS}`,
    body: { schema: z.object({ event: z.looseObject({ id: z.string() }) }), examples: {} },
    errors: { 400: 'It is not an event, or `revenuecat_authorization` is not set.' },
    handlers: [...checks, receive(fromRevenueCat)],
  },
];
