import * as z from 'zod';
import { EXAMPLE, inPath, missing, type Operation, withExamples } from '#http/operations';
import { NETWORKS } from '#networks';
import {
  Adset,
  Adsets,
  Campaign,
  Campaigns,
  CreatedCreative,
  Creative,
  Creatives,
  NetworkLinks,
} from './answers.ts';
import { NewCreative } from './create-creative.ts';
import { GroupChanges } from './groups.ts';
import { AdsetsQuery, CampaignsQuery, CreativeChanges, CreativesQuery } from './list.ts';

const shared = { credential: 'teamToken', tag: 'Creatives' } as const;

const notFound = missing('Application');
const TAKEN = 'Another campaign, ad set or creative of the application has one of the `external_ids`.';

/** How a campaign or an ad set is changed. */
const changes = {
  ...{ method: 'patch' as const, parameters: inPath('id', EXAMPLE.campaign) },
  description:
    'Replaces the ids by which networks know it. Costs that connectors fetch are of the item with the id, whatever its name at the network.',
  body: {
    schema: GroupChanges,
    examples: { ids: { external_ids: [{ network: 'meta', id: '23854855793350701' }] } },
  },
};

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
        ids: {
          ...{ creative: 'Cat video', app_api_key: EXAMPLE.apiKey },
          external_ids: [{ network: 'meta', id: '23854855793500702' }],
        },
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
    summary: 'Update a creative',
    description:
      'The tracking link of an archived creative keeps working. Later clicks on a link with a `network`, and the devices that it brings, are of this network, whatever the parameters of the click are. `deep_link` is what the app opens for people who come by the link, and `preview` what messengers show of it. `external_ids` are the ids by which networks know the ad, and replace those that it has: installs whose referrer names an ad, and costs that connectors fetch, are of the creative with the id. For Meta, that is the id of the ad in Ads Manager; its referrer also needs the `meta_referrer_key` of the application. Ids are text, because they have more digits than a JSON number keeps.',
    parameters: inPath('id', EXAMPLE.creative),
    body: {
      schema: CreativeChanges,
      examples: {
        archive: { archived: true },
        network: { network: 'tiktok' },
        link: { deep_link: '/levels/3', preview: { title: 'Play level 3' } },
        ids: { external_ids: [{ network: 'meta', id: '23854855793500701' }] },
      },
    },
    answer: { status: 200, description: 'The updated creative.', schema: Creative },
    errors: { ...missing('Creative'), 409: TAKEN },
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/creatives/{id}',
    summary: 'Retrieve a creative',
    parameters: inPath('id', EXAMPLE.creative),
    answer: { status: 200, description: 'The creative.', schema: Creative },
    errors: missing('Creative'),
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/creatives/{id}/links',
    summary: "List a creative's links by network",
    description: `A tracking link for the ads of each network: ${NETWORKS.map(({ name }) => name).join(', ')}. The network replaces the macros in it and tells campaign, ad set, ad and click id, which are stored with each click.`,
    parameters: inPath('id', EXAMPLE.creative),
    answer: { status: 200, description: 'A link for each network.', schema: NetworkLinks },
    errors: missing('Creative'),
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
    ...{ ...shared, ...changes, path: '/v1/campaigns/{id}', summary: 'Update a campaign' },
    answer: { status: 200, description: 'The updated campaign.', schema: Campaign },
    errors: { ...missing('Campaign'), 409: TAKEN },
  },
  {
    ...{ ...shared, ...changes, path: '/v1/adsets/{id}', summary: 'Update an ad set' },
    parameters: inPath('id', EXAMPLE.adset),
    answer: { status: 200, description: 'The updated ad set.', schema: Adset },
    errors: { ...missing('Ad set'), 409: TAKEN },
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
