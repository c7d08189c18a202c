import { env } from 'cloudflare:workers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { METRICS } from '#catalogue';
import { explainDeviceTool } from '../../src/assistants/tools/lookups.ts';
import { REPORT_ENDPOINTS } from '../../src/assistants/tools/report.ts';
import { openApiDocument } from '../../src/docs/document.ts';
import { ENDPOINTS } from '../../src/service.ts';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { watchedLimit } from '../helpers/limits.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const PERIOD = { from: '2026-03-01', to: '2026-03-07' };
const EVENTS = 230;

let tenant: Tenant;
let other: Tenant;
let token: string;
let creative: { id: string };

beforeAll(async () => {
  [tenant, other] = [await createTenant(), await createTenant({ name: 'Other game' })];
  creative = await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Young', creative: 'Cat' });
  token = await fetchToken(worker, tenant, { created_at: '2026-03-02T09:00:00Z' });
  await worker.deliver(worker.queue.take());
  await addFigures(env.DB, tenant.application.id, 'rollup_daily', [
    { day: '2026-03-02', creative_id: '', currency: 'usd', installs: 3, purchase_revenue: 12_340_000_000 },
    { day: '2026-03-03', creative_id: '', currency: 'xts', purchase_revenue: 5_000_000_000 },
    { day: '2026-03-02', creative_id: '', currency: '', custom_events: (EVENTS * (EVENTS + 1)) / 2 },
  ]);
  await addFigures(
    env.DB,
    tenant.application.id,
    'rollup_custom',
    Array.from({ length: EVENTS }, (_, index) => ({
      day: '2026-03-02',
      creative_id: '',
      event_name: `event_${index}`,
      custom_events: index + 1,
    })),
  );
});

type Fetch = typeof fetch;
type Row = Record<string, unknown>;
type Answer = Row & { data: Row[]; cut: string | null };

/** The SDK's own client, connected to the Worker. */
async function connect(bearer: string, mode: 'legacy' | 'auto' = 'legacy', on = worker) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const overWorker = ((url, init) => on.request(new URL(String(url)).pathname, init as RequestInit)) as Fetch;
  await client.connect(
    new StreamableHTTPClientTransport(new URL('https://ingest.test/mcp'), {
      fetch: overWorker,
      requestInit: { headers: { Authorization: `Bearer ${bearer}` } },
    }),
  );
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const answer = await client.callTool({ name, arguments: args });
    const [content] = answer.content;
    return {
      isError: answer.isError === true,
      text: content?.type === 'text' ? content.text : '',
      // The client has checked it against the tool's schema.
      answer: (answer.structuredContent ?? {}) as Answer,
    };
  };
  return { client, call };
}

const ofTenant = (more: Row = {}) => ({ application_id: tenant.application.id, ...PERIOD, ...more });

/** What each report is asked for, besides the application and the period. */
const ASKED: Record<string, Row> = { funnel: { steps: ['install', 'purchase'] } };
/** All that the team API documents. */
const DOCUMENTED = Object.keys(openApiDocument('service', ENDPOINTS).paths ?? {}).flatMap(
  (path) => /^\/v1\/reports\/([^/]+)$/.exec(path)?.[1] ?? [],
);
const REPORTS = DOCUMENTED.filter((name) => name !== 'compare');

