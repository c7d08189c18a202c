import type { Context } from 'hono';
import * as z from 'zod';
import {
  type Endpoint,
  EXAMPLE,
  invalidRequest,
  keepAliveOf,
  noteAbsent,
  requireDataCollection,
} from '#http';
import { faults } from '#http/answers';
import type { ImpressionTemplate } from '#networks';
import { type IntakeEnv, refuseOtherMethods, requireIntakeSecret } from '#teams';
import { readCallback } from './read-callback.ts';
import { receiveImpression } from './receive.ts';

const NO_TEMPLATE = 'The application has no impression_template: set it to receive impressions';

const ImpressionReceived = z.object({
  success: z.literal(true),
  message: z.literal('Impression received'),
  event_id: z.string(),
  warnings: faults.optional().meta({
    description: 'Parameters that say nothing, or not what they should. Present only if there are any.',
  }),
});

/** Names without what is left of a `&` that was escaped as HTML. */
const queryIn = (query: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name.replace(/^(?:amp;)+/i, ''), value]));

/** Platforms call it without a signature and without a retry: the secret in the path is all that proves them. */
async function receive(c: Context<IntakeEnv>) {
  const application = c.get('intake');
  // Validated when it was saved.
  const template = application.impressionTemplate as ImpressionTemplate | null;
  if (template === null) {
    throw invalidRequest([{ path: '', message: NO_TEMPLATE }]);
  }
  const now = Date.now();
  const impression = readCallback(template, queryIn(c.req.query()), now);
  const keepAlive = keepAliveOf(c);
  const { id, warnings } = await receiveImpression(c.env, keepAlive, application, template, impression, now);
  c.set('eventId', id);
  noteAbsent(c, application.id, warnings);
  const received = {
    ...({ success: true, message: 'Impression received', event_id: id } as const),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  return c.json<z.input<typeof ImpressionReceived>>(received);
}

export const impressionEndpoints: Endpoint[] = [
  {
    tag: 'Impressions',
    method: 'get',
    path: '/impression/{secret}',
    credential: null,
    summary: 'Receive an ad impression of mediation',
    description:
      "For the callbacks of mediation platforms, such as AppLovin MAX and TradPlus. The secret is the application's intake secret. Its `impression_template` says which query parameter has the amount, the id and the rest. A callback that is repeated with the same id counts once. An impression of an unknown device counts by network and day, but for no device.",
    params: { secret: EXAMPLE.intakeSecret },
    query: {
      schema: z.looseObject({ id: z.string().optional(), revenue: z.string().optional() }),
      example: { id: 'e1', revenue: '0.0125' },
    },
    answer: { description: 'The impression is in the queue.', schema: ImpressionReceived },
    errors: {
      400: 'The callback has no amount or no id where the template says, or the application has no template.',
      401: 'The secret is unknown or was replaced.',
      403: 'The data collection of the application is off.',
    },
    handlers: [requireIntakeSecret, requireDataCollection, receive],
    otherMethods: [requireIntakeSecret, refuseOtherMethods('GET, HEAD')],
  },
];
