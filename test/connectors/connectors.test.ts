import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runDueConnectors } from '#connectors';
import { database, connectors as table } from '#db';
import { KINDS } from '../../src/connectors/kinds.ts';
import { runConnector } from '../../src/connectors/run.ts';
import { dailyWindow, nextDailyAt } from '../../src/connectors/windows.ts';
import { settleAll } from '../helpers/settle.ts';
import { answerFetch, strictly } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const db = database(env.DB);

type Shown = { id: string; last_error: string | null; last_success_at: string | null };
const MAX = {
  kind: 'max',
  settings: { application: 'com.example.game', platform: 'android' },
  credentials: { report_key: 'secret-report-key' },
};
const NOW = Date.parse('2026-03-03T09:00:00Z');

async function call<Body>(tenant: Tenant, method: string, path: string, body?: unknown) {
  const answer = await worker.team(tenant, path, { method, body });
  return { status: answer.status, body: (await answer.json()) as Body };
}

const add = async (tenant: Tenant, body: object = MAX) =>
  call<Shown & { message?: string }>(tenant, 'POST', '/v1/connectors', {
    application_id: tenant.application.id,
    ...body,
  });

async function rowOf(id: string) {
  const [row] = await db.select().from(table).where(eq(table.id, id));
  if (!row) throw new Error('no such connector');
  return row;
}

/** A platform that has the same report for each day, or refuses one. */
const platform = (csv: string, refused = '') =>
  strictly(async (url: string) => {
    const { hostname, searchParams } = new URL(url);
    if (hostname !== 'r.applovin.com') return new Response(csv);
    if (!/^\d{4}-\d{2}-\d{2}$/.test(searchParams.get('date') ?? ''))
      return new Response('Bad date', { status: 400 });
    if (searchParams.get('api_key') !== MAX.credentials.report_key)
      return new Response('Bad key', { status: 401 });
    if (searchParams.get('date') === refused) return new Response('Quota exceeded', { status: 429 });
    return Response.json({
      status: 200,
      ad_revenue_report_url: 'https://reports.s3.amazonaws.com/report.csv',
    });
  });

const compared = (tenant: Tenant, from: string, to = from) =>
  call<{ data: Record<string, unknown>[]; totals: Record<string, unknown> }>(
    tenant,
    'GET',
    `/v1/reports/ad-revenue?application_id=${tenant.application.id}&from=${from}&to=${to}`,
  );

beforeEach(() => db.delete(table));
afterEach(() => vi.restoreAllMocks());

it('compares what arrived with what the platform reports, by day and network', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-02T08:00:00Z' });
  for (const [media_source, value] of [
    ['unity', 0.5],
    ['unity_ads', 0.25],
    ['admob', 0.1],
  ] as const) {
    await worker.post(tenant, '/webhook', {
      type: 'custom.ad',
      created_at: '2026-03-02 10:00:00',
      creativeToken: token,
      payload: { ad_id: 'a', source: 'banner', media_source, value, currency: 'usd' },
    });
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const { body } = await add(tenant);
  const csv = 'Network,Revenue\nUNITY_BIDDING,0.5\nUnity Ads,0.3\nAppLovin,0.05\n';
  expect(await runConnector(env, await rowOf(body.id), NOW, platform(csv))).toBeNull();
  const row = (network: string, arrived: [number, number], reported: [number, number]) => ({
    ...{ day: '2026-03-02', network },
    ...{ impressions_arrived: arrived[0], impressions_reported: reported[0] },
    impressions_difference: arrived[0] - reported[0],
    ...{ revenue_arrived: arrived[1], revenue_reported: reported[1] },
    revenue_difference: expect.closeTo(arrived[1] - reported[1], 12),
  });
  const withoutDay = ({ day, ...sums }: ReturnType<typeof row>) => sums;
  expect((await compared(tenant, '2026-03-02')).body).toEqual({
    data: [
      row('admob', [1, 0.1], [0, 0]),
      row('applovin', [0, 0], [1, 0.05]),
      row('unity_ads', [2, 0.75], [2, 0.8]),
    ],
    networks: [
      withoutDay(row('unity_ads', [2, 0.75], [2, 0.8])),
      withoutDay(row('applovin', [0, 0], [1, 0.05])),
      withoutDay(row('admob', [1, 0.1], [0, 0])),
    ],
    totals: (({ day, network, ...totals }) => totals)(row('', [3, 0.85], [3, 0.85])),
    currency: 'usd',
    timezone: 'UTC',
    counted_through: expect.any(String),
    uncounted: 0,
  });
  // Read again, a day is replaced. The figures of reports are those of events alone.
  expect(
    await runConnector(env, await rowOf(body.id), NOW, platform('Network,Revenue\nAppLovin,1\n')),
  ).toBeNull();
  expect((await compared(tenant, '2026-03-02')).body.totals).toMatchObject({ revenue_reported: 1 });
  const report = await call<{ totals: object }>(
    tenant,
    'GET',
    `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-02&to=2026-03-02`,
  );
  expect(report.body.totals).toMatchObject({ impressions: 3, ad_revenue: 0.85 });
});

