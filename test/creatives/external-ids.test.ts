import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { getOrCreateNamed } from '#creatives';
import { createCreative, postCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

type Id = { network: string; id: string };
type Shown = { id: string; external_ids: Id[]; message?: string };
type Kind = 'campaigns' | 'adsets' | 'creatives';
const KINDS: readonly Kind[] = ['campaigns', 'adsets', 'creatives'];
const NAMES = { campaigns: 'Campaign', adsets: 'Ad set', creatives: 'Creative' };

const meta = (id: string): Id => ({ network: 'meta', id });
const AD = '23854855793500701';

async function patch(tenant: Tenant, kind: Kind, id: string, external_ids?: unknown) {
  const answer = await worker.team(tenant, `/v1/${kind}/${id}`, { method: 'PATCH', body: { external_ids } });
  return { status: answer.status, body: await answer.json<Shown>() };
}

async function list(tenant: Tenant, kind: Kind): Promise<Shown[]> {
  const answer = await worker.team(tenant, `/v1/${kind}?application_id=${tenant.application.id}`);
  return (await answer.json<{ data: Shown[] }>()).data;
}

/** Two items of a kind. */
async function two(tenant: Tenant, kind: Kind): Promise<[string, string]> {
  for (const name of ['1', '2']) {
    await createCreative(worker, tenant, { creative: name, adset: name, campaign: name });
  }
  const [first, second] = await list(tenant, kind);
  if (!first || !second) throw new Error('no two items');
  return [first.id, second.id];
}

const TAKEN = {
  status: 409,
  body: { message: 'Another campaign, ad set or creative has one of these external_ids' },
};
const saved = (...external_ids: Id[]) => ({ status: 200, body: { external_ids } });

it.each(KINDS)('keeps the ids that %s were given last, with every digit', async (kind) => {
  const tenant = await createTenant();
  const [id] = await two(tenant, kind);
  expect((await list(tenant, kind))[0]?.external_ids).toEqual([]);
  const both = [{ network: 'TikTok', id: '17' }, meta(AD), meta(AD)];
  const stored = saved(meta(AD), { network: 'tiktok', id: '17' });
  expect(await patch(tenant, kind, id, both)).toMatchObject(stored);
  expect(await patch(tenant, kind, id, both)).toMatchObject(stored);
  expect((await list(tenant, kind)).map(({ external_ids }) => external_ids)).toEqual([
    stored.body.external_ids,
    [],
  ]);
  expect(await patch(tenant, kind, id, [meta('2')])).toMatchObject(saved(meta('2')));
  expect(await patch(tenant, kind, id, [])).toMatchObject(saved());
});

it.each(KINDS)('gives an id to one of the %s of an application', async (kind) => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const [first, second] = await two(tenant, kind);
  const [elsewhere] = await two(other, kind);
  expect(await patch(tenant, kind, first, [meta('1'), meta('2')])).toMatchObject({ status: 200 });
  expect(await patch(tenant, kind, second, [meta('3')])).toMatchObject({ status: 200 });
  expect(await patch(tenant, kind, second, [meta('2'), meta('4')])).toEqual(TAKEN);
  expect((await list(tenant, kind))[1]?.external_ids).toEqual([meta('3')]);
  expect(await patch(tenant, kind, second, [{ network: 'tiktok', id: '2' }])).toMatchObject({ status: 200 });
  expect(await patch(other, kind, elsewhere, [meta('2')])).toMatchObject(saved(meta('2')));
  expect(await patch(tenant, kind, first, [])).toMatchObject(saved());
  expect(await patch(tenant, kind, second, [meta('2')])).toMatchObject(saved(meta('2')));
});

it('knows a campaign, an ad set and an ad of the same id apart', async () => {
  const tenant = await createTenant();
  for (const kind of KINDS) {
    const [id] = await two(tenant, kind);
    expect(await patch(tenant, kind, id, [meta('1')])).toMatchObject(saved(meta('1')));
  }
});

it('changes nothing of a creative if an id is taken', async () => {
  const tenant = await createTenant();
  const [first, second] = await two(tenant, 'creatives');
  await patch(tenant, 'creatives', first, [meta('1')]);
  const body = { archived: true, deep_link: '/levels/3', external_ids: [meta('1')] };
  const answer = await worker.team(tenant, `/v1/creatives/${second}`, { method: 'PATCH', body });
  expect(answer.status).toBe(409);
  const shown = await worker.team(tenant, `/v1/creatives/${second}`);
  expect(await shown.json()).toMatchObject({ archived: false, deep_link: null, external_ids: [] });
});

