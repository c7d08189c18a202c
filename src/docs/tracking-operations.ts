import * as z from 'zod';
import { Measurement } from '#tracking';
import { EXAMPLE } from './examples.ts';
import type { Operation } from './operation.ts';

const common = {
  tag: 'Tracking',
  path: '/t/{token}',
  credential: null,
  parameters: { path: z.object({ token: z.string().meta({ example: EXAMPLE.link }) }) },
} as const;

export const TRACKING_OPERATIONS: Operation[] = [
  {
    ...common,
    method: 'get',
    summary: 'Follow a tracking link',
    description:
      "The ad's final destination. Records the click and sends the person on to the store, on Android with `click_id` in the referrer. On other systems, a page measures the device and sends the person on. Link previews and `HEAD` requests are not counted. Query parameters are passed on to the destination and stored with the click: up to 20, each name and value up to 256 characters. Longer ones are not stored. `GET /v1/events?type=click` returns them as `params`, and the click's `country`.",
    answer: { status: 302, description: 'On to the store, or to the fallback.' },
    otherAnswers: {
      200: { description: 'A page that sends on.', content: { 'text/html': { schema: { type: 'string' } } } },
      404: {
        description: 'There is no such link.',
        content: { 'text/html': { schema: { type: 'string' } } },
      },
    },
  },
  {
    ...common,
    method: 'post',
    summary: "Complete a click with the landing page's measurements",
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
    answer: { status: 204, description: 'Taken.' },
    errors: { 404: 'There is no such link.' },
  },
];
