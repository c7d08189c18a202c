import * as z from 'zod';
import { EXAMPLE, type Operation } from '#http/operations';
import { NotificationReceived } from './answers.ts';

const shared = {
  tag: 'Stores',
  method: 'post',
  credential: null,
  parameters: {
    path: z.object({
      secret: z.string().meta({ example: EXAMPLE.intakeSecret }),
    }),
  },
  answer: {
    status: 200,
    description: 'It is genuine, and its event is in the queue if it counts. A repeated one counts once.',
    schema: NotificationReceived,
  },
} as const;

const COUNTS =
  'Payments, renewals, trials, refunds and reversals of refunds count; the sandbox and everything else is kept and counts nothing. A payment that a client sends too counts once, with the amount that the store tells.';

export const operations: Operation[] = [
  {
    ...shared,
    path: '/stores/apple/{secret}',
    summary: 'Receive an App Store notification',
    description: `App Store Server Notifications V2. Both JWS have to lead to Apple Root CA - G3, and to be of \`apple_bundle_id\`. ${COUNTS}`,
    body: { schema: z.object({ signedPayload: z.string() }), examples: {} },
    errors: { 400: 'It is not genuine, is of another app, or `apple_bundle_id` is not set.' },
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
  },
  {
    ...shared,
    path: '/stores/revenuecat/{secret}',
    summary: 'Receive a RevenueCat webhook',
    description: `With \`revenuecat_authorization\` in the header Authorization. ${COUNTS}`,
    body: { schema: z.object({ event: z.looseObject({ id: z.string() }) }), examples: {} },
    errors: { 400: 'It is not an event, or `revenuecat_authorization` is not set.' },
  },
];
