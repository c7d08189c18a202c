import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { runDueConnectors } from '#connectors';
import { channels, database, notices, connectors as table } from '#db';
import { addDays, dayIn } from '#lib/time';
import { runConnector } from '../../src/connectors/run.ts';
import { createCreative } from '../helpers/creatives.ts';
import { putCosts } from '../helpers/money.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { isThorough } from '../helpers/thorough.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import {
  addConnector,
  CURRENCIES,
  connectorRow,
  idOf,
  type Network,
  noSleep,
  type Spent,
  StandIn,
} from './stand-in.ts';

const worker = startWorker();
const db = database(env.DB);

/** Noon of tomorrow, so that whatever the API makes due is due, and all accounts have the same day. */
const TODAY = addDays(dayIn('UTC', Date.now()), 1);
const NOW = Date.parse(`${TODAY}T12:00:00Z`);
const MINUTE_MS = 60_000;
const CAMPAIGNS = ['Spring', 'Autumn'];
const COUNTRIES = ['DE', 'US', 'FR'];
const BY_COUNTRY: ReadonlySet<Network> = new Set(['meta', 'applovin', 'pull']);

beforeEach(() => db.delete(table));

/** Spend of every campaign and country on each of the last days: no two amounts are alike. */
function spentOn(days: number): Spent[] {
  return Array.from({ length: days }, (_, ago) => addDays(TODAY, -ago)).flatMap((date, day) =>
    CAMPAIGNS.flatMap((campaign, at) =>
      COUNTRIES.map((country, place) => {
        const cents = 1_000 + day * 37 + at * 501 + place * 7;
        return { date, campaign, adset: `${campaign} set`, ad: `${campaign} ad`, country, cents };
      }),
    ),
  );
}

type Cost = { date: string; campaign: string; country: string | null; currency: string; amount: number };

async function storedCosts(tenant: Tenant, from = '', to = ''): Promise<Cost[]> {
  const rows: Cost[] = [];
  for (let cursor = ''; ; ) {
    const query = new URLSearchParams({
      application_id: tenant.application.id,
      from,
      to,
      limit: '200',
      cursor,
    });
    const answer = await worker.team(tenant, `/v1/costs?${query}`);
    const page = await answer.json<{ data: Cost[]; next_cursor: string | null }>();
    rows.push(...page.data);
    if (page.next_cursor === null) return rows;
    cursor = page.next_cursor;
  }
}

/** Sums in cents by day, campaign and, where the network tells it, country. */
function sums<Row>(rows: readonly Row[], keyOf: (row: Row) => string, centsOf: (row: Row) => number) {
  const totals: Record<string, number> = {};
  for (const row of rows) totals[keyOf(row)] = (totals[keyOf(row)] ?? 0) + centsOf(row);
  return totals;
}

const spentBy = (network: Network, rows: readonly Spent[]) =>
  sums(
    rows,
    ({ date, campaign, country }) =>
      [date, campaign, BY_COUNTRY.has(network) ? country : '', CURRENCIES[network]].join(' '),
    ({ cents }) => cents,
  );
const storedBy = (rows: readonly Cost[]) =>
  sums(
    rows,
    ({ date, campaign, country, currency }) =>
      [date, campaign, country?.toUpperCase() ?? '', currency].join(' '),
    ({ amount }) => Math.round(amount * 100),
  );

const run = async (id: string, standIn: StandIn, now = NOW) =>
  runConnector(env, await connectorRow(id), now, standIn.fetch, noSleep);

const call = async <Body>(tenant: Tenant, method: string, path: string, body?: object) => {
  const answer = await worker.team(tenant, path, { method, ...(body ? { body } : {}) });
  return { status: answer.status, body: await answer.json<Body>() };
};

/** In the fast tier one that is asked page by page, and one whose rows are read from a stream. */
const NETWORKS: Network[] = isThorough ? ['meta', 'tiktok', 'applovin', 'google', 'pull'] : ['meta', 'pull'];

