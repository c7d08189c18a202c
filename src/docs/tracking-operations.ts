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
      "The ad's final destination. Records the click and sends the person on to the store, on Android with `click_id` in the referrer. Elsewhere a page sends on; link previews and `HEAD` are not counted.",
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
