import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { listInventory, pruneCreativeRequests } from '#creatives';
import { database, type InventoryLevel } from '#db';
import { weekdayOf } from '#lib/calendar';
import { newId } from '#lib/ids';
import { getOrCreate, undo, type WantedCreative } from '../../src/creatives/get-or-create.ts';
import { weekName } from '../../src/creatives/names.ts';
import { type CreativeAnswer, postCreative } from '../helpers/creatives.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

it('answers with exactly the fields of the specification', async () => {
  const tenant = await createTenant({ name: 'Idle game' });
  const body = { creative: ' Dragon ', app_api_key: tenant.apiKey, campaign: ' Launch', adset: 'Video ' };
  const response = await postCreative(worker, tenant, body);
  expect(response.status).toBe(201);
  expect(await response.json()).toEqual({
    message: 'Creative created successfully',
    creative: {
      name: 'Dragon',
      tracking_link: expect.stringMatching(/^https:\/\/ingest\.test\/t\/[A-Za-z0-9_-]{22}$/),
    },
    campaign: { name: 'Launch', is_new: true },
    adset: { name: 'Video', is_new: true },
    application: { name: 'Idle game' },
  });
});

it('reuses campaigns and ad sets by name; an ad set belongs to its campaign; names are case-sensitive', async () => {
  const tenant = await createTenant();
  const make = async (campaign: string, adset: string) => {
    const body = { creative: 'Same name', app_api_key: tenant.apiKey, campaign, adset };
    const answer: CreativeAnswer = await (await postCreative(worker, tenant, body)).json();
    return [answer.campaign.is_new, answer.adset.is_new, answer.creative.tracking_link] as const;
  };
  const first = await make('A', 'x');
  expect(first.slice(0, 2)).toEqual([true, true]);
  const second = await make('A', 'x');
  expect(second.slice(0, 2)).toEqual([false, false]);
  expect(second[2]).not.toBe(first[2]);
  expect((await make('A', 'y')).slice(0, 2)).toEqual([false, true]);
  expect((await make('B', 'x')).slice(0, 2)).toEqual([true, true]);
  expect((await make('a', 'x')).slice(0, 2)).toEqual([true, true]);
});

it('names an unnamed campaign by its week and an ad set by its weekday, in the time zone of the application', async () => {
  for (const timezone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    const tenant = await createTenant({ timezone });
    const day = () => new Intl.DateTimeFormat('en-CA', { timeZone: timezone }).format(Date.now());
    const before = day();
    const response = await postCreative(worker, tenant, {
      creative: 'Dragon',
      app_api_key: tenant.apiKey,
      campaign: '  ',
      adset: null,
    });
    const answer: CreativeAnswer = await response.json();
    const days = [before, day()];
    expect(days.map(weekName)).toContain(answer.campaign.name);
    expect(days.map(weekdayOf)).toContain(answer.adset.name);
  }
});

it.each([
  ['no body at all', undefined, 'The body is not valid JSON'],
  ['nothing', {}, 'Creative name is required'],
  ['a blank name', { creative: ' ', app_api_key: 'x' }, 'Creative name is required'],
  ['null for a name', { creative: null }, 'Creative name is required'],
  ['no key', { creative: 'Dragon' }, 'API key is required'],
  ['a blank key', { creative: 'Dragon', app_api_key: '' }, 'API key is required'],
  ['an unknown key', { creative: 'Dragon', app_api_key: 'x' }, 'Invalid API key or application not found'],
  ['a number as name', { creative: 7, app_api_key: 'x' }, 'creative must be a string'],
  ['a long name', { creative: 'x'.repeat(256) }, 'creative must be at most 255 characters'],
  ['a list', [], 'The body must be a JSON object'],
])('refuses %s', async (_, body, message) => {
  const tenant = await createTenant();
  const response = await postCreative(worker, tenant, body);
  expect([response.status, await response.json()]).toEqual([400, { message }]);
});

it('checks the token before anything else', async () => {
  const response = await postCreative(worker, { teamToken: 'wrong' }, {});
  expect([response.status, await response.json()]).toEqual([
    401,
    { message: 'Incorrect authentication token' },
  ]);
});