describe.each(NETWORKS)('costs of %s', (network) => {
  it('of 30 days are those of the network, with a day that it revised and a page that failed', async () => {
    const tenant = await createTenant();
    const standIn = new StandIn();
    standIn.ledger = spentOn(36);
    const id = await addConnector(worker, tenant, network);
    const [from, to] = [addDays(TODAY, -31), addDays(TODAY, -2)];
    const inPeriod = () => standIn.ledger.filter(({ date }) => date >= from && date <= to);

    expect(await run(id, standIn)).toBeNull();
    const asked = await call<{ backfill: object }>(tenant, 'POST', `/v1/connectors/${id}/backfill`, {
      from,
      to,
    });
    expect(asked).toMatchObject({ status: 202, body: { backfill: { from, to, days: 30, days_done: 0 } } });
    let steps = 0;
    for (let at = NOW + MINUTE_MS; ; at += MINUTE_MS) {
      await runDueConnectors(env, at, standIn.fetch, noSleep);
      const { body } = await call<{ backfill: { days_done: number } }>(tenant, 'GET', `/v1/connectors/${id}`);
      steps++;
      expect(body.backfill.days_done).toBe(Math.min(30, steps * 7));
      if (body.backfill.days_done === 30) break;
    }
    expect(steps).toBe(5);
    expect(storedBy(await storedCosts(tenant, from, to))).toEqual(spentBy(network, inPeriod()));

    const revised = addDays(TODAY, -3);
    standIn.ledger = standIn.ledger
      .filter(({ date, campaign }) => date !== revised || campaign !== 'Autumn')
      .map((row) => (row.date === revised ? { ...row, cents: row.cents + 111 } : row));
    const before = await storedCosts(tenant);
    // The last request for rows, after others have been answered.
    const rows = { meta: /after=20/, tiktok: /page=1/, applovin: /report/, google: /MAX/, pull: /daily/ };
    standIn.failures = [[rows[network], () => new Response('broken', { status: 500 })]];
    expect(await run(id, standIn, NOW + MINUTE_MS)).toMatch(/answered 500: broken/);
    expect(await storedCosts(tenant)).toEqual(before);
    expect(standIn.failures).toEqual([]);

    expect(await run(id, standIn, NOW + 2 * MINUTE_MS)).toBeNull();
    expect(storedBy(await storedCosts(tenant, from, to))).toEqual(spentBy(network, inPeriod()));
    const { body } = await call<object>(tenant, 'GET', `/v1/connectors/${id}`);
    expect(body).toMatchObject({
      last_error: null,
      failures: 0,
      last_change: { days: 7, changed_days: 1, before: [{ currency: CURRENCIES[network] }] },
    });
  });
});

it.each<Network>(['meta', 'tiktok', 'applovin', 'google', 'pull'])(
  'takes from %s no row of a day that it was not asked for',
  async (network) => {
    for (const date of [addDays(TODAY, -8), TODAY, addDays(TODAY, 1)]) {
      const tenant = await createTenant();
      const standIn = new StandIn();
      standIn.ledger = spentOn(9);
      const id = await addConnector(worker, tenant, network);
      // Tokyo's yesterday is the last day at TikTok, as it is everywhere at noon of UTC.
      const asked = standIn.ledger.filter((row) => row.date >= addDays(TODAY, -7) && row.date < TODAY);
      const [row] = asked;
      if (!row) throw new Error('nothing was spent');
      standIn.strangers = [{ ...row, date }];
      const fault = `the report has ${date}, which was not asked for`;
      // Our own format says that such rows are ignored.
      expect(await run(id, standIn), date).toBe(network === 'pull' ? null : fault);
      const stored = storedBy(await storedCosts(tenant));
      expect(stored).toEqual(network === 'pull' ? spentBy(network, asked) : {});
    }
  },
);

