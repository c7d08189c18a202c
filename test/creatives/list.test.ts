import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { countNewCreatives, findNames, listInventory, searchNames, tokensOf } from '#creatives';
import { database } from '#db';
import { createCreative, postCreative } from '../helpers/creatives.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
type Page = { data: { id: string; name: string }[]; next_cursor: string | null };

it('lists campaigns, ad sets and creatives page by page', async () => {
  const tenant = await createTenant();
  for (const [creative, campaign, adset] of [
    ['one', 'A', 'x'],
    ['two', 'A', 'y'],
    ['three', 'B', 'x'],
  ] as const) {
    await postCreative(worker, tenant, { creative, campaign, adset, app_api_key: tenant.apiKey });
  }
  const list = async (what: string) => {
    const found: Page['data'] = [];
    let cursor = '';
    do {
      const path = `/v1/${what}?application_id=${tenant.application.id}&limit=2&cursor=${cursor}`;
      const response = await worker.team(tenant, path);
      expect(response.status).toBe(200);
      const page: Page = await response.json();
      expect(page.data.length).toBeLessThanOrEqual(2);
      found.push(...page.data);
      cursor = page.next_cursor ?? '';
    } while (cursor !== '');
    return found;
  };
  expect(await list('campaigns')).toEqual([
    { id: expect.stringMatching(/^cmp_/), name: 'A', external_ids: [], created_at: expect.any(String) },
    { id: expect.stringMatching(/^cmp_/), name: 'B', external_ids: [], created_at: expect.any(String) },
  ]);
  expect((await list('adsets')).map(({ name }) => name)).toEqual(['x', 'y', 'x']);
  const creatives = await list('creatives');
  expect(creatives.map(({ name }) => name)).toEqual(['one', 'two', 'three']);
  expect(creatives[2]).toEqual({
    id: expect.stringMatching(/^crt_/),
    name: 'three',
    tracking_link: expect.stringMatching(/^https:\/\/ingest\.test\/t\/[\w-]{22}$/),
    campaign: 'B',
    campaign_id: expect.stringMatching(/^cmp_/),
    adset: 'x',
    adset_id: expect.stringMatching(/^ads_/),
    network: null,
    app_link: null,
    deep_link: null,
    preview: null,
    external_ids: [],
    archived: false,
    archived_at: null,
    created_at: expect.any(String),
  });
});

it('lists nothing of another application, of the same team or another', async () => {
  const [tenant, stranger] = [await createTenant(), await createTenant()];
  const second = await worker.team(tenant, '/v1/applications', { method: 'POST', body: { name: 'Second' } });
  const { id, api_key } = await second.json<{ id: string; api_key: string }>();
  const sibling = { ...tenant, apiKey: api_key, application: { ...tenant.application, id } };
  for (const [one, name] of [
    [tenant, 'own'],
    [sibling, 'sibling'],
    [stranger, 'stranger'],
  ] as const) {
    const names = { creative: `${name} creative`, campaign: `${name} campaign`, adset: `${name} ad set` };
    await postCreative(worker, one, { ...names, app_api_key: one.apiKey });
  }
  const db = database(env.DB);
  for (const [what, level, name] of [
    ['campaigns', 'campaign', 'own campaign'],
    ['adsets', 'adset', 'own ad set'],
    ['creatives', 'creative', 'own creative'],
  ] as const) {
    const answer = await worker.team(tenant, `/v1/${what}?application_id=${tenant.application.id}`);
    expect((await answer.json<Page>()).data.map((row) => row.name)).toEqual([name]);
    const items = await listInventory(db, tenant.application.id, { level, q: '' });
    expect(items.map((item) => item.name)).toEqual([name]);
    const [other] = await listInventory(db, stranger.application.id, { level, q: '' });
    const asked = { kind: level, q: '', limit: 10 };
    expect((await searchNames(db, tenant.application.id, asked)).map((found) => found.name)).toEqual([name]);
    expect([...(await findNames(db, tenant.application.id, level, [other?.id ?? ''])).keys()]).toEqual([]);
  }
  const [theirs] = await listInventory(db, stranger.application.id, { level: 'creative', q: '' });
  expect(await tokensOf(db, tenant.application.id, [theirs?.id ?? ''])).toEqual(new Map());
  const period = { since: 0, until: Date.now() + 1, within: {} };
  const made = await countNewCreatives(db, tenant.application.id, period);
  expect(made.map((one) => [one.name, one.count])).toEqual([['own creative', 1]]);
});