describe.each(['legacy', 'auto'] as const)('the client in mode %s', (mode) => {
  it('lists read-only tools with typed input and output', async () => {
    const { client } = await connect(tenant.teamToken, mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_applications',
      'describe_metrics',
      'report',
      'compare',
      'explain_device',
      'search',
    ]);
    for (const { name, annotations, inputSchema, outputSchema, description } of tools) {
      expect(annotations, name).toMatchObject({ readOnlyHint: true });
      expect([inputSchema.type, outputSchema?.type], name).toEqual(['object', 'object']);
      expect(description, name).not.toBe('');
    }
    expect(JSON.stringify(tools).length).toBeLessThan(40_000);
  });

  it('reads a report as the team API does', async () => {
    const { call } = await connect(tenant.teamToken, mode);
    const asked = { report: 'performance', metrics: ['installs', 'purchase_revenue'], currency: 'usd' };
    const { answer, text } = await call('report', ofTenant(asked));
    expect(JSON.parse(text)).toEqual(answer);
    const { report, cut, counted_through, ...rest } = answer;
    expect([report, cut]).toEqual(['performance', null]);
    expect(Date.parse(String(counted_through))).toBeGreaterThan(Date.now() - 60_000);
    const query = new URLSearchParams({
      ...ofTenant(),
      metrics: 'installs,purchase_revenue',
      currency: 'usd',
    });
    const { counted_through: _, ...api } = await (
      await worker.team(tenant, `/v1/reports/performance?${query}`)
    ).json<Row>();
    expect(rest).toEqual(api);
    expect(rest).toMatchObject({ totals: { installs: 4 }, unconverted: [{ currency: 'xts', amount: 5 }] });
  });
});

it.each(REPORTS)('answers the report %s as it is documented', async (report) => {
  const { call, client } = await connect(tenant.teamToken);
  const { tools } = await client.listTools();
  const schema = tools.find(({ name }) => name === 'report')?.inputSchema as unknown as {
    properties: { report: { enum: string[] } };
  };
  expect(schema.properties.report.enum).toContain(report);
  const { answer, isError, text } = await call('report', { report, ...ofTenant(ASKED[report]) });
  expect(isError, text).toBe(false);
  const { report: named, cut, ...rest } = answer;
  expect([named, cut]).toEqual([report, null]);
  const documented = REPORT_ENDPOINTS.find(({ name }) => name === report)?.endpoint.answer.schema;
  expect((documented as z.ZodObject).strict().safeParse(rest).error).toBeUndefined();
  expect(Date.parse(String(rest.counted_through))).toBeGreaterThan(Date.now() - 60_000);
});

describe('the length of a report', () => {
  const byEvent = { report: 'performance', group_by: ['event_name'], metrics: ['events'] };

  it('is 50 rows and the sum of the rest, and says how to ask for more', async () => {
    const { call } = await connect(tenant.teamToken);
    const { answer } = await call('report', ofTenant(byEvent));
    expect(answer.data).toHaveLength(51);
    expect(answer.data).toContainEqual({ event_name: `event_${EVENTS - 1}`, events: EVENTS });
    expect(answer.data.at(-1)).toMatchObject({ is_other: true });
    expect(answer.cut).toBe(
      `${EVENTS - 50} of ${EVENTS} rows have no row of their own: the last row, with is_other, sums them up. For the rest, ask with a limit of up to 200, for fewer metrics, for a shorter period, with a filter such as country or with q, a text in the names.`,
    );
    const { answer: named } = await call('report', ofTenant({ ...byEvent, q: 'event_229' }));
    expect(named).toMatchObject({
      data: [{ event_name: 'event_229', events: 230 }, { is_other: true }],
      cut: null,
    });
  });

  it('is limited in characters too', async () => {
    const { call } = await connect(tenant.teamToken);
    const { answer, text } = await call(
      'report',
      ofTenant({ report: 'performance', group_by: 'event_name', limit: 200 }),
    );
    expect(text.length).toBeLessThan(70_000);
    const kept = answer.data.length - 1;
    expect(kept).toBeLessThan(200);
    expect(answer.cut).toContain(
      `The answer was too long: ${200 - kept} of 200 rows are left out, and are in no row of data.`,
    );
    expect(answer.data.at(-1)).toMatchObject({ is_other: true });
  });
});