it.each<[Network, () => Response, wait: number]>([
  ['applovin', () => new Response('slow down', { status: 503, headers: { 'Retry-After': '5400' } }), 5_400],
  ['applovin', () => new Response('slow down', { status: 429, headers: { 'Retry-After': '1200' } }), 1_200],
  ['tiktok', () => new Response('{}', { status: 503, headers: { 'Retry-After': '90' } }), 90],
  ['meta', () => new Response('down', { status: 503 }), 3_600],
])('asks %s again only when it said that it may be asked (%#)', async (network, failure, waitSeconds) => {
  const tenant = await createTenant();
  const standIn = new StandIn();
  standIn.ledger = spentOn(9);
  const id = await addConnector(worker, tenant, network);
  standIn.failures = [[/./, failure]];
  await runDueConnectors(env, NOW, standIn.fetch, noSleep);
  expect((await connectorRow(id)).lastError).not.toBeNull();
  const asked = standIn.requests.length;
  for (const at of [0, 1_000, waitSeconds * 1_000 - 1]) {
    await runDueConnectors(env, NOW + at, standIn.fetch, noSleep);
    expect(standIn.requests, `${at} ms later`).toHaveLength(asked);
  }
  await runDueConnectors(env, NOW + waitSeconds * 1_000, standIn.fetch, noSleep);
  expect((await connectorRow(id)).lastError).toBeNull();
});

