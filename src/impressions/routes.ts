import { Hono } from 'hono';
import { invalidRequest, requireDataCollection } from '#http';
import type { ImpressionTemplate } from '#networks';
import { type IntakeEnv, refuseOtherMethods, requireIntakeSecret } from '#teams';
import type { ImpressionReceived } from './answers.ts';
import { readCallback } from './read-callback.ts';
import { receiveImpression } from './receive.ts';

const NO_TEMPLATE = 'The application has no impression_template: set it to receive impressions';

/** Platforms call it without a signature and without a retry: the secret in the path is all that proves them. */
export const impressionRoutes = new Hono<IntakeEnv>()
  .get('/impression/:secret', requireIntakeSecret, requireDataCollection, async (c) => {
    const application = c.get('intake');
    // Validated when it was saved.
    const template = application.impressionTemplate as ImpressionTemplate | null;
    if (template === null) {
      throw invalidRequest([{ path: '', message: NO_TEMPLATE }]);
    }
    const now = Date.now();
    const impression = readCallback(template, c.req.query(), now);
    const eventId = await receiveImpression(c.env, application, template, impression, now);
    c.set('eventId', eventId);
    return c.json<ImpressionReceived>({ success: true, message: 'Impression received', event_id: eventId });
  })
  .all('/impression/:secret', requireIntakeSecret, refuseOtherMethods('GET, HEAD'));
