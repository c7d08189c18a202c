import * as z from 'zod';
import { apiCaller } from '#audit';
import { database } from '#db';
import {
  type AppContext,
  AppError,
  addWarnings,
  type Endpoint,
  EXAMPLE,
  endpoint,
  idOf,
  missing,
  pageOf,
} from '#http';
import { list } from '#http/answers';
import { placeholderFault, placeholderId } from '#lib/input/placeholder';
import { linkFor, NETWORKS, serverLinksFor } from '#networks';
import { findApplicationByKey, ownApplication } from '#teams';
import { serverLinks, trackingLink } from '#tracking';
import { Adset, Campaign, CreatedCreative, Creative, NetworkLinks } from './answers.ts';
import { createCreative, creativeFault, NewCreative } from './create-creative.ts';
import { changeAdset, changeCampaign, GroupChanges, listAdsets, listCampaigns } from './groups.ts';
import {
  AdsetsQuery,
  CampaignsQuery,
  CreativeChanges,
  CreativesQuery,
  changeCreative,
  getCreative,
  type ListQuery,
  listCreatives,
} from './list.ts';

const shared = { credential: 'teamToken', tag: 'Creatives' } as const;

const TAKEN = 'Another campaign, ad set or creative of the application has one of the `external_ids`.';

const page = { application_id: EXAMPLE.application, limit: 50, cursor: '' };

const one = {
  path: '/v1/creatives/{id}',
  params: { id: EXAMPLE.creative },
  errors: missing('Creative'),
} as const;

/** How a campaign or an ad set is changed. */
const groupChange = {
  method: 'patch',
  description:
    'Replaces the ids by which networks know it. Costs that connectors fetch are of the item with the id, whatever its name at the network.',
  body: {
    schema: GroupChanges,
    examples: { ids: { external_ids: [{ network: 'meta', id: '23854855793350701' }] } },
  },
} as const;

/** The endpoint that lists campaigns, ad sets or creatives of an application. `more` completes the description of a page. */
const listOf = <Item extends { id: string }>(
  path: string,
  { what, more = '' }: { what: string; more?: string },
  schema: typeof CreativesQuery,
  item: z.ZodType<unknown, Item>,
  read: (c: AppContext, query: ListQuery) => Promise<Item[]>,
) =>
  endpoint({
    ...{ ...shared, method: 'get', path },
    summary: `List ${what}`,
    query: { schema, example: page },
    answer: { description: `A page of ${what}, oldest first${more}.`, schema: list(item) },
    errors: missing('Application'),
    async handle(c, { query }) {
      await ownApplication(c, query.application_id);
      return pageOf(query.limit, (limit) => read(c, { ...query, limit }), idOf);
    },
  });

const linkTo = (c: AppContext) => (token: string) => trackingLink(c.env, c.req.url, token);

function idempotencyKey(c: AppContext): string | undefined {
  const key = c.req.header('Idempotency-Key')?.trim();
  if (key && key.length > 128) {
    throw new AppError('invalid_request', 'Idempotency-Key must be at most 128 characters');
  }
  const fault = placeholderFault('Idempotency-Key', key ?? '', placeholderId);
  if (fault === null) return key || undefined;
  // It names no request: two that share it are not the same. The answer's body has a fixed form.
  addWarnings(c.res, [fault]);
  return undefined;
}

