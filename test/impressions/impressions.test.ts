import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { nameInShard } from '../helpers/device-names.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, startWorker } from '../helpers/worker.ts';

// An isolate of its own: one that refused requests a short while ago notes the next ones later.
vi.hoisted(() => vi.resetModules());

const worker = startWorker();
const TODAY = new Date().toISOString().slice(0, 10);

async function withSecret(impression_template: unknown = { preset: 'max' }, shards = 1) {
  const tenant = await createTenant(STORES);
  await env.DB.prepare('UPDATE applications SET shards = ? WHERE id = ?')
    .bind(shards, tenant.application.id)
    .run();
  const path = `/v1/applications/${tenant.application.id}`;
  const changed = await worker.team(tenant, path, { method: 'PATCH', body: { impression_template } });
  expect(changed.status).toBe(200);
  const made = await worker.team(tenant, `${path}/intake-secret`, { method: 'POST', body: {} });
  const { intake_secret } = await made.json<{ intake_secret: string }>();
  return { tenant, secret: intake_secret };
}

async function send(secret: string, query: Record<string, string>) {
  const answer = await worker.request(`/impression/${secret}?${new URLSearchParams(query)}`);
  return { status: answer.status, body: (await answer.json()) as { event_id?: string; error?: string } };
}

async function count({ application }: Tenant) {
  await worker.deliver(worker.queue.take());
  await settleAll(application.id);
}

async function figures(tenant: Tenant, group = 'media_source') {
  const { id } = tenant.application;
  const query = `application_id=${id}&from=2026-03-01&to=${TODAY}&group_by=${group}&currency=usd`;
  const answer = await worker.team(tenant, `/v1/reports/performance?${query}`);
  const { data } = await answer.json<{ data: Record<string, unknown>[] }>();
  return data
    .filter(({ impressions }) => impressions !== 0)
    .map((row) => [row[group], row.impressions, row.ad_revenue, row.dau]);
}

async function rejected(tenant: Tenant) {
  const admin = await signedIn(worker, tenant.team, 'admin');
  const page = await pageOf(await admin.get(`/debugger?app=${tenant.application.id}`));
  return page.cells('Rejected requests by error and endpoint', 'Endpoint', 'Status', 'Why');
}

const MAX = { id: 'e1', revenue: '0.0125', network: 'Unity Ads', placement: 'p1', country: 'DE' };

it('counts an impression of a device once, however often and late it arrives', async () => {
  const { tenant, secret } = await withSecret();
  await fetchToken(worker, tenant, { data: { device_id: 'user 1' } });
  // An id of more digits than a number keeps, and one that differs only in the last.
  const ids = ['23854855793500701', '23854855793500702'];
  for (const id of [...ids, ...ids]) {
    expect(await send(secret, { ...MAX, id, device: 'user 1' })).toMatchObject({ status: 200 });
  }
  await count(tenant);
  await send(secret, { ...MAX, id: ids[0] ?? '', device: 'user 1', revenue: '99' });
  await count(tenant);
  expect(await figures(tenant)).toEqual([['unity_ads', 2, 0.025, null]]);
  const device = await worker.team(
    tenant,
    `/v1/events?application_id=${tenant.application.id}&type=custom.ad`,
  );
  const { data } = await device.json<{ data: Record<string, unknown>[] }>();
  expect(data[0]).toMatchObject({
    ad_id: 'p1',
    source: 'unknown',
    media_source: 'unity_ads',
    currency: 'usd',
  });
  expect(data[0]?.device_id).toMatch(/^dev_/);
});

it('counts an impression of an unknown device by network, and for no device', async () => {
  const { tenant, secret } = await withSecret();
  for (const device of ['nobody', '', '{USER_ID}']) {
    expect(await send(secret, { ...MAX, id: `e-${device}`, device })).toMatchObject({ status: 200 });
    expect(await send(secret, { ...MAX, id: `e-${device}`, device })).toMatchObject({ status: 200 });
  }
  await count(tenant);
  expect(await figures(tenant)).toEqual([['unity_ads', 3, 0.0375, null]]);
  expect(await figures(tenant, 'country')).toEqual([['DE', 3, 0.0375, 0]]);
  // Known by now, its device is not credited with a copy.
  await fetchToken(worker, tenant, { data: { device_id: 'nobody' } });
  await send(secret, { ...MAX, id: 'e-nobody', device: 'nobody' });
  await count(tenant);
  expect(await figures(tenant)).toEqual([['unity_ads', 3, 0.0375, null]]);
  const listed = await worker.team(
    tenant,
    `/v1/events?application_id=${tenant.application.id}&type=mediation.ad`,
  );
  const { data } = await listed.json<{ data: { warnings: { message: string }[] }[] }>();
  expect(new Set(data.map(({ warnings }) => warnings[0]?.message))).toEqual(
    new Set(['is of no known device; counted without one', 'names no device; counted without one']),
  );
  expect(JSON.stringify(data)).not.toContain('nobody');
});