it('keeps the time of archiving when an archived creative is archived again', async () => {
  const tenant = await createTenant();
  const { id } = await createCreative(worker, tenant);
  const archive = async () => {
    const body = { archived: true };
    const answer = await worker.team(tenant, `/v1/creatives/${id}`, { method: 'PATCH', body });
    return (await answer.json<{ archived_at: string }>()).archived_at;
  };
  await archive();
  await env.DB.prepare('UPDATE creatives SET archived_at = 1000 WHERE id = ?').bind(id).run();
  expect(await archive()).toBe('1970-01-01T00:00:01.000Z');
  expect(await archive()).toBe('1970-01-01T00:00:01.000Z');
});

it('archives and unarchives a creative', async () => {
  const tenant = await createTenant();
  const { id } = await createCreative(worker, tenant);
  const patch = async (archived: unknown) => {
    const response = await worker.team(tenant, `/v1/creatives/${id}`, {
      method: 'PATCH',
      body: { archived },
    });
    return [response.status, await response.json()] as const;
  };
  const archived = await patch(true);
  expect(archived).toEqual([200, expect.objectContaining({ id, archived: true })]);
  // A repeat says since when, and leaves the date as it is.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
  expect(await patch(true)).toEqual(archived);
  vi.useRealTimers();
  const list = await worker.team(tenant, `/v1/creatives?application_id=${tenant.application.id}`);
  expect(await list.json()).toMatchObject({ data: [archived[1]] });
  expect(await patch(false)).toEqual([200, expect.objectContaining({ archived: false, archived_at: null })]);
  expect(await patch('yes')).toEqual([400, { message: 'archived must be true or false' }]);
  expect(await patch(undefined)).toEqual([
    400,
    { message: 'archived is required, unless network, deep_link, preview or external_ids is given' },
  ]);
});

it.each(['campaigns', 'adsets', 'creatives'])('shows no %s of another team', async (what) => {
  const [mine, other] = [await createTenant(), await createTenant()];
  await createCreative(worker, other);
  const response = await worker.team(mine, `/v1/${what}?application_id=${other.application.id}`);
  expect([response.status, await response.json()]).toEqual([404, { message: 'Application not found' }]);
  const unnamed = await worker.team(mine, `/v1/${what}`);
  expect([unnamed.status, await unnamed.json()]).toEqual([400, { message: 'application_id is required' }]);
  const anonymous = await worker.team({ teamToken: 'wrong' }, `/v1/${what}?application_id=x`);
  expect(anonymous.status).toBe(401);
});

it('does not archive a creative of another team', async () => {
  const [mine, other] = [await createTenant(), await createTenant()];
  const { id } = await createCreative(worker, other);
  const response = await worker.team(mine, `/v1/creatives/${id}`, {
    method: 'PATCH',
    body: { archived: true },
  });
  expect([response.status, await response.json()]).toEqual([404, { message: 'Creative not found' }]);
  const list = await worker.team(other, `/v1/creatives?application_id=${other.application.id}`);
  expect(await list.json()).toMatchObject({ data: [{ archived: false }] });
});

it('counts every new creative, by the quarter of an hour', async () => {
  const tenant = await createTenant();
  for (let at = 0; at < 120; at++) {
    await env.DB.prepare(
      `INSERT INTO creatives (id, application_id, adset_id, name, token, created_at)
       SELECT ?1, application_id, adset_id, ?2, ?3, ?4 FROM creatives WHERE id = ?5`,
    )
      .bind(`crt_many_${at}`, `many ${at}`, `many-token-${at}`, at * 60_000, (await base(tenant)).id)
      .run();
  }
  const made = await countNewCreatives(database(env.DB), tenant.application.id, {
    ...{ since: 0, until: 120 * 60_000, within: {} },
  });
  expect(made.map(({ count }) => count)).toEqual(Array.from({ length: 8 }, () => 15));
});

let known: { id: string } | undefined;
const base = async (tenant: Parameters<typeof createCreative>[1]) => {
  known ??= await createCreative(worker, tenant);
  return known;
};