it.each([
  [{ report: 'performance', to: 'today' }, 'to must be a day, as YYYY-MM-DD'],
  [{ report: 'performance', group_bye: 'day' }, 'group_bye is not a parameter here; did you mean group_by?'],
  [{ report: 'performance', group_by: ['planet'] }, /^group_by\.0 must be one or two of /],
  [{ report: 'performance', country: { in: ['de'] } }, 'country must be a text, a number or a list of them'],
  [{ report: 'performance', format: 'csv' }, 'format is not a parameter here: every answer is JSON'],
  [{ report: 'performance', limit: 201 }, 'limit must be a whole number from 1 to 200'],
  [{ report: 'retention', limit: 'ten' }, 'limit must be a whole number from 1 to 1000'],
  [{ report: 'weather' }, /report: .*performance/],
])('refuses %j as an error of the tool', async (args, message) => {
  const { call } = await connect(tenant.teamToken);
  const { isError, text } = await call('report', ofTenant(args));
  expect(text).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  expect(isError).toBe(true);
});

it('lists the applications with the day that it is there', async () => {
  const made = await createTenant({ timezone: 'Pacific/Kiritimati' });
  await worker.team(made, '/v1/applications', { method: 'POST', body: { name: 'Second game' } });
  const { call } = await connect(made.teamToken);
  const { answer } = await call('list_applications', { limit: 1 });
  const today = new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10);
  expect(answer).toMatchObject({
    data: [
      { id: made.application.id, name: 'Test game', timezone: 'Pacific/Kiritimati', currency: 'usd', today },
    ],
    cut: 'There are more. For the next, send next_cursor as cursor.',
  });
  const { answer: next } = await call('list_applications', { cursor: answer.next_cursor });
  expect(next).toMatchObject({ data: [{ name: 'Second game' }], next_cursor: null, cut: null });
});

it('defines every metric, and the columns of every report', async () => {
  const { call } = await connect(tenant.teamToken);
  const { answer } = await call('describe_metrics');
  expect((answer.metrics as Row[]).map(({ name }) => name)).toEqual(Object.keys(METRICS));
  for (const report of DOCUMENTED) {
    const { answer: described } = await call('describe_metrics', { report });
    const { columns } = described.report as { columns: Row[] };
    expect(columns.length, report).toBeGreaterThan(2);
  }
  const { answer: ltv } = await call('describe_metrics', { report: 'ltv' });
  expect(ltv.report).toMatchObject({
    columns: expect.arrayContaining([{ name: 'days.N.roas', description: expect.any(String) }]),
  });
});

it('compares, searches and explains', async () => {
  const { call } = await connect(tenant.teamToken);
  const compared = await call('compare', ofTenant({ by: 'os', a: 'android', b: 'ios', days: [1, 7] }));
  expect(compared.answer).toMatchObject({ a: { name: 'android', size: 1 }, b: { size: 0 }, cut: null });
  expect(new Set(compared.answer.data.map(({ day }) => day))).toEqual(new Set([1, 7]));
  const missing = await call('compare', ofTenant({ by: 'os', a: 'android' }));
  expect([missing.isError, missing.text]).toEqual([true, 'b is required with by=os']);

  const { application } = tenant;
  for (const [kind, q, found] of [
    ['creative', 'cat', { id: creative.id, name: 'Cat', adset: 'Young', campaign: 'Spring' }],
    ['adset', 'you', { name: 'Young', campaign: 'Spring' }],
    ['campaign', 'spr', { name: 'Spring' }],
  ] as const) {
    const { answer } = await call('search', { application_id: application.id, kind, q });
    expect(answer).toMatchObject({ data: [found], next_cursor: null, cut: null });
  }
  const none = await call('search', { application_id: application.id, q: 'dog' });
  expect(none.answer.data).toEqual([]);

  const { answer: explained } = await call('explain_device', { token });
  const api = await worker.team(tenant, `/v1/devices/${token}/attribution`);
  const { counted_through, cut, ...rest } = explained;
  expect(rest).toEqual(await api.json());
  expect(Date.parse(String(counted_through))).toBeGreaterThan(Date.now() - 60_000);
  expect(cut).toBeNull();
});