it('keeps nothing of a run that fails, and says why', async () => {
  const tenant = await createTenant();
  const { body } = await add(tenant);
  const good = platform('Network,Revenue\nAppLovin,1\n');
  await runConnector(env, await rowOf(body.id), NOW, good);
  const figures = async () => {
    const { data, totals } = (await compared(tenant, '2026-02-20', '2026-03-05')).body;
    return { data, totals };
  };
  const before = await figures();
  const failing = platform('Network,Revenue\nAppLovin,2\n', '2026-03-02');
  const reason = 'AppLovin answered 429: Quota exceeded';
  expect(await runConnector(env, await rowOf(body.id), NOW, failing)).toBe(reason);
  expect(await figures()).toEqual(before);
  const shown = await call<Shown>(tenant, 'GET', `/v1/connectors/${body.id}`);
  expect(shown.body).toMatchObject({
    last_error: reason,
    last_run_at: new Date(NOW).toISOString(),
    last_success_at: new Date(NOW).toISOString(),
    next_run_at: new Date(NOW + 3_600_000).toISOString(),
  });
  await runConnector(env, await rowOf(body.id), NOW, good);
  expect((await rowOf(body.id)).lastError).toBeNull();
  expect((await rowOf(body.id)).nextRunAt).toBe(Date.parse('2026-03-04T08:00:00Z'));
});

it('reads the days that are complete and may have changed', () => {
  const days = (
    kind: 'max' | 'meta',
    now: string,
    last: string | null = null,
    timezone: string | null = null,
  ) => {
    const lastSuccessAt = last === null ? null : Date.parse(last);
    const account = { currency: null, timezone };
    const row = { lastSuccessAt, account, backfill: null };
    const { from, to } = dailyWindow(KINDS[kind], row, 'UTC', Date.parse(now));
    const next = new Date(nextDailyAt(KINDS[kind], row, 'UTC', Date.parse(now))).toISOString();
    return [from, to, next];
  };
  const next = '2026-03-11T08:00:00.000Z';
  expect(days('max', '2026-03-10T08:00:00Z')).toEqual(['2026-03-03', '2026-03-09', next]);
  expect(days('max', '2026-03-10T07:59:59Z').slice(0, 2)).toEqual(['2026-03-02', '2026-03-08']);
  const yesterday = '2026-03-09T08:00:00Z';
  expect(days('max', '2026-03-10T08:00:00Z', yesterday)).toEqual(['2026-03-07', '2026-03-09', next]);
  // Networks count days in the time zone of the account, and revise a week of them.
  const inUtc = ['2026-03-03', '2026-03-09', '2026-03-11T04:00:00.000Z'];
  expect(days('meta', '2026-03-10T08:00:00Z', yesterday)).toEqual(inUtc);
  const losAngeles = ['2026-03-02', '2026-03-08', '2026-03-10T11:00:00.000Z'];
  expect(days('meta', '2026-03-10T06:00:00Z', yesterday, 'America/Los_Angeles')).toEqual(losAngeles);
  expect(days('meta', '2026-03-30T08:00:00Z', yesterday).slice(0, 2)).toEqual(['2026-03-03', '2026-03-29']);
  expect(days('meta', '2026-06-30T08:00:00Z', yesterday).slice(0, 2)).toEqual(['2026-05-31', '2026-06-29']);
});

it('runs what is due, once an hour even if the platform hangs up', async () => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const [first, second] = [(await add(tenant)).body.id, (await add(other)).body.id];
  await db.update(table).set({ nextRunAt: NOW }).where(eq(table.id, first));
  await db
    .update(table)
    .set({ nextRunAt: NOW + 1 })
    .where(eq(table.id, second));
  const asked = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('connection lost'));
  await runDueConnectors(env, NOW);
  expect(asked).toHaveBeenCalledOnce();
  expect(await rowOf(first)).toMatchObject({ lastError: 'connection lost', nextRunAt: NOW + 3_600_000 });
  expect(await rowOf(second)).toMatchObject({ lastRunAt: null });
  await runDueConnectors(env, NOW);
  expect(asked).toHaveBeenCalledOnce();
  await call(tenant, 'POST', `/v1/connectors/${first}/run`);
  await runDueConnectors(env, Date.now());
  expect(asked.mock.calls.length).toBeGreaterThan(1);
});

