import * as z from 'zod';
import { EXAMPLE, inPath, list, noSuch, type Operation, time, withExamples } from '#http/operations';
import { NETWORKS } from '#networks';
import { NewCreative } from './create-creative.ts';
import { ExternalIds } from './external-ids.ts';
import { AdsetsQuery, CampaignsQuery, CreativeChanges, CreativesQuery } from './list.ts';

const named = z.object({ name: z.string(), is_new: z.boolean() });

export const CreatedCreative = z.object({
  message: z.literal('Creative created successfully'),
  creative: z.object({ name: z.string(), tracking_link: z.url() }),
  campaign: named,
  adset: named,
  application: z.object({ name: z.string() }),
});
export type CreatedCreative = z.input<typeof CreatedCreative>;

const Campaign = z.object({ id: z.string(), name: z.string(), created_at: time() });
const Campaigns = list(Campaign);
export type Campaigns = z.input<typeof Campaigns>;

const Adset = z.object({
  id: z.string(),
  name: z.string(),
  campaign_id: z.string(),
  campaign: z.string(),
  created_at: time(),
});
const Adsets = list(Adset);
export type Adsets = z.input<typeof Adsets>;

const Creative = z
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
    archived: z.boolean(),
    archived_at: time().nullable(),
    created_at: time(),
  })
  .meta({ id: 'Creative' });
export type Creative = z.input<typeof Creative>;
const Creatives = list(Creative);
export type Creatives = z.input<typeof Creatives>;

const NetworkLinks = z.object({
  data: z.array(
    z.object({
      network: z.string(),
      name: z.string(),
      link: z.url().nullable().meta({
        description:
          'The tracking link with the macros of the network. Null if its ads take no tracking link.',
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
});
export type NetworkLinks = z.input<typeof NetworkLinks>;

const ExternalIdsListed = z.object({
  external_ids: z.array(z.object({ network: z.string(), id: z.string() })),
});
export type ExternalIdsListed = z.input<typeof ExternalIdsListed>;

const shared = { credential: 'teamToken', tag: 'Creatives' } as const;
const notFound = noSuch('application');
const exampleOf = (query: z.ZodObject) =>
  withExamples(query, { application_id: EXAMPLE.application, limit: 50, cursor: '' });

export const operations: Operation[] = [
  {
    ...shared,
    method: 'post',
    path: '/v1/creatives',
    summary: 'Create a creative',
    description:
      "Creates a creative in the named campaign and ad set, and creates those if they do not exist. Without names, the campaign is the current week (`Week 12`) and the ad set the current weekday (`Monday`), in the application's time zone.",
    parameters: {
      header: z.object({
        'Idempotency-Key': z.string().max(128).optional().meta({
          description:
            'A request repeated with the same key returns the first answer, with the header `Idempotent-Replayed: true`.',
        }),
      }),
    },
    body: {
      schema: NewCreative,
      examples: {
        named: { creative: 'Cat video', app_api_key: EXAMPLE.apiKey, campaign: 'Spring', adset: 'Young' },
        minimal: { creative: 'Cat video', app_api_key: EXAMPLE.apiKey },
      },
    },
    answer: {
      status: 201,
      description:
        'The creative with its tracking link. Its address is in the header `Location`. If the ad set already had a creative with this name, the header `X-Duplicate-Of` has the id of the first: reports show both under one name.',
      schema: CreatedCreative,
    },
    errors: { 409: 'The `Idempotency-Key` was used with a different request.' },
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/creatives',
    summary: 'List creatives',
    parameters: { query: exampleOf(CreativesQuery) },
    answer: {
      status: 200,
      description: 'A page of creatives, oldest first, including archived ones.',
      schema: Creatives,
    },
    errors: notFound,
  },
  {
    ...shared,
    method: 'patch',
    path: '/v1/creatives/{id}',
    summary: 'Archive a creative, or set its network',
    description:
      'The tracking link of an archived creative keeps working. Later clicks on a link with a `network`, and the devices that it brings, are of this network, whatever the parameters of the click are.',
    parameters: inPath('id', EXAMPLE.creative),
    body: {
      schema: CreativeChanges,
      examples: { archive: { archived: true }, network: { network: 'tiktok' } },
    },
    answer: { status: 200, description: 'The updated creative.', schema: Creative },
    errors: noSuch('creative'),
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/creatives/{id}',
    summary: 'Retrieve a creative',
    parameters: inPath('id', EXAMPLE.creative),
    answer: { status: 200, description: 'The creative.', schema: Creative },
    errors: noSuch('creative'),
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/creatives/{id}/links',
    summary: "List a creative's links by network",
    description: `A tracking link for the ads of each network: ${NETWORKS.map(({ name }) => name).join(', ')}. The network replaces the macros in it and tells campaign, ad set, ad and click id, which are stored with each click.`,
    parameters: inPath('id', EXAMPLE.creative),
    answer: { status: 200, description: 'A link for each network.', schema: NetworkLinks },
    errors: noSuch('creative'),
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/creatives/{id}/external-ids',
    summary: "List a creative's ids at networks",
    parameters: inPath('id', EXAMPLE.creative),
    answer: { status: 200, description: 'The ids.', schema: ExternalIdsListed },
    errors: noSuch('creative'),
  },
  {
    ...shared,
    method: 'put',
    path: '/v1/creatives/{id}/external-ids',
    summary: "Replace a creative's ids at networks",
    description:
      "Installs whose referrer names an ad are attributed to the creative that has the ad's id. For Meta, that is the id of the ad in Ads Manager; it also needs the `meta_referrer_key` of the application. Ids are text, because they have more digits than a JSON number keeps. Ids that are not in the body are removed.",
    parameters: inPath('id', EXAMPLE.creative),
    body: {
      schema: ExternalIds,
      examples: { meta: { external_ids: [{ network: 'meta', id: '23854855793500701' }] } },
    },
    answer: { status: 200, description: 'The stored ids.', schema: ExternalIdsListed },
    errors: { ...noSuch('creative'), 409: 'Another creative of the application has one of the ids.' },
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/campaigns',
    summary: 'List campaigns',
    parameters: { query: exampleOf(CampaignsQuery) },
    answer: { status: 200, description: 'A page of campaigns, oldest first.', schema: Campaigns },
    errors: notFound,
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/adsets',
    summary: 'List ad sets',
    parameters: { query: exampleOf(AdsetsQuery) },
    answer: { status: 200, description: 'A page of ad sets, oldest first.', schema: Adsets },
    errors: notFound,
  },
];