it('refuses the key of another team and one that was replaced', async () => {
  const [mine, other] = [await createTenant(), await createTenant()];
  const body = { creative: 'Dragon', app_api_key: other.apiKey };
  const refused = { message: 'Invalid API key or application not found' };
  expect(await (await postCreative(worker, mine, body)).json()).toEqual(refused);
  await worker.team(mine, `/v1/applications/${mine.application.id}/api-key`, { method: 'POST', body: {} });
  const replaced = await postCreative(worker, mine, { creative: 'Dragon', app_api_key: mine.apiKey });
  expect([replaced.status, await replaced.json()]).toEqual([400, refused]);
  const { count } = (await env.DB.prepare(
    'SELECT count(*) AS count FROM campaigns WHERE application_id IN (?, ?)',
  )
    .bind(mine.application.id, other.application.id)
    .first<{ count: number }>()) ?? { count: -1 };
  expect(count).toBe(0);
});

it('creates links under the deployment’s tracking address', async () => {
  const own = startWorker({ TRACKING_BASE_URL: 'https://go.example.com/x/' });
  const tenant = await createTenant();
  const response = await postCreative(own, tenant, { creative: 'Dragon', app_api_key: tenant.apiKey });
  const answer: CreativeAnswer = await response.json();
  expect(answer.creative.tracking_link).toMatch(/^https:\/\/go\.example\.com\/x\/[A-Za-z0-9_-]{22}$/);
});