export const creativeEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'post',
    path: '/v1/creatives',
    summary: 'Create a creative',
    description:
      "Creates a creative in the named campaign and ad set, and creates those if they do not exist. Without names, the campaign is the current week (`Week 12`) and the ad set the current weekday (`Monday`), in the application's time zone.",
    header: z.object({
      'Idempotency-Key': z.string().max(128).optional().meta({
        description:
          'A request repeated with the same key returns the first answer, with the header `Idempotent-Replayed: true`.',
      }),
    }),
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
      refuse: creativeFault,
    },
    answer: {
      status: 201,
      description:
        'The creative with its tracking link. Its address is in the header `Location`. If the ad set already had a creative with this name, the header `X-Duplicate-Of` has the id of the first: reports show both under one name.',
      schema: CreatedCreative,
    },
    errors: { 409: 'The `Idempotency-Key` was used with a different request.' },
    async handle(c, { body: { app_api_key, ...names } }) {
      const caller = apiCaller(c);
      const application = await findApplicationByKey(caller, app_api_key);
      if (!application) throw new AppError('invalid_request', 'Invalid API key or application not found');
      const { answer, creativeId, duplicateOf, replayed } = await createCreative(
        c.env,
        caller,
        application,
        names,
        { linkTo: linkTo(c), idempotencyKey: idempotencyKey(c) },
      );
      if (creativeId) c.header('Location', `/v1/creatives/${creativeId}`);
      if (duplicateOf) c.header('X-Duplicate-Of', duplicateOf);
      if (replayed) c.header('Idempotent-Replayed', 'true');
      return answer;
    },
  }),
  listOf(
    '/v1/creatives',
    { what: 'creatives', more: ', including archived ones' },
    CreativesQuery,
    Creative,
    (c, query) => listCreatives(database(c.env.DB), query, linkTo(c)),
  ),
  endpoint({
    ...{ ...shared, ...one },
    method: 'patch',
    summary: 'Update a creative',
    description:
      'The tracking link of an archived creative keeps working. Later clicks on a link with a `network`, and the devices that it brings, are of this network, whatever the parameters of the click are. `deep_link` is what the app opens for people who come by the link, and `preview` what messengers show of it. `external_ids` are the ids by which networks know the ad, and replace those that it has: installs whose referrer names an ad, and costs that connectors fetch, are of the creative with the id. For Meta, that is the id of the ad in Ads Manager; its referrer also needs the `meta_referrer_key` of the application. Ids are text, because they have more digits than a JSON number keeps.',
    body: {
      schema: CreativeChanges,
      examples: {
        archive: { archived: true },
        network: { network: 'tiktok' },
        link: { deep_link: '/levels/3', preview: { title: 'Play level 3' } },
        ids: { external_ids: [{ network: 'meta', id: '23854855793500701' }] },
      },
    },
    answer: { description: 'The updated creative.', schema: Creative },
    errors: { ...one.errors, 409: TAKEN },
    handle: (c, { params, body }) => changeCreative(apiCaller(c), params.id, body, linkTo(c)),
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'get',
    summary: 'Retrieve a creative',
    answer: { description: 'The creative.', schema: Creative },
    handle: (c, { params }) => getCreative(database(c.env.DB), c.get('team').id, params.id, linkTo(c)),
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'get',
    path: '/v1/creatives/{id}/links',
    summary: "List a creative's links by network",
    description: `A tracking link for the ads of each network: ${NETWORKS.map(({ name }) => name).join(', ')}. The network replaces the macros in it and tells campaign, ad set, ad and click id, which are stored with each click.`,
    answer: { description: 'A link for each network.', schema: NetworkLinks },
    async handle(c, { params }) {
      const found = await getCreative(database(c.env.DB), c.get('team').id, params.id, linkTo(c));
      const server_links = await serverLinks(c.env, found.id, found.tracking_link);
      const data = NETWORKS.map((network) => ({
        network: network.id,
        name: network.name,
        link: linkFor(network, found.tracking_link),
        server_links: serverLinksFor(network, server_links),
        click_ids: [...network.clickIds],
        notes: [...network.notes],
        unverified: [...network.unverified],
      }));
      return { data, server_links };
    },
  }),
  listOf('/v1/campaigns', { what: 'campaigns' }, CampaignsQuery, Campaign, (c, query) =>
    listCampaigns(database(c.env.DB), query),
  ),
  endpoint({
    ...{ ...shared, ...groupChange },
    path: '/v1/campaigns/{id}',
    summary: 'Update a campaign',
    params: { id: EXAMPLE.campaign },
    answer: { description: 'The updated campaign.', schema: Campaign },
    errors: { ...missing('Campaign'), 409: TAKEN },
    handle: (c, { params, body }) => changeCampaign(apiCaller(c), params.id, body),
  }),
  endpoint({
    ...{ ...shared, ...groupChange },
    path: '/v1/adsets/{id}',
    summary: 'Update an ad set',
    params: { id: EXAMPLE.adset },
    answer: { description: 'The updated ad set.', schema: Adset },
    errors: { ...missing('Ad set'), 409: TAKEN },
    handle: (c, { params, body }) => changeAdset(apiCaller(c), params.id, body),
  }),
  listOf('/v1/adsets', { what: 'ad sets' }, AdsetsQuery, Adset, (c, query) =>
    listAdsets(database(c.env.DB), query),
  ),
];
