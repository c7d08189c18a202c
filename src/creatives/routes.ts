import { Hono } from 'hono';
import * as z from 'zod';
import { apiCaller } from '#audit';
import { database } from '#db';
import {
  type AppContext,
  type AppEnv,
  AppError,
  idOf,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  noQuery,
  pageOf,
  queryString,
  requireTeamToken,
} from '#http';
import { linkFor, NETWORKS, serverLinksFor } from '#networks';
import { findApplicationByKey, getApplication } from '#teams';
import { serverLinks, trackingLink } from '#tracking';
import type {
  Adset,
  Adsets,
  Campaign,
  Campaigns,
  CreatedCreative,
  Creative,
  Creatives,
  NetworkLinks,
} from './answers.ts';
import { createCreative, NewCreative, parseCreative } from './create-creative.ts';
import { changeAdset, changeCampaign, GroupChanges, listAdsets, listCampaigns } from './groups.ts';
import {
  AdsetsQuery,
  CampaignsQuery,
  CreativeChanges,
  CreativesQuery,
  changeCreative,
  getCreative,
  listCreatives,
} from './list.ts';

const anyObject = z.looseObject({}, { error: 'The body must be a JSON object' });

const linkTo = (c: AppContext) => (token: string) => trackingLink(c.env, c.req.url, token);

function idempotencyKey(c: AppContext): string | undefined {
  const key = c.req.header('Idempotency-Key')?.trim();
  if (key && key.length > 128) {
    throw new AppError('invalid_request', 'Idempotency-Key must be at most 128 characters');
  }
  return key || undefined;
}

/** The database, after checking that the application belongs to the caller's team. */
async function databaseOf(c: AppContext, applicationId: string) {
  const db = database(c.env.DB);
  await getApplication(db, c.get('team').id, applicationId);
  return db;
}

export const creativeRoutes = new Hono<AppEnv>()
  .post(
    '/v1/creatives',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    ...jsonBody(anyObject),
    async (c) => {
      const caller = apiCaller(c);
      const { app_api_key, ...names } = parseCreative(NewCreative, c.req.valid('json'));
      const application = await findApplicationByKey(caller, app_api_key);
      if (!application) throw new AppError('invalid_request', 'Invalid API key or application not found');
      const { answer, creativeId, duplicateOf, replayed } = await createCreative(
        c.env,
        caller,
        application,
        names,
        {
          linkTo: linkTo(c),
          idempotencyKey: idempotencyKey(c),
        },
      );
      if (creativeId) c.header('Location', `/v1/creatives/${creativeId}`);
      if (duplicateOf) c.header('X-Duplicate-Of', duplicateOf);
      if (replayed) c.header('Idempotent-Replayed', 'true');
      return c.json<CreatedCreative>(answer, 201);
    },
  )
  .get('/v1/creatives', requireTeamToken, queryString(CreativesQuery), async (c) => {
    const query = c.req.valid('query');
    const db = await databaseOf(c, query.application_id);
    const read = (limit: number) => listCreatives(db, { ...query, limit }, linkTo(c));
    return c.json<Creatives>(await pageOf(query.limit, read, idOf));
  })
  .get('/v1/creatives/:id', requireTeamToken, noQuery, async (c) => {
    const found = await getCreative(database(c.env.DB), c.get('team').id, c.req.param('id'), linkTo(c));
    return c.json<Creative>(found);
  })
  .get('/v1/creatives/:id/links', requireTeamToken, noQuery, async (c) => {
    const found = await getCreative(database(c.env.DB), c.get('team').id, c.req.param('id'), linkTo(c));
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
    return c.json<NetworkLinks>({ data, server_links });
  })
  .patch(
    '/v1/creatives/:id',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    ...jsonBody(CreativeChanges),
    async (c) => {
      const { id } = c.req.param();
      return c.json<Creative>(await changeCreative(apiCaller(c), id, c.req.valid('json'), linkTo(c)));
    },
  )
  .get('/v1/campaigns', requireTeamToken, queryString(CampaignsQuery), async (c) => {
    const query = c.req.valid('query');
    const db = await databaseOf(c, query.application_id);
    const read = (limit: number) => listCampaigns(db, { ...query, limit });
    return c.json<Campaigns>(await pageOf(query.limit, read, idOf));
  })
  .patch(
    '/v1/campaigns/:id',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    ...jsonBody(GroupChanges),
    async (c) => c.json<Campaign>(await changeCampaign(apiCaller(c), c.req.param('id'), c.req.valid('json'))),
  )
  .patch(
    '/v1/adsets/:id',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    ...jsonBody(GroupChanges),
    async (c) => c.json<Adset>(await changeAdset(apiCaller(c), c.req.param('id'), c.req.valid('json'))),
  )
  .get('/v1/adsets', requireTeamToken, queryString(AdsetsQuery), async (c) => {
    const query = c.req.valid('query');
    const db = await databaseOf(c, query.application_id);
    const read = (limit: number) => listAdsets(db, { ...query, limit });
    return c.json<Adsets>(await pageOf(query.limit, read, idOf));
  });
