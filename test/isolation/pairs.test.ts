import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { addDays, dayIn } from '#lib/time';
import { IMPRESSION_PRESETS } from '#networks';
import { CONNECTOR_KINDS, KINDS } from '../../src/connectors/kinds.ts';
import { runConnector } from '../../src/connectors/run.ts';
import {
  addConnector,
  connectorRow,
  type Network,
  noSleep,
  type Spent,
  StandIn,
} from '../connectors/stand-in.ts';
import { ANDROID_AGENT, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { unlimited } from '../helpers/limits.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { strictly } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import { addApplication, storeEvent } from './sides.ts';

// Two of the same within one application and in another one: connectors, keys, creatives, and devices named in callbacks.

const worker = startWorker(unlimited);
const TODAY = addDays(dayIn('UTC', Date.now()), 1);
const NOW = Date.parse(`${TODAY}T12:00:00Z`);
const DAY = addDays(TODAY, -2);
let ours: Tenant;
let sibling: Tenant;

beforeAll(async () => {
  ours = await createTenant(STORES);
  sibling = await addApplication(ours);
}, 300_000);
afterEach(() => vi.useRealTimers());

const call = async <Body>(tenant: Tenant, method: string, path: string, body?: object) => {
  const answer = await worker.team(tenant, path, { method, ...(body ? { body } : {}) });
  if (answer.status >= 300) throw new Error(`${path}: ${await answer.text()}`);
  return answer.json<Body>();
};
const rowsOf = async (table: string, where: string, ...values: string[]) =>
  (
    await env.DB.prepare(`SELECT * FROM ${table} WHERE ${where} ORDER BY 1, 2, 3`)
      .bind(...values)
      .all()
  ).results;

const spent = (cents: number): Spent[] =>
  [DAY, addDays(DAY, -1)].map((date) => ({
    ...{ date, campaign: 'Spring', adset: 'Young', ad: 'Cat', country: 'DE', cents },
  }));
const MAX = {
  kind: 'max',
  settings: { application: 'com.example.game', platform: 'android' },
  credentials: { report_key: 'secret-key' },
};
const LEVELPLAY = {
  kind: 'levelplay',
  settings: { app_key: '19b' },
  credentials: { secret_key: 's', refresh_token: 'r' },
};
const platform = (revenue: number) =>
  strictly(async (url) => {
    const { hostname, pathname } = new URL(url);
    const report = 'https://reports.s3.amazonaws.com/report.csv';
    if (hostname === 'reports.s3.amazonaws.com')
      return new Response(`Network,Revenue\nAppLovin,${revenue}\n`);
    if (pathname.endsWith('/auth')) return new Response('"jwt"');
    return Response.json({ ad_revenue_report_url: report, urls: [report] });
  });

const isNetwork = (kind: string): kind is Network => KINDS[kind as Network].family === 'costs';

async function connect(tenant: Tenant, kind: (typeof CONNECTOR_KINDS)[number], filter = ''): Promise<string> {
  if (isNetwork(kind)) return addConnector(worker, tenant, kind, { campaign_contains: filter });
  const body = { application_id: tenant.application.id, ...(kind === 'max' ? MAX : LEVELPLAY) };
  return (await call<{ id: string }>(tenant, 'POST', '/v1/connectors', body)).id;
}

const run = async (id: string, kind: string, size: number) => {
  const standIn = new StandIn();
  standIn.ledger = spent(size);
  const fetcher = isNetwork(kind) ? standIn.fetch : platform(size);
  return runConnector(env, await connectorRow(id), NOW, fetcher, noSleep);
};

describe.each(CONNECTOR_KINDS)('two connectors of %s', (kind) => {
  const kept = (id: string) =>
    Promise.all(['costs', 'reported_ad_revenue'].map((table) => rowsOf(table, 'connector_id = ?', id)));

  it('keep what each has fetched, whatever the other one fetches and when it is deleted', async () => {
    const [first, second, other] = [
      await connect(ours, kind),
      await connect(ours, kind, 'Spring'),
      await connect(sibling, kind),
    ];
    for (const [id, size] of [
      [first, 100],
      [second, 200],
      [other, 400],
    ] as const) {
      expect(await run(id, kind, size)).toBeNull();
    }
    const before = [await kept(second), await kept(other)];
    expect(before.flat(2).length).toBeGreaterThanOrEqual(4);
    expect(await run(first, kind, 800)).toBeNull();
    expect([await kept(second), await kept(other)]).toEqual(before);
    const answer = await worker.team(ours, `/v1/connectors/${first}`, { method: 'DELETE' });
    expect(answer.status).toBeLessThan(300);
    expect([await kept(second), await kept(other)]).toEqual(before);
    expect((await kept(first)).flat()).toEqual([]);
  });
});

it('maps the names of each connector by itself: what another one has of the same day and name is no clash', async () => {
  const tenant = await createTenant();
  const creative = await createCreative(worker, tenant, {
    campaign: 'Ours',
    adset: 'Ours',
    creative: 'Ours',
  });
  // As much as one row can hold, twice: under the name itself from one connector, and under the name to be mapped from another.
  const [first, second] = [await connect(tenant, 'pull'), await connect(tenant, 'pull', 'Spring')];
  const [standIn, renamed] = [new StandIn(), new StandIn()];
  const most = 800_000_000_000;
  standIn.ledger = spent(most).map((row) => ({ ...row, campaign: 'Ours', adset: 'Ours', ad: 'Ours' }));
  renamed.ledger = spent(most);
  expect(await runConnector(env, await connectorRow(first), NOW, standIn.fetch, noSleep)).toBeNull();
  expect(await runConnector(env, await connectorRow(second), NOW, renamed.fetch, noSleep)).toBeNull();
  const before = await rowsOf('costs', 'connector_id = ?', first);
  const admin = await signedIn(worker, tenant.team, 'admin');
  const mapped = await admin.post(`/costs/names?app=${tenant.application.id}`, {
    ...{ names: JSON.stringify(['Spring', 'Young', 'Cat']), to: creative.id },
  });
  expect(mapped.status).toBe(303);
  expect(await rowsOf('costs', 'connector_id = ?', first)).toEqual(before);
  expect(await rowsOf('costs', "connector_id = ? AND campaign = 'Ours'", second)).toHaveLength(2);
});

describe.each([
  ['api_keys', 'api-key'],
  ['intake_secrets', 'intake-secret'],
])('the rows of %s', (table, path) => {
  it('are replaced one by one: those that were replaced before keep their end, as do those of others', async () => {
    const rotate = (tenant: Tenant, hours: number) =>
      call(tenant, 'POST', `/v1/applications/${tenant.application.id}/${path}`, { grace_hours: hours });
    const ends = async ({ application }: Tenant) =>
      (await rowsOf(table, 'application_id = ?', application.id)).map(({ hash, expires_at }) => [
        hash,
        expires_at,
      ]);
    for (const tenant of [ours, sibling]) await rotate(tenant, 1);
    for (const tenant of [ours, sibling]) await rotate(tenant, 2);
    const [before, others] = [await ends(ours), await ends(sibling)];
    await rotate(ours, 72);
    const replaced = before.filter(([, end]) => end !== null);
    expect(replaced.length).toBeGreaterThan(0);
    expect(await ends(ours)).toEqual(expect.arrayContaining(replaced));
    expect(await ends(sibling)).toEqual(others);
  });
});

it('takes the same id of a network on two creatives and in two applications for different clicks, and keeps no secret', async () => {
  const touches: string[] = [];
  const secrets: string[] = [];
  const time = String(Date.now() - 3_600_000);
  for (const [tenant, creative] of [
    [ours, 'Cat'],
    [ours, 'Dog'],
    [sibling, 'Cat'],
  ] as const) {
    const { id } = await createCreative(worker, tenant, { creative, campaign: 'Links', adset: 'Links' });
    const { server_links } = await call<{ server_links: { click: string; impression: string } }>(
      tenant,
      'GET',
      `/v1/creatives/${id}/links`,
    );
    for (const link of [server_links.click, server_links.impression]) {
      const { pathname, search, searchParams } = new URL(link);
      secrets.push(searchParams.get('s2s') ?? '');
      const more = new URLSearchParams({
        id: 'same-id',
        time,
        ip: '203.0.113.9',
        ua: ANDROID_AGENT,
        country: 'DE',
      });
      const answer = await worker.request(`${pathname}${search}&${more}`);
      touches.push((await answer.json<{ id: string }>()).id);
    }
  }
  expect(new Set(touches).size).toBe(6);
  const messages = worker.queue.take();
  await worker.deliver(messages);
  for (const { application } of [ours, sibling]) await settleAll(application.id);
  const count = async (tenant: Tenant, table: string) =>
    (await rowsOf(table, 'application_id = ?', tenant.application.id)).length;
  expect([await count(ours, 'clicks'), await count(sibling, 'clicks')]).toEqual([2, 1]);
  expect([await count(ours, 'impressions'), await count(sibling, 'impressions')]).toEqual([2, 1]);
  const stored = JSON.stringify([
    messages,
    await rowsOf('clicks', '1 = 1'),
    await rowsOf('impressions', '1 = 1'),
  ]);
  for (const secret of secrets) expect(secret !== '' && stored.includes(secret)).toBe(false);
});

describe('an impression', () => {
  const intake = async (tenant: Tenant, device_is: string) => {
    const path = `/v1/applications/${tenant.application.id}`;
    await call(tenant, 'PATCH', path, {
      impression_template: { ...TEMPLATE, device_is },
    });
    return (await call<{ intake_secret: string }>(tenant, 'POST', `${path}/intake-secret`, {})).intake_secret;
  };
  const TEMPLATE = { ...IMPRESSION_PRESETS.max.template, country: null };
  const sent = async (secret: string, device: string) => {
    const query = new URLSearchParams({ id: crypto.randomUUID(), revenue: '0.5', device, network: 'admob' });
    const answer = await worker.request(`/impression/${secret}?${query}`);
    expect(answer.status, await answer.clone().text()).toBe(200);
    return JSON.stringify(worker.queue.take().map(({ body }) => body));
  };

  it.each(['token', 'device_id'])('finds no device of another application by its %s', async (device_is) => {
    const names: string[] = [];
    for (const tenant of [ours, sibling]) {
      const token = await fetchToken(worker, tenant, {
        data: { device_id: `by-${device_is}-${tenant === ours}` },
      });
      names.push(device_is === 'token' ? token : `by-${device_is}-${tenant === ours}`);
    }
    await worker.deliver(worker.queue.take());
    const secret = await intake(ours, device_is);
    const [own = '', foreign = ''] = names;
    expect(await sent(secret, own)).toMatch(/dev_[0-9a-f]{32}/);
    const event = await sent(secret, foreign);
    expect(event).toContain('mediation.ad');
    expect(event).not.toMatch(/dev_[0-9a-f]{32}/);
  });

  it('of a test device is no revenue, beside one of another device that is', async () => {
    const tenant = await createTenant(STORES);
    for (const dev of [true, false])
      await fetchToken(worker, tenant, { dev, data: { device_id: `dev-${dev}` } });
    await worker.deliver(worker.queue.take());
    const secret = await intake(tenant, 'device_id');
    for (const device of ['dev-true', 'dev-false']) {
      const query = new URLSearchParams({ id: device, revenue: '0.5', device, network: 'admob' });
      await worker.request(`/impression/${secret}?${query}`);
    }
    const messages = worker.queue.take();
    expect(messages.map(({ body }) => JSON.stringify(body).includes('test'))).toEqual([true, false]);
    await worker.deliver(messages);
    await settleAll(tenant.application.id);
    const revenue = await rowsOf(
      'rollup_daily',
      'application_id = ? AND ad_revenue > 0',
      tenant.application.id,
    );
    expect(revenue.map(({ impressions, ad_revenue }) => [impressions, ad_revenue])).toEqual([
      [1, 500_000_000],
    ]);
  });
});

it('sends nothing of a second copy of a store’s notification that says something else', async () => {
  const tenant = await createTenant({ ...STORES, revenuecat_authorization: 'Bearer rc_0123456789abcdef' });
  const path = `/v1/applications/${tenant.application.id}/intake-secret`;
  const { intake_secret } = await call<{ intake_secret: string }>(tenant, 'POST', path, {});
  const sent = async (price: number) => {
    const answer = await worker.request(`/stores/revenuecat/${intake_secret}`, {
      method: 'POST',
      headers: { Authorization: 'Bearer rc_0123456789abcdef', 'Content-Type': 'application/json' },
      body: JSON.stringify(storeEvent('n-1', 'nobody', price)),
    });
    expect(answer.status).toBe(200);
    return worker.queue.take().length;
  };
  // A copy that is the same is sent again under its id; another one is not, and the first stands.
  expect([await sent(9.99), await sent(9.99), await sent(1.23), await sent(9.99)]).toEqual([1, 1, 0, 1]);
});