it('gives ROAS by campaign and country what an independent count gives', async () => {
  const tenant = await createTenant();
  const standIn = new StandIn();
  standIn.ledger = spentOn(8);
  const earned: Record<string, number> = {};
  for (const [at, campaign] of CAMPAIGNS.entries()) {
    // Only the id of the ad leads to this creative: its names here are others.
    const { token: creative_token } = await createCreative(worker, tenant, {
      ...{ creative: `Our ${campaign}`, adset: 'Ours', campaign: `Our ${campaign}` },
      external_ids: [{ network: 'meta', id: idOf(`${campaign} ad`) }],
    });
    for (const [place, country] of COUNTRIES.entries()) {
      const day = addDays(TODAY, -2 - place);
      const token = await fetchToken(worker, tenant, {
        created_at: `${day}T08:00:00Z`,
        data: { country, creative_token, device_id: crypto.randomUUID() },
      });
      const value = 3 + at * 2 + place;
      earned[`Our ${campaign} ${country}`] = value;
      await worker.post(tenant, '/webhook', {
        ...{ type: 'custom.purchase', created_at: `${day} 10:00:00`, creativeToken: token },
        payload: { item_id: 'gems', value, currency: 'eur', status: 'completed', tr_id: crypto.randomUUID() },
      });
    }
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  expect(await run(await addConnector(worker, tenant, 'meta'), standIn)).toBeNull();
  const [from, to] = [addDays(TODAY, -6), addDays(TODAY, -2)];
  const query = new URLSearchParams({
    ...{ application_id: tenant.application.id, from, to, currency: 'eur', group_by: 'campaign,country' },
  });
  const { body } = await call<{ data: { campaign: string; country: string; spend: number; roas: number }[] }>(
    tenant,
    'GET',
    `/v1/reports/performance?${query}`,
  );
  const spend = sums(
    standIn.ledger.filter(({ date }) => date >= from && date <= to),
    ({ campaign, country }) => `Our ${campaign} ${country}`,
    ({ cents }) => cents,
  );
  const expected = Object.entries(spend).map(([key, cents]) => [
    key,
    cents / 100,
    (earned[key] ?? 0) / (cents / 100),
  ]);
  const shown = body.data.map(({ campaign, country, spend: paid, roas }) => [
    `${campaign} ${country.toUpperCase()}`,
    paid,
    roas,
  ]);
  expect(shown.sort()).toEqual(
    expected.sort().map(([key, paid, roas]) => [key, paid, expect.closeTo(Number(roas), 10)]),
  );
});

it('reads a report on that takes the network minutes, without starting another, while others run', async () => {
  const tenant = await createTenant();
  const standIn = new StandIn();
  standIn.ledger = spentOn(9);
  standIn.notReady = 5;
  const slow = await addConnector(worker, tenant, 'meta');
  const other = await addConnector(worker, tenant, 'applovin');
  const state = async (id: string) =>
    (await call<{ state: string; last_success_at: string | null }>(tenant, 'GET', `/v1/connectors/${id}`))
      .body;
  await runDueConnectors(env, NOW, standIn.fetch, noSleep);
  expect(await state(slow)).toMatchObject({ state: 'waiting', last_success_at: null });
  expect((await state(other)).last_success_at).not.toBeNull();
  expect(await storedCosts(tenant)).not.toEqual([]);
  await runDueConnectors(env, NOW + 30_000, standIn.fetch, noSleep);
  for (const minute of [1, 2, 3]) {
    await runDueConnectors(env, NOW + minute * MINUTE_MS, standIn.fetch, noSleep);
  }
  expect((await state(slow)).last_success_at).not.toBeNull();
  expect(standIn.requests.filter((asked) => asked.includes('time_increment'))).toHaveLength(1);
});

it('lets no connector wait for one that hangs', async () => {
  const tenant = await createTenant();
  const standIn = new StandIn();
  const slow = await addConnector(worker, tenant, 'tiktok');
  const quick = await addConnector(worker, tenant, 'applovin');
  await db
    .update(table)
    .set({ nextRunAt: NOW - 1 })
    .where(eq(table.id, slow));
  const hanging = Promise.withResolvers<Response>();
  const fetcher = (url: string, init: RequestInit) =>
    url.includes('tiktok') ? hanging.promise : standIn.fetch(url, init);
  const whole = runDueConnectors(env, NOW, fetcher, noSleep);
  await expect.poll(async () => (await connectorRow(quick)).lastSuccessAt).toBe(NOW);
  // What runs is not started again, not even by hand.
  await call(tenant, 'POST', `/v1/connectors/${slow}/run`);
  await runDueConnectors(env, Date.now(), () => Promise.reject(new Error('asked twice')), noSleep);
  expect(await connectorRow(slow)).toMatchObject({ lastError: null, startedAt: NOW });
  hanging.reject(new Error('connection lost'));
  await whole;
  const reason = 'business-api.tiktok.com could not be reached: connection lost';
  expect(await connectorRow(slow)).toMatchObject({ lastError: reason, startedAt: null });
});

it('tells the channels once that a connector fails, and says so on Health', async () => {
  const tenant = await createTenant();
  const standIn = new StandIn();
  const id = await addConnector(worker, tenant, 'applovin');
  await db.insert(channels).values({
    ...{ id: 'chn_1', applicationId: tenant.application.id, kind: 'mail', target: 'a@example.com' },
    ...{ digest: 'never', createdAt: NOW, origin: 'https://ingest.test' },
  } as typeof channels.$inferInsert);
  const told = async () =>
    (await db.select().from(notices).where(eq(notices.channelId, 'chn_1'))).map(({ subject, body }) => [
      subject,
      JSON.parse(body).sentences,
    ]);
  const fail = (at: number) => {
    standIn.failures = [[/./, () => new Response('bad key secret-key', { status: 401 })]];
    return run(id, standIn, NOW + at);
  };
  const reason = 'AppLovin answered 401: bad key ***';
  for (const at of [0, 1, 2, 3]) expect(await fail(at)).toBe(reason);
  const heading = `${tenant.application.name} · AppLovin: 3 runs in a row have failed`;
  expect(await told()).toEqual([[heading, [`Last error: ${reason}`]]]);
  const health = await call<{ applications: { problems: string[] }[] }>(tenant, 'GET', '/v1/health');
  expect(health.body.applications[0]?.problems).toEqual([
    `The connector applovin has failed 4 times in a row: ${reason}`,
  ]);
  expect(await run(id, standIn, NOW + 4)).toBeNull();
  expect(
    (await call<{ applications: { problems: string[] }[] }>(tenant, 'GET', '/v1/health')).body.applications[0]
      ?.problems,
  ).toEqual([]);
  for (const at of [5, 6, 7]) await fail(at);
  expect(await told()).toHaveLength(2);
});

it('notices a run that was cut off, and tries again', async () => {
  const tenant = await createTenant();
  const id = await addConnector(worker, tenant, 'applovin');
  const hour = 60 * MINUTE_MS;
  await db
    .update(table)
    .set({ startedAt: NOW - hour, nextRunAt: NOW })
    .where(eq(table.id, id));
  const failing = () => Promise.reject(new Error('connection lost'));
  await runDueConnectors(env, NOW, failing, noSleep);
  const reason = 'r.applovin.com could not be reached: connection lost';
  expect(await connectorRow(id)).toMatchObject({ failures: 2, lastError: reason });
});

describe('new credentials', () => {
  const replaced = { access_token: 'the-new-token' };
  const expired = () =>
    Response.json({ error: { message: 'Session has expired', code: 190 } }, { status: 400 });
  const setUp = async () => {
    const tenant = await createTenant();
    const standIn = new StandIn();
    standIn.ledger = spentOn(9);
    const id = await addConnector(worker, tenant, 'meta');
    expect(await run(id, standIn)).toBeNull();
    const replace = () => call(tenant, 'PATCH', `/v1/connectors/${id}`, { credentials: replaced });
    return { tenant, standIn, id, replace };
  };

  it('are those of the next run, at once, and what was fetched stays', async () => {
    const { tenant, standIn, id, replace } = await setUp();
    const before = await storedCosts(tenant);
    expect(before).not.toEqual([]);
    standIn.failures = [[/./, expired]];
    expect(await run(id, standIn)).toMatch(/Session has expired/);
    expect(await replace()).toMatchObject({
      status: 200,
      body: { id, last_error: null, failures: 0, credentials_expire_at: null, state: 'due' },
    });
    expect(await storedCosts(tenant)).toEqual(before);
    standIn.requests = [];
    await runDueConnectors(env, NOW, standIn.fetch, noSleep);
    expect(standIn.requests.join()).toContain('the-new-token');
    expect(standIn.requests.join()).not.toContain('secret-token');
    expect(await storedCosts(tenant)).toEqual(before);
    expect(await connectorRow(id)).toMatchObject({ lastError: null, lastRunAt: NOW });
  });

  it.each(['fails', 'succeeds'])('stay due if a run with the former ones %s meanwhile', async (how) => {
    const { standIn, id, replace } = await setUp();
    const row = await connectorRow(id);
    await replace();
    const after = await connectorRow(id);
    if (how === 'fails') standIn.failures = [[/./, expired]];
    await runConnector(env, row, NOW, standIn.fetch, noSleep);
    expect(await connectorRow(id)).toEqual(after);
  });
});

it('matches ids before names, and keeps what matches nothing as spend', async () => {
  const tenant = await createTenant();
  const yesterday = addDays(TODAY, -2);
  const spent = (campaign: string, adset: string, ad: string, cents: number): Spent => ({
    ...{ date: yesterday, campaign, adset, ad, country: 'DE', cents },
  });
  await createCreative(worker, tenant, { campaign: 'Named', adset: 'Set', creative: 'Ad' });
  await createCreative(worker, tenant, { campaign: 'Ours', adset: 'Our set', creative: 'Other' });
  const idsOf = async (kind: 'adsets' | 'campaigns', name: string, id: string) => {
    const list = `/v1/${kind}?application_id=${tenant.application.id}&q=${encodeURIComponent(name)}`;
    const { body } = await call<{ data: { id: string }[] }>(tenant, 'GET', list);
    const external_ids = [{ network: 'meta', id: idOf(id) }];
    expect((await call(tenant, 'PATCH', `/v1/${kind}/${body.data[0]?.id}`, { external_ids })).status).toBe(
      200,
    );
  };
  await idsOf('adsets', 'Our set', 'Theirs set');
  await idsOf('campaigns', 'Ours', 'Theirs');
  const standIn = new StandIn();
  standIn.ledger = [
    spent('Named', 'Set', 'Ad', 100),
    spent('Theirs', 'Theirs set', 'Other', 200),
    spent('Theirs', 'Theirs set', 'Other', 20),
    spent('Theirs', 'Unknown', 'Ad', 400),
    spent('Nobody', '', 'Ad', 800),
  ];
  const id = await addConnector(worker, tenant, 'meta');
  expect(await run(id, standIn)).toBeNull();
  const shown = (await storedCosts(tenant)) as unknown as Record<string, unknown>[];
  expect(
    shown.map(({ campaign, adset, creative, amount, matched, network, connector_id }) => [
      ...[campaign, adset, creative, amount, matched, network, connector_id],
    ]),
  ).toEqual([
    ['Named', 'Set', 'Ad', 1, true, 'meta', id],
    ['Nobody', idOf(''), 'Ad', 8, false, 'meta', id],
    ['Ours', 'Our set', 'Other', 2.2, true, 'meta', id],
    ['Ours', 'Unknown', 'Ad', 4, false, 'meta', id],
  ]);
});

it('counts no money twice that was uploaded and fetched, and keeps accounts apart', async () => {
  const tenant = await createTenant();
  const date = addDays(TODAY, -3);
  const names = { date, campaign: 'Spring', adset: 'Spring set', creative: 'Spring ad' };
  const standIn = new StandIn();
  standIn.ledger = spentOn(9).filter((row) => row.date === date && row.campaign === 'Spring');
  const total = standIn.ledger.reduce((sum, { cents }) => sum + cents, 0) / 100;
  const stored = async () => (await storedCosts(tenant)).reduce((sum, { amount }) => sum + amount, 0);
  await putCosts(worker, tenant, [{ ...names, amount: 99 }]);
  const first = await addConnector(worker, tenant, 'applovin');
  await run(first, standIn);
  expect(await stored()).toBeCloseTo(total, 6);
  await putCosts(worker, tenant, [{ ...names, amount: 98 }]);
  expect(await stored()).toBe(98);
  await run(first, standIn);
  const second = await addConnector(worker, tenant, 'applovin', { account_name: 'Theirs' });
  await run(second, standIn);
  expect(await stored()).toBeCloseTo(2 * total, 6);
  await expect(addConnector(worker, tenant, 'applovin')).rejects.toThrow('with these settings already');
  expect((await call(tenant, 'DELETE', `/v1/connectors/${second}`)).status).toBe(200);
  expect(await stored()).toBeCloseTo(total, 6);
  // Days that the network has nothing of any more have no spend.
  standIn.ledger = [];
  await run(first, standIn);
  expect(await storedCosts(tenant)).toEqual([]);
});

it('reads only campaigns whose name contains a text', async () => {
  const tenant = await createTenant();
  const standIn = new StandIn();
  standIn.ledger = spentOn(3);
  await run(await addConnector(worker, tenant, 'tiktok', { campaign_contains: 'aut' }), standIn);
  expect(new Set((await storedCosts(tenant)).map(({ campaign }) => campaign))).toEqual(new Set(['Autumn']));
});

it.each<[string, string, string | null]>([
  ['rows in JSON', JSON.stringify([{ date: addDays(TODAY, -2), campaign: 'A', amount: 1.5 }]), null],
  ['an object with rows', JSON.stringify({ rows: [] }), null],
  ['JSON without rows', '{"a":1}', 'The address answered what cannot be read: JSON without a list of rows'],
  [
    'a row without an amount',
    JSON.stringify({ rows: [{ date: TODAY, campaign: 'A' }] }),
    'The address answered what cannot be read: row 1: amount is required',
  ],
  [
    'JSON that breaks off',
    `[{"date":"${TODAY}","campaign":"A","amount":1},`,
    'The address answered what cannot be read: JSON that ends too early',
  ],
  [
    'more rows than a report may have',
    `[${Array(50_001)
      .fill(JSON.stringify({ date: TODAY, campaign: 'A', amount: 1 }))
      .join()}]`,
    'The address answered what cannot be read: more than 50000 rows',
  ],
  ['20 MB and more', `{"a":"${'x'.repeat(20 * 1024 * 1024)}"}`, 'an answer has more than 20 MB'],
  [
    'a page of HTML',
    '<html></html>',
    expect.stringMatching(/cannot be read: The header line has no column for date/),
  ],
])('pulls %s', async (_, text, reason) => {
  const tenant = await createTenant();
  const id = await addConnector(worker, tenant, 'pull');
  const requests: [string, Headers][] = [];
  const fetcher = async (url: string, init: RequestInit) => {
    requests.push([url, new Headers(init.headers)]);
    return new Response(text);
  };
  expect(await runConnector(env, await connectorRow(id), NOW, fetcher, noSleep)).toEqual(reason);
  const [[url, headers] = ['', new Headers()]] = requests;
  expect(url).toBe(`https://costs.example.com/daily?from=${addDays(TODAY, -7)}&to=${addDays(TODAY, -1)}`);
  expect(headers.get('Authorization')).toBe('Bearer secret-bearer');
});

it('reads one large report at a time, and both of them whole', async () => {
  const row = { date: addDays(TODAY, -2), amount: 1.5, currency: 'usd' };
  const text = (name: string) =>
    JSON.stringify(Array.from({ length: 2 }, (_, index) => ({ ...row, campaign: `${name} ${index}` })));
  const tenants = [await createTenant(), await createTenant()];
  const ids = await Promise.all(tenants.map((tenant) => addConnector(worker, tenant, 'pull')));
  // Whatever is around the rows makes them large.
  const large = (name: string) => `{"a":"${'x'.repeat(2 * 1024 * 1024)}","rows":${text(name)}}`;
  let [sent, reading, most] = [0, 0, 0];
  const fetcherOf = (name: string) => async () => {
    sent++;
    const bytes = new TextEncoder().encode(large(name));
    let at = 0;
    return new Response(
      new ReadableStream({
        pull(controller) {
          // Beyond its first megabyte it is large.
          if (at === 1_500_000) most = Math.max(most, ++reading);
          controller.enqueue(bytes.slice(at, at + 500_000));
          at += 500_000;
          if (at < bytes.length) return;
          reading--;
          controller.close();
        },
      }),
    );
  };
  const outcomes = await Promise.all(
    ids.map(async (id, index) =>
      runConnector(env, await connectorRow(id), NOW, fetcherOf(`C${index}`), () => scheduler.wait(1)),
    ),
  );
  expect([outcomes, most]).toEqual([[null, null], 1]);
  // The one that had to wait asked again.
  expect(sent).toBe(3);
  for (const [index, tenant] of tenants.entries()) {
    const stored = await storedCosts(tenant);
    expect(stored.map(({ campaign }) => campaign).sort()).toEqual([`C${index} 0`, `C${index} 1`]);
  }
});

it('refuses days that are not over or not there any more, and others’ connectors', async () => {
  const [tenant, stranger] = [await createTenant(), await createTenant()];
  const id = await addConnector(worker, tenant, 'applovin');
  const path = `/v1/connectors/${id}/backfill`;
  const backfill = (from: string, to: string, by = tenant) =>
    call<{ message: string }>(by, 'POST', path, { from, to });
  const last = addDays(TODAY, -2);
  const first = addDays(last, -43);
  expect(await backfill(addDays(first, -1), TODAY)).toEqual({
    status: 400,
    body: {
      message: `to must not be after ${last}, the last day that is complete; from must not be before ${first}, the first day that it reports`,
    },
  });
  expect((await backfill(last, first)).body.message).toBe('to must not be before from');
  expect((await backfill(first, last, stranger)).status).toBe(404);
  expect((await backfill(first, last)).status).toBe(202);
});