it.each([
  [{ amount: 'v', scale: 'unit', id: 'id' }, '0.5', 0.5],
  [{ amount: 'v', scale: 'micros', id: 'id' }, '12500', 0.0125],
  [{ amount: 'v', scale: 'ecpm', id: 'id' }, '12.5', 0.0125],
  [{ amount: 'v', scale: 'unit', id: 'id' }, '-1', 0],
])('reads %j of %s as %d', async (template, v, revenue) => {
  const { tenant, secret } = await withSecret(template);
  expect(await send(secret, { id: 'x', v })).toMatchObject({ status: 200 });
  await count(tenant);
  expect(await figures(tenant, 'day')).toMatchObject([[TODAY, 1, revenue, 0]]);
});

it.each([1, 8])(
  'counts once what is repeated after its device became known, with %d counters',
  async (shards) => {
    const { tenant, secret } = await withSecret(undefined, shards);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const sendAll = async () => {
      for (const device of names) await send(secret, { ...MAX, id: device, device });
      await count(tenant);
    };
    await sendAll();
    for (const device of names) await fetchToken(worker, tenant, { data: { device_id: device } });
    await sendAll();
    expect(await figures(tenant)).toEqual([['unity_ads', 5, 0.0625, null]]);
  },
);

it('counts a repeat again only in another counter, for another device', async () => {
  const { tenant, secret } = await withSecret(undefined, 8);
  const application = { id: tenant.application.id, shards: 8 };
  const names = await Promise.all([0, 0, 1, 2, 2].map((shard) => nameInShard(application, shard)));
  for (const device of names) await fetchToken(worker, tenant, { data: { device_id: device } });
  for (const device of names) await send(secret, { ...MAX, device });
  const messages = worker.queue.take();
  const events = messages.flatMap(({ body }) => eventsIn<{ shard?: number }>(body));
  const used = new Set(events.map(({ shard = 0 }) => shard));
  await worker.deliver(messages);
  await count(tenant);
  expect(used).toEqual(new Set([0, 1, 2]));
  expect((await figures(tenant))[0]?.[1]).toBe(3);
});

it.each([1, 8])('finds the device of a click by the id of the click, with %d counters', async (shards) => {
  const template = { amount: 'v', scale: 'unit', id: 'id', device: 'click', device_is: 'click_id' };
  const { tenant, secret } = await withSecret(template, shards);
  const { id: creativeId, path } = await createCreative(worker, tenant);
  const clicks: string[] = [];
  // The second one has a name of its own.
  for (const device_id of [undefined, 'user 1']) {
    const { publicId, messages } = await follow(worker, path, ANDROID_AGENT);
    await worker.deliver(messages);
    clicks.push(publicId);
    await fetchToken(worker, tenant, { data: { click_id: publicId, ...(device_id ? { device_id } : {}) } });
  }
  const unused = await follow(worker, path, ANDROID_AGENT);
  await worker.deliver(unused.messages);
  for (const [index, click] of [...clicks, unused.publicId, 'clk_none', 'x'].entries()) {
    expect(await send(secret, { id: `e${index}`, v: '0.5', click })).toMatchObject({ status: 200 });
  }
  await count(tenant);
  const listed = await worker.team(tenant, `/v1/events?application_id=${tenant.application.id}`);
  const { data } = await listed.json<{ data: { type: string; creative_id: string | null }[] }>();
  const of = (type: string) => data.filter((event) => event.type === type).map((event) => event.creative_id);
  expect(of('custom.ad')).toEqual([creativeId, creativeId]);
  expect(of('mediation.ad')).toEqual([null, null, null]);
  // Another application's click names no device here.
  const other = await withSecret(template);
  await send(other.secret, { id: 'e', v: '1', click: clicks[0] ?? '' });
  await count(other.tenant);
  const ofOther = await worker.team(other.tenant, `/v1/events?application_id=${other.tenant.application.id}`);
  expect((await ofOther.json<{ data: unknown[] }>()).data).toMatchObject([{ type: 'mediation.ad' }]);
});

