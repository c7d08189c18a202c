import * as z from 'zod';
import { nullableText, time } from '#http/answers';

const named = z.object({ name: z.string(), is_new: z.boolean() });

export const CreatedCreative = z.object({
  message: z.literal('Creative created successfully'),
  creative: z.object({ name: z.string(), tracking_link: z.url() }),
  campaign: named,
  adset: named,
  application: z.object({ name: z.string() }),
});
export type CreatedCreative = z.input<typeof CreatedCreative>;

const externalIds = () =>
  z
    .array(z.object({ network: z.string(), id: z.string() }))
    .meta({ description: 'The ids by which networks know it.' });

export const Campaign = z
  .object({ id: z.string(), name: z.string(), external_ids: externalIds(), created_at: time() })
  .meta({ id: 'Campaign' });
export type Campaign = z.input<typeof Campaign>;

export const Adset = z
  .object({
    id: z.string(),
    name: z.string(),
    campaign_id: z.string(),
    campaign: z.string(),
    external_ids: externalIds(),
    created_at: time(),
  })
  .meta({ id: 'Adset' });
export type Adset = z.input<typeof Adset>;

export const Creative = z
  .object({
    id: z.string(),
    name: z.string(),
    tracking_link: z.url(),
    adset: z.string(),
    adset_id: z.string(),
    campaign: z.string(),
    campaign_id: z.string(),
    network: z.string().nullable().meta({
      description: "The network that the link is for. Null if the clicks' parameters tell.",
    }),
    app_link: z.url().nullable().meta({
      description:
        'Like the tracking link, but opens the app if it is installed. Null unless the application has `apple_app_id_prefix` and `apple_bundle_id`, or `android_fingerprints` and a Google Play URL.',
    }),
    deep_link: nullableText().meta({
      description:
        'What the app opens for a person who comes by the link. `POST /fetch-token` returns it in the header `X-Deep-Link`.',
    }),
    preview: z
      .object({ title: z.string(), description: nullableText(), image_url: nullableText() })
      .nullable()
      .meta({
        description: 'What messengers and social networks show of the link. Null for what the store shows.',
      }),
    external_ids: externalIds(),
    archived: z.boolean(),
    archived_at: time().nullable(),
    created_at: time(),
  })
  .meta({ id: 'Creative' });
export type Creative = z.input<typeof Creative>;

const serverLinks = () => z.object({ click: z.url(), impression: z.url() });

export const NetworkLinks = z.object({
  data: z.array(
    z.object({
      network: z.string(),
      name: z.string(),
      link: z.url().nullable().meta({
        description:
          'The tracking link with the macros of the network. Null if its ads take no tracking link.',
      }),
      server_links: serverLinks().nullable().meta({
        description:
          'The URLs to which its servers report clicks and impressions, with its macros. Null if they are not known to.',
      }),
      click_ids: z
        .array(z.string())
        .meta({ description: 'Parameters in which it passes the id of a click.' }),
      notes: z.array(z.string()),
      unverified: z
        .array(z.string())
        .meta({ description: "What the network's documentation or a test has not confirmed." }),
    }),
  ),
  server_links: serverLinks().meta({
    description:
      'To these URLs, the servers of a network report clicks and impressions: see `GET /t/{token}`. Keep them secret: whoever has them can report any.',
  }),
});