it('creates a creative with ids, once, and none if an id is taken', async () => {
  const tenant = await createTenant();
  const names = { app_api_key: tenant.apiKey, campaign: 'Spring' };
  const create = async (creative: string, external_ids: unknown, key?: string) => {
    const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
    const answer = await postCreative(worker, tenant, { ...names, creative, external_ids }, headers);
    return { status: answer.status, body: await answer.json<{ message: string }>() };
  };
  const first = await create('Cat', [meta(AD), meta(AD)], 'k');
  expect(first.status).toBe(201);
  expect(await create('Cat', [meta(AD), meta(AD)], 'k')).toEqual(first);
  expect((await create('Cat', [meta('8')], 'k')).status).toBe(409);
  expect(await create('Dog', [meta('7'), meta(AD)], 'l')).toEqual(TAKEN);
  expect((await list(tenant, 'creatives')).map(({ external_ids }) => external_ids)).toEqual([[meta(AD)]]);
  // What was refused leaves nothing behind, not even under its key.
  expect((await create('Dog', [meta('7')], 'l')).status).toBe(201);
  expect((await create('Fox', [{ network: 'mtea', id: '1' }])).body.message).toMatch(
    /^external_ids\.0\.network must be one of meta, google/,
  );
});

it('creates a lost creative again without an id that another has taken', async () => {
  const tenant = await createTenant();
  const { id } = await createCreative(worker, tenant, { external_ids: [meta('1'), meta('2')] });
  await env.DB.batch([
    env.DB.prepare('DELETE FROM creatives WHERE id = ?').bind(id),
    env.DB.prepare('DELETE FROM external_ids WHERE item_id = ?').bind(id),
  ]);
  const other = await createCreative(worker, tenant, { creative: 'Other', external_ids: [meta('1')] });
  expect(await env.CREATIVES.getByName(tenant.application.id).recreate()).toBe(1);
  const shown = new Map((await list(tenant, 'creatives')).map((row) => [row.id, row.external_ids]));
  expect(shown).toEqual(
    new Map([
      [id, []],
      [other.id, [meta('1')]],
    ]),
  );
});

it('finds or creates a creative by its names, and takes no id from another', async () => {
  const tenant = await createTenant();
  const own = await createCreative(worker, tenant, { creative: 'Cat', campaign: 'C', adset: 'A' });
  const other = await createCreative(worker, tenant, { creative: 'Dog', external_ids: [meta('1')] });
  const application = { id: tenant.application.id, teamId: tenant.team.id };
  const named = (creative: string) =>
    getOrCreateNamed(env, application, {
      ...{ names: { campaign: 'C', adset: 'A', creative }, key: creative, actor: 'Meta', now: Date.now() },
      at: { network: 'meta', ids: { campaign: ['7'], adset: [], creative: ['2', '1'] } },
    });
  expect(await named('Cat')).toBe(own.id);
  await expect(named('Fox')).rejects.toMatchObject({ code: 'unavailable' });
  const shown = new Map((await list(tenant, 'creatives')).map((row) => [row.id, row.external_ids]));
  expect(shown).toEqual(
    new Map([
      [own.id, []],
      [other.id, [meta('1')]],
    ]),
  );
  expect((await list(tenant, 'campaigns')).flatMap(({ external_ids }) => external_ids)).toEqual([]);
});

it.each(KINDS)('keeps the %s of a team to the team', async (kind) => {
  const [tenant, stranger] = [await createTenant(), await createTenant()];
  const [id] = await two(tenant, kind);
  const notFound = { status: 404, body: { message: `${NAMES[kind]} not found` } };
  expect(await patch(stranger, kind, id, [meta('1')])).toEqual(notFound);
  expect((await list(tenant, kind))[0]?.external_ids).toEqual([]);
});

it.each([
  ['x', /^external_ids must be a list/],
  [[{ network: 'mtea', id: '1' }], /^external_ids\.0\.network must be one of meta, google/],
  [[{ network: 'meta' }], /^external_ids\.0\.id is required$/],
  [
    [
      { network: 'meta', id: 23854855793500701n.toString() },
      { network: 'meta', id: 7 },
    ],
    /^external_ids\.1\.id must be a string$/,
  ],
  [Array.from({ length: 21 }, (_, index) => meta(String(index))), /^external_ids must have at most 20 ids$/],
])('refuses %j by name', async (ids, message) => {
  const tenant = await createTenant();
  for (const kind of KINDS) {
    const [id] = await two(tenant, kind);
    const { status, body } = await patch(tenant, kind, id, ids);
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
  }
});