it('takes time, currency and token from where the template says', async () => {
  const template = {
    amount: 'v',
    scale: 'unit',
    id: 'id',
    time: 't',
    currency: 'c',
    device: 'd',
    device_is: 'token',
  };
  const { tenant, secret } = await withSecret(template);
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-02T08:00:00Z' });
  const sent = { v: '1', c: 'USD', d: token };
  await send(secret, { ...sent, id: '1', t: '1772532000' });
  await send(secret, { ...sent, id: '2', t: '1772532000123' });
  await send(secret, { ...sent, id: '3', t: '2026-03-03T10:00:00Z' });
  await count(tenant);
  expect((await figures(tenant, 'day')).map(([day, impressions]) => [day, impressions])).toEqual([
    ['2026-03-03', 3],
  ]);
  // No time, as anywhere else: a date that does not exist, a month, a local time.
  for (const t of ['2026-02-30T10:00:00Z', '12/2025', '2026-03-03T10:00:00']) {
    await send(secret, { ...sent, id: t, t });
  }
  await count(tenant);
  expect((await figures(tenant, 'day')).map(([day, impressions]) => [day, impressions])).toEqual([
    ['2026-03-03', 3],
    [TODAY, 3],
  ]);
  expect(await send(secret, { ...sent, id: '4', c: 'zzz' })).toMatchObject({ status: 400 });
});

it('counts each callback whose id says nothing, and any decimal amount', async () => {
  const { tenant, secret } = await withSecret();
  const amounts = ['0', '.5', '9.5E-4', '+0.001', '5.'];
  for (const revenue of amounts) {
    const { status, body } = await send(secret, { ...MAX, id: 'null', network: 'Unity Ads', revenue });
    expect([revenue, status]).toEqual([revenue, 200]);
    expect(body).toMatchObject({
      warnings: [
        { path: 'device', message: 'names no device; counted without one' },
        { path: 'id', message: 'says nothing, like null; counted as absent' },
      ],
    });
  }
  expect(await send(secret, { ...MAX, revenue: '1,250' })).toMatchObject({
    status: 400,
    body: { error: 'revenue must be a number' },
  });
  await count(tenant);
  expect(await figures(tenant)).toEqual([['unity_ads', 5, 5.50195, null]]);
});

it('refuses what has no amount or no id, says so in the debugger, and changes no figure', async () => {
  const { tenant, secret } = await withSecret();
  const faults: [Record<string, string>, string][] = [
    [{ id: 'e1' }, 'revenue is required: it is the amount'],
    [{ id: 'e1', revenue: '{REVENUE}' }, 'revenue is required: it is the amount'],
    [{ id: 'e1', revenue: 'much' }, 'revenue must be a number'],
    [{ id: 'e1', revenue: '1000000000' }, 'revenue is too large'],
    [{ revenue: '1' }, 'id is required: it identifies the impression'],
    [{ revenue: '1', id: 'x'.repeat(401) }, 'id must be at most 400 characters'],
  ];
  for (const [query, error] of faults) {
    expect(await send(secret, query)).toMatchObject({ status: 400, body: { error } });
  }
  expect(worker.queue.take()).toEqual([]);
  const rows = await rejected(tenant);
  for (const [, error] of faults) expect(rows).toContainEqual(['GET /impression/:secret', '400', error]);
  expect(JSON.stringify(rows)).not.toContain(secret);
});

it('refuses a wrong or replaced secret, an application without a template, and one that collects nothing', async () => {
  const { tenant, secret } = await withSecret(null);
  const path = `/v1/applications/${tenant.application.id}`;
  expect(await send(secret, MAX)).toMatchObject({
    status: 400,
    body: { error: 'The application has no impression_template: set it to receive impressions' },
  });
  for (const wrong of ['x', tenant.apiKey, secret.replace(/.$/, 'A')]) {
    if (wrong === secret) continue;
    expect(await send(wrong, MAX)).toMatchObject({ status: 401 });
  }
  const off = await withSecret();
  const ofOff = `/v1/applications/${off.tenant.application.id}`;
  await worker.team(off.tenant, ofOff, { method: 'PATCH', body: { data_collection: false } });
  expect(await send(off.secret, MAX)).toMatchObject({ status: 403 });
  const large = await worker.request(`/impression/${secret}`, {
    method: 'POST',
    body: 'x'.repeat(1024 * 1024),
  });
  expect(large.status).toBe(405);
  expect(worker.queue.take()).toEqual([]);
  expect((await worker.team(tenant, `${path}/intake-secret`, { method: 'POST', body: {} })).status).toBe(201);
});

it.each<[unknown, RegExp]>([
  [{ preset: 'mopub' }, /^impression_template/],
  [{ scale: 'unit', id: 'id' }, /^impression_template/],
  [{ amount: 'a b', scale: 'unit', id: 'id' }, /^impression_template/],
  [{ amount: 'a', scale: 'cents', id: 'id' }, /^impression_template/],
  ['max', /^impression_template/],
])('refuses the template %j', async (impression_template, message) => {
  const tenant = await createTenant();
  const answer = await worker.team(tenant, `/v1/applications/${tenant.application.id}`, {
    method: 'PATCH',
    body: { impression_template },
  });
  expect(answer.status).toBe(400);
  expect((await answer.json<{ message: string }>()).message).toMatch(message);
});