it('says what an explanation of a device does not have', async () => {
  const api: Row = await (await worker.team(tenant, `/v1/devices/${token}/attribution`)).json();
  const at = '2026-03-01T00:00:00.000Z';
  const click = { click_id: 'c', creative_id: 'c', clicked_at: at };
  const refused = { ...click, filter: 'f', reason: 'it was refused' };
  const candidate = { ...click, score: 1, probability: 0.1, facts: {} };
  const explained = async (refused_clicks: number, candidates: number) => {
    const lists = {
      refused_clicks: Array.from({ length: refused_clicks }, () => refused),
      candidates: Array.from({ length: candidates }, () => candidate),
    };
    return (await explainDeviceTool.run(async () => Response.json({ ...api, ...lists }), { token })).cut;
  };
  expect(await explained(2, 4)).toBeNull();
  expect(await explained(3, 5)).toBe(
    'Only the 3 newest refused clicks and the 5 likeliest candidates are kept: there may have been more, which cannot be asked for.',
  );
});

it('finds nothing of another team', async () => {
  const { call } = await connect(other.teamToken);
  const found = [
    await call('report', { report: 'performance', ...ofTenant() }),
    await call('compare', ofTenant({ by: 'os', a: 'android', b: 'ios' })),
    await call('search', { application_id: tenant.application.id }),
    await call('explain_device', { token }),
  ];
  expect(found.map(({ isError, text }) => [isError, text])).toEqual([
    [true, 'Application not found'],
    [true, 'Application not found'],
    [true, 'Application not found'],
    [true, 'Device not found'],
  ]);
  const { answer } = await call('list_applications');
  expect(answer.data.map(({ name }) => name)).toEqual(['Other game']);
});

it('tells a client of a team which answers have what', async () => {
  const { client } = await connect(tenant.teamToken);
  const { tools } = await client.listTools();
  const having = (field: string) =>
    tools.flatMap(({ name, outputSchema }) =>
      Object.hasOwn(outputSchema?.properties ?? {}, field) ? [name] : [],
    );
  expect(having('counted_through')).toEqual(['report', 'compare', 'explain_device']);
  expect(having('cut')).toEqual(['list_applications', 'report', 'compare', 'explain_device', 'search']);
  const instructions = client.getInstructions() ?? '';
  expect(instructions).toContain(`(${having('counted_through').join(', ')})`);
  expect(instructions).toContain('(list_applications, search)');
});

describe('a share link', () => {
  async function share(path: string, more = '') {
    const admin = await signedIn(worker, tenant.team, 'admin');
    const address = `${path}?app=${tenant.application.id}&from=2026-03-01&to=2026-03-07${more}`;
    const page = await pageOf(await admin.submit('/views/links', { address, note: 'x', days: '7' }));
    return new URL(page.one('.notice code').text).pathname.split('/')[2] ?? '';
  }

  it('answers what its page shows, and has no other tool', async () => {
    const secret = await share('/breakdown', '&by=day');
    const { client, call } = await connect(secret);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['report', 'describe_metrics']);
    const { answer } = await call('report');
    expect(answer).toMatchObject({
      title: 'Breakdown',
      about: expect.stringMatching(/^Breakdown Test game · 1 Mar – 7 Mar Complete through /),
      notices: ['Not included, because there is no exchange rate: XTS 5.00 (XTS).'],
      cut: null,
    });
    expect(Date.parse(String(answer.counted_through))).toBeGreaterThan(Date.now() - 60_000);
    const [table] = answer.tables as { caption: string; columns: string[]; rows: string[][] }[];
    const shown = await pageOf(await worker.request(`/shared/${secret}`));
    const page = shown.table('Figures by day');
    const rows = page.rows.map((row) => row.map((cell) => cell.replace(' *', '*')));
    expect(table).toMatchObject({ columns: page.headings, rows });
    expect(JSON.stringify(answer)).not.toContain(tenant.application.id);
    await expect(call('search', { application_id: tenant.application.id })).rejects.toThrow(
      'Tool search not found',
    );
  });

  it('answers the figures of the overview', async () => {
    const { call } = await connect(await share('/'));
    const { answer } = await call('report');
    expect(answer.figures).toContainEqual({ label: 'Installs', value: expect.stringMatching(/^4/) });
    expect([typeof answer.counted_through, answer.uncounted]).toEqual(['string', 0]);
  });

  it('ends with the link, and finds no application of another team', async () => {
    const secret = await share('/ltv');
    const { call } = await connect(secret);
    await env.DB.prepare('UPDATE share_links SET query = ? WHERE team_id = ? AND path = ?')
      .bind(`app=${other.application.id}`, tenant.team.id, '/ltv')
      .run();
    const gone = await call('report');
    expect([gone.isError, gone.text]).toEqual([true, 'The report of this link no longer exists.']);
    await env.DB.prepare('UPDATE share_links SET expires_at = 1 WHERE team_id = ?')
      .bind(tenant.team.id)
      .run();
    await expect(connect(secret)).rejects.toThrow();
  });
});