it('repeats the first answer for an Idempotency-Key, and refuses another request under it with 409', async () => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const body = { creative: 'Dragon', app_api_key: tenant.apiKey, campaign: 'Launch' };
  const key = { 'Idempotency-Key': 'one' };
  const first = await postCreative(worker, tenant, body, key);
  expect([first.status, first.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
  const answer = await first.text();
  expect(JSON.parse(answer)).toMatchObject({ campaign: { is_new: true }, adset: { is_new: true } });
  const again = await postCreative(worker, tenant, { ...body, creative: ' Dragon' }, key);
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
  expect(await again.text()).toBe(answer);
  for (const other of [{ creative: 'Knight' }, { campaign: 'Sale' }, { adset: 'Broad' }]) {
    const changed = await postCreative(worker, tenant, { ...body, ...other }, key);
    expect([changed.status, await changed.json()]).toEqual([
      409,
      { message: 'This Idempotency-Key was used for another request' },
    ]);
  }
  const others = await postCreative(worker, other, { ...body, app_api_key: other.apiKey }, key);
  expect([others.status, others.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
  const long = await postCreative(worker, tenant, body, { 'Idempotency-Key': 'x'.repeat(129) });
  expect(long.status).toBe(400);
  const list = await worker.team(tenant, `/v1/creatives?application_id=${tenant.application.id}`);
  expect(await list.json()).toMatchObject({ data: [{ name: 'Dragon' }] });
});

describe('a name that the ad set already has', () => {
  const idOf = (answer: Response) => answer.headers.get('Location')?.split('/').at(-1);
  const duplicateOf = (answer: Response) => answer.headers.get('X-Duplicate-Of');

  it('is accepted, with the id of the first creative in a header', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    const body = { creative: 'Dragon', app_api_key: tenant.apiKey, campaign: 'Launch', adset: 'Broad' };
    const first = await postCreative(worker, tenant, body);
    expect([first.status, duplicateOf(first)]).toEqual([201, null]);
    for (const elsewhere of [{ creative: 'dragon' }, { adset: 'Narrow' }, { campaign: 'Sale' }]) {
      expect(duplicateOf(await postCreative(worker, tenant, { ...body, ...elsewhere }))).toBeNull();
    }
    expect(duplicateOf(await postCreative(worker, other, { ...body, app_api_key: other.apiKey }))).toBeNull();
    const [second, third] = [
      await postCreative(worker, tenant, body),
      await postCreative(worker, tenant, body),
    ];
    expect([second.status, duplicateOf(second), duplicateOf(third)]).toEqual([201, idOf(first), idOf(first)]);
    expect(Object.keys(await second.json())).toEqual(Object.keys(await first.json()));
  });

  it('is told again with a repeated answer, and not for later creatives', async () => {
    const tenant = await createTenant();
    const body = { creative: 'Dragon', app_api_key: tenant.apiKey };
    const create = (key: string) => postCreative(worker, tenant, body, { 'Idempotency-Key': key });
    const first = await create('one');
    await create('two');
    expect([duplicateOf(await create('one')), duplicateOf(await create('two'))]).toEqual([null, idOf(first)]);
  });
});

it('creates one creative for many simultaneous calls under one Idempotency-Key', async () => {
  const tenant = await createTenant();
  const body = { creative: 'Dragon', app_api_key: tenant.apiKey };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => postCreative(worker, tenant, body, { 'Idempotency-Key': 'one' })),
  );
  const texts = new Set(await Promise.all(answers.map((answer) => answer.text())));
  expect(texts.size).toBe(1);
  expect(answers.filter((answer) => answer.headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
});

it('undoes a creative without the campaign and ad set that another one uses since', async () => {
  const { team, application } = await createTenant();
  const wanted = (creative: string): WantedCreative => ({
    ...{ applicationId: application.id, teamId: team.id, actor: 'test', now: 1, idempotency: null },
    names: { creative, campaign: 'Launch', adset: 'Broad' },
    minted: {
      creativeId: newId('crt'),
      token: crypto.randomUUID(),
      campaignId: newId('cmp'),
      adsetId: newId('ads'),
      auditId: newId('aud'),
    },
  });
  const names = async (level: InventoryLevel) =>
    (await listInventory(database(env.DB), application.id, { level, q: '' })).map(({ name }) => name);
  const all = async () => [await names('campaign'), await names('adset'), await names('creative')];
  const [first, second] = [wanted('Dragon'), wanted('Castle')];
  expect(await getOrCreate(env.DB, first)).toMatchObject({ campaignIsNew: true, adsetIsNew: true });
  expect(await getOrCreate(env.DB, second)).toMatchObject({ campaignIsNew: false, adsetIsNew: false });
  await undo(env.DB, team.id, [first.minted]);
  expect(await all()).toEqual([['Launch'], ['Broad'], ['Castle']]);
  const { minted } = second;
  const { campaignId, adsetId } = first.minted;
  await undo(env.DB, team.id, [{ ...minted, campaignId, adsetId }]);
  expect(await all()).toEqual([[], [], []]);
});

it('gives a campaign and ad set ids that no other has, and takes them back with them', async () => {
  const { team, application } = await createTenant();
  const meta = (id: string) => [{ network: 'meta', id }];
  const wanted = (campaign: string, adset: string): WantedCreative => ({
    ...{ applicationId: application.id, teamId: team.id, actor: 'Meta', now: 1, idempotency: null },
    names: { creative: 'Ad', campaign, adset },
    network: 'meta',
    groupIds: { campaign: meta('1'), adset: meta(adset) },
    minted: {
      creativeId: newId('crt'),
      token: crypto.randomUUID(),
      campaignId: newId('cmp'),
      adsetId: newId('ads'),
      auditId: newId('aud'),
    },
  });
  const stored = async () => {
    const { results } = await env.DB.prepare(
      'SELECT kind, external_id, item_id FROM external_ids WHERE application_id = ? ORDER BY kind, external_id',
    )
      .bind(application.id)
      .raw<string[]>()
      .then((rows) => ({ results: rows }));
    return results;
  };
  const [first, second, other] = [wanted('One', '10'), wanted('One', '11'), wanted('Other', '12')];
  for (const one of [first, second, other]) await getOrCreate(env.DB, one);
  const all = [
    ['adset', '10', first.minted.adsetId],
    ['adset', '11', second.minted.adsetId],
    ['adset', '12', other.minted.adsetId],
    ['campaign', '1', first.minted.campaignId],
  ];
  expect(await stored()).toEqual(all);
  await undo(env.DB, team.id, [first.minted]);
  // The campaign has another ad set.
  expect(await stored()).toEqual(all.slice(1));
  await undo(env.DB, team.id, [{ ...second.minted, campaignId: first.minted.campaignId }, other.minted]);
  expect(await stored()).toEqual([]);
});

it('deletes an Idempotency-Key after a week, not before', async () => {
  const tenant = await createTenant();
  const body = { creative: 'Dragon', app_api_key: tenant.apiKey };
  const replayed = async () =>
    (await postCreative(worker, tenant, body, { 'Idempotency-Key': 'weekly' })).headers.get(
      'Idempotent-Replayed',
    );
  const start = Date.now();
  expect(await replayed()).toBeNull();
  await pruneCreativeRequests(env.DB, start + 7 * 86_400_000);
  expect(await replayed()).toBe('true');
  await pruneCreativeRequests(env.DB, Date.now() + 7 * 86_400_000 + 1);
  expect(await replayed()).toBeNull();
});