it('never shows a key, and keeps it encrypted', async () => {
  const tenant = await createTenant();
  const { status, body } = await add(tenant);
  expect(status).toBe(201);
  const list = await call(tenant, 'GET', `/v1/connectors?application_id=${tenant.application.id}`);
  expect(JSON.stringify([body, list.body, await rowOf(body.id)])).not.toContain('secret-report-key');
});

it('belongs to the team, and is deleted with what it fetched', async () => {
  const [tenant, stranger] = [await createTenant(), await createTenant()];
  const { body } = await add(tenant);
  await runConnector(env, await rowOf(body.id), NOW, platform('Network,Revenue\nAppLovin,1\n'));
  const missing = { status: 404, body: { message: 'Connector not found' } };
  const path = `/v1/connectors/${body.id}`;
  expect(await call(stranger, 'GET', path)).toEqual(missing);
  expect(await call(stranger, 'POST', `${path}/run`)).toEqual(missing);
  const { credentials } = MAX;
  expect(await call(stranger, 'PATCH', path, { credentials })).toEqual(missing);
  expect(await call(stranger, 'DELETE', path)).toEqual(missing);
  expect((await call(stranger, 'GET', `/v1/connectors?application_id=${tenant.application.id}`)).status).toBe(
    404,
  );
  expect((await compared(tenant, '2026-03-02')).body.data).toHaveLength(1);
  expect((await call(tenant, 'DELETE', path)).status).toBe(200);
  expect((await compared(tenant, '2026-03-02')).body.data).toEqual([]);
  expect(await call(tenant, 'DELETE', path)).toEqual(missing);
});

it.each<[object, string]>([
  [{ ...MAX, kind: 'mx' }, 'kind must be one of meta, tiktok, applovin, google, pull, max, levelplay'],
  [
    { kind: 'meta', settings: { account_id: 'x' }, credentials: { access_token: 'a' } },
    'settings.account_id must be the number of an ad account',
  ],
  [
    { kind: 'google', settings: { customer_id: '12' }, credentials: {} },
    'settings.customer_id must be a customer ID such as 123-456-7890; credentials.developer_token is required; credentials.client_id is required; credentials.client_secret is required; credentials.refresh_token is required',
  ],
  ...['http://a.example.com/', 'https://10.0.0.1/', 'https://a:b@example.com/', 'https://db.internal/'].map(
    (url): [object, string] => [
      { kind: 'pull', settings: { url }, credentials: {} },
      expect.stringMatching(/^settings\.url must/),
    ],
  ),
  [
    { ...MAX, settings: { application: 'a', platform: 'web' } },
    'settings.platform must be one of android, ios, fireos',
  ],
  [{ ...MAX, credentials: {} }, 'credentials.report_key is required'],
  [{ ...MAX, credentials: 'x' }, 'credentials must be an object'],
  [
    { kind: 'levelplay', settings: {}, credentials: { secret_key: 'a', refresh_token: 'b' } },
    'settings.app_key is required',
  ],
])('names what is wrong with %j', async (body, message) => {
  expect(await add(await createTenant(), body)).toEqual({ status: 400, body: { message } });
});

it.each<[object, string]>([
  [{}, 'credentials must be an object'],
  [{ credentials: { access_token: 'a' } }, 'credentials.report_key is required'],
  ...(['settings', 'kind', 'application_id'] as const).map((field): [object, string] => [
    { credentials: MAX.credentials, [field]: 'x' },
    `${field} cannot be changed: add another connector`,
  ]),
])('refuses to change a connector to %j', async (body, message) => {
  const tenant = await createTenant();
  const { id } = (await add(tenant)).body;
  const before = await rowOf(id);
  const refused = { status: 400, body: { message } };
  expect(await call(tenant, 'PATCH', `/v1/connectors/${id}`, body)).toEqual(refused);
  expect(await rowOf(id)).toEqual(before);
});

it('refuses a URL whose name leads to what is not public', async () => {
  answerFetch(async () => Response.json({ Answer: [{ data: '10.0.0.1' }] }));
  const url = 'https://private-costs.example.com/{from}.csv';
  expect(await add(await createTenant(), { kind: 'pull', settings: { url }, credentials: {} })).toEqual({
    status: 400,
    body: { message: 'settings.url must not lead to a private or local address' },
  });
});

it('compares at most a month', async () => {
  const tenant = await createTenant();
  expect((await compared(tenant, '2026-03-01', '2026-04-01')).body).toEqual({
    message: 'to must be within 31 days of from',
  });
  expect((await compared(tenant, '2026-03-02', '2026-03-01')).body).toEqual({
    message: 'to must not be before from',
  });
});