describe('a request', () => {
  const post = (
    headers: Record<string, string>,
    body: unknown = { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  ) =>
    worker.request('/mcp', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const bearer = (credential: string) => ({ Authorization: `Bearer ${credential}` });

  it('needs a credential', async () => {
    const last = 'A'.repeat(43);
    for (const headers of [
      {},
      bearer('x'),
      bearer(tenant.apiKey),
      bearer(`teamtoken_${last}`),
      bearer(last),
    ]) {
      const answer = await post(headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('WWW-Authenticate')).toBe(
        `Bearer realm="mcp"${'Authorization' in headers ? ', error="invalid_token"' : ''}`,
      );
      expect(await answer.json()).toMatchObject({
        success: false,
        error: expect.stringContaining('team access token'),
      });
    }
    expect((await post({ 'Service-Token': tenant.teamToken })).status).toBe(401);
  });

  it('is answered in JSON, whatever it accepts', async () => {
    for (const accept of [{}, { Accept: '*/*' }, { Accept: 'application/json, text/event-stream' }]) {
      const answer = await post({ ...bearer(tenant.teamToken), ...accept });
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/json']);
      expect(await answer.json()).toMatchObject({ id: 1, result: { tools: { length: 6 } } });
    }
  });

  it('is refused if it is not of the protocol, too large or by another method', async () => {
    expect((await post(bearer(tenant.teamToken), '{')).status).toBe(400);
    expect((await post(bearer(tenant.teamToken), `"${'x'.repeat(70_000)}"`)).status).toBe(413);
    for (const method of ['GET', 'DELETE']) {
      const answer = await worker.request('/mcp', { method, headers: bearer(tenant.teamToken) });
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST']);
    }
  });

  it('counts against the limit of the team, and so does what a tool asks', async () => {
    const limit = watchedLimit();
    const limited = startWorker({ TEAM_TOKEN_LIMIT: limit.binding });
    const { call } = await connect(tenant.teamToken, 'legacy', limited);
    const before = limit.keys.length;
    await call('list_applications');
    expect(limit.keys.slice(before)).toEqual([tenant.team.id, tenant.team.id]);
    const full = watchedLimit(() => true);
    const answer = await startWorker({ TEAM_TOKEN_LIMIT: full.binding }).request('/mcp', {
      method: 'POST',
      headers: bearer(tenant.teamToken),
    });
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '10']);
  });

  it('tells nothing of a failure inside', async () => {
    const { call } = await connect(tenant.teamToken);
    expect((await call('list_applications')).isError).toBe(false);
    // The isolate knows the token, so that only the tool needs the database.
    const prepare = () => {
      throw new Error('no such table: secrets');
    };
    const broken = startWorker({
      DB: { prepare, withSession: () => ({ prepare }) } as unknown as D1Database,
    });
    const failed = await (await connect(tenant.teamToken, 'legacy', broken)).call('list_applications');
    expect([failed.isError, failed.text]).toEqual([true, 'Unexpected error']);
  });
});
