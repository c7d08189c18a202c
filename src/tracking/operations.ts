import * as z from 'zod';
import { EXAMPLE, type Operation } from '#http/operations';
import { Measurement } from './record.ts';

const shared = {
  tag: 'Tracking',
  path: '/t/{token}',
  credential: null,
  parameters: { path: z.object({ token: z.string().meta({ example: EXAMPLE.link }) }) },
} as const;

const html = { 'text/html': { schema: { type: 'string' } } } as const;

export const operations: Operation[] = [
  {
    ...shared,
    method: 'get',
    summary: 'Follow a tracking link',
    description:
      "The destination of an ad. It records the click and sends the person to the store. On Android, the store URL carries the `click_id` in its referrer. On other systems, a page measures the device first. Link previews and `HEAD` requests are not counted. Query parameters are passed on to the destination and stored with the click: up to 20, each name and value up to 256 characters. Longer ones are not stored. `GET /v1/events?type=click` returns them as `params`, with the click's `country`.",
    answer: { status: 302, description: 'A redirect to the store, or to the fallback URL.' },
    otherAnswers: {
      200: { description: 'A page that leads to the store.', content: html },
      404: { description: 'Link not found.', content: html },
    },
  },
  {
    ...shared,
    method: 'post',
    summary: 'Add measurements to a click',
    description: 'Sent by the page of a tracking link.',
    body: {
      schema: Measurement,
      examples: {
        measured: {
          click_id: EXAMPLE.click,
          timezone: 'Europe/Berlin',
          screen_width: 390,
          screen_height: 844,
          pixel_ratio: 3,
          touch_points: 5,
        },
      },
    },
    answer: { status: 204, description: 'The measurements were accepted.' },
    errors: { 404: 'Link not found.' },
  },
];
