import * as z from 'zod';
import { EXAMPLE, type Operation } from '#http/operations';
import { AndroidFile, AppleFile } from './answers.ts';
import { Measurement } from './record.ts';

const shared = {
  tag: 'Tracking',
  path: '/t/{token}',
  credential: null,
  parameters: { path: z.object({ token: z.string().meta({ example: EXAMPLE.link }) }) },
} as const;

const html = { 'text/html': { schema: { type: 'string' } } } as const;

const MEASURED = {
  click_id: EXAMPLE.click,
  timezone: 'Europe/Berlin',
  screen_width: 390,
  screen_height: 844,
  pixel_ratio: 3,
  touch_points: 5,
};

const appLink = {
  ...shared,
  path: '/t/{application}/{token}',
  parameters: {
    path: z.object({
      application: z.string().meta({ example: EXAMPLE.application }),
      token: z.string().meta({ example: EXAMPLE.link }),
    }),
  },
} as const;

const appFile = {
  tag: shared.tag,
  method: 'get',
  credential: null,
} as const;

export const operations: Operation[] = [
  {
    ...shared,
    method: 'get',
    summary: 'Follow a tracking link',
    description:
      'The destination of an ad. It records the click and sends the person to the store. On Android, the store URL carries the `click_id` in its referrer. On other systems, a page measures the device first. Link previews and `HEAD` requests are not counted. Query parameters are passed on to the destination and stored with the click: up to 20, each name and value up to 256 characters. Longer ones are not stored. `GET /v1/events?type=click` returns them as `params`, with the click\'s `country`.\n\nWith `s2s`, the secret in `server_links` of `GET /v1/creatives/{id}/links`, the server of a network reports a click or, with `event=impression`, an impression, and is answered with JSON instead: `{"success": true, "counted": true, "id": …}`. `ip` and `ua` are the address and user agent of the device, `country` its country, `time` when it happened (of the last 28 days), `id` the network\'s own id. With `id` and `time`, a repeat counts once. The link takes `POST` likewise, with the parameters in the URL. Malformed parameters are answered with 400, a wrong secret with 401; after a 500, repeat the request. Robots are answered with `counted` false.',
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
        measured: MEASURED,
      },
    },
    answer: { status: 204, description: 'The measurements were accepted.' },
    errors: { 404: 'Link not found.' },
  },
  {
    ...appLink,
    method: 'get',
    summary: 'Follow a link that opens the app',
    description:
      "A creative's `app_link`. A device that has the application's app opens it without calling this address. On every other device it is like the tracking link.",
    answer: { status: 302, description: 'A redirect to the store, or to the fallback URL.' },
    otherAnswers: {
      200: { description: 'A page that leads to the store.', content: html },
      404: { description: 'Link not found.', content: html },
    },
  },
  {
    ...appLink,
    method: 'post',
    summary: 'Add measurements to a click on such a link',
    description: 'Sent by its page.',
    body: { schema: Measurement, examples: { measured: MEASURED } },
    answer: { status: 204, description: 'The measurements were accepted.' },
    errors: { 404: 'Link not found.' },
  },
  {
    ...appFile,
    path: '/.well-known/apple-app-site-association',
    summary: 'Name the iOS apps that open links',
    description:
      "Read by iOS. Lists the applications of the deployment that have `apple_app_id_prefix` and `apple_bundle_id`, each with the path of its `app_link`s. The app's entitlement is `applinks:` and this host.",
    answer: { status: 200, description: 'The file.', schema: AppleFile },
  },
  {
    ...appFile,
    path: '/.well-known/assetlinks.json',
    summary: 'Name the Android apps that open links',
    description:
      "Read by Android. Lists the applications of the deployment that have `android_fingerprints` and a Google Play URL. The app's manifest says which paths it opens: those of its `app_link`s.",
    answer: { status: 200, description: 'The file.', schema: AndroidFile },
  },
];
