import { beforeAll, describe, expect, it } from 'vitest';
import page from '../../docs/api.md?raw';
import { deviceMetrics, envelope } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, fieldsOf, startWorker } from '../helpers/worker.ts';

// What docs/api.md states in tables and in passing holds for the service: each value is read from the page and sent.

const worker = startWorker();
let tenant: Tenant;
let token: string;

beforeAll(async () => {
  tenant = await createTenant();
  token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00Z' });
});

/** The cells of a section's table, without its heading. */
const rowsUnder = (heading: string): string[][] => {
  const [, section = ''] = page.split(`## ${heading}\n`);
  const lines = (section.split('\n## ')[0] ?? '').split('\n');
  const rows = lines.filter((line, index) => line.startsWith('| `') && !lines[index + 1]?.startsWith('|-'));
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
};
const codes = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
/** The first value of the page that the pattern's group matches. */
function stated(pattern: RegExp): string {
  const [, value] = pattern.exec(page) ?? [];
  if (value === undefined) throw new Error(`docs/api.md says nothing like ${pattern}`);
  return value;
}

const send = async (body: unknown, path = '/webhook') => {
  const answer = await worker.post(tenant, path, body);
  return { status: answer.status, body: await answer.json<Record<string, unknown>>() };
};
const report = async (query: string, name = 'performance') => {
  const path = `/v1/reports/${name}?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
  const answer = await worker.team(tenant, `${path}${query}`);
  return { status: answer.status, body: await answer.json<Record<string, unknown>>() };
};
const totals = async () => {
  await worker.deliver(worker.queue.take());
  return (await report('')).body.totals as Record<string, number>;
};

const EVENTS = {
  retention: envelope.retention,
  'custom.purchase': envelope.purchase,
  'custom.ad': envelope.ad,
  custom: envelope.custom,
} as const;

describe.each(rowsUnder('Events'))('the event %s', (types = '', _, required = '') => {
  const [type = ''] = codes(types);
  const make = EVENTS[type as keyof typeof EVENTS];
  const fields = codes(required);

  it.each(codes(types))('is accepted as %s with only its required fields', async (name) => {
    const { payload } = make(token) as { payload: Record<string, unknown> };
    const least = Object.fromEntries(fields.map((field) => [field, payload[field]]));
    const sent = await send({ ...make(token), type: name, payload: least });
    expect(sent).toEqual({
      status: 200,
      body: { success: true, message: 'Webhook Received', event_id: expect.stringMatching(/^evt_/) },
    });
  });

  it('is refused without any one of them', async () => {
    for (const field of fields) {
      const { status, body } = await send(make(token, {}, { [field]: undefined }));
      expect([status, body.details]).toEqual([
        400,
        [{ path: `payload.${field}`, message: expect.any(String) }],
      ]);
    }
  });
});

it('reads a time as the page describes, in UTC or with an offset', async () => {
  const example = stated(/`created_at` is UTC \(`([^`]+)`\)/);
  for (const created_at of [example, `${example.replace(' ', 'T')}+02:00`]) {
    expect((await send(envelope.ad(token, { created_at }))).status).toBe(200);
  }
});

it('checks a key at `GET /auth` like the data collection status', async () => {
  const [call = '', header = ''] = codes(page).filter((code) => /^GET \/auth|^Authorization/.test(code));
  expect([call, header]).toEqual(['GET /auth', 'Authorization: Bearer <API key>']);
  const ask = async (path: string, headers: HeadersInit) => {
    const answer = await worker.request(path, { headers });
    const { server_time: _, ...body } = await answer.json<Record<string, unknown>>();
    return { status: answer.status, body };
  };
  const known = { status: 200, body: { success: true, enabled: true } };
  expect(await ask('/auth', { Authorization: `Bearer ${tenant.apiKey}` })).toEqual(known);
  expect(await ask('/auth', { 'service-api-key': tenant.apiKey })).toEqual(known);
  expect(await ask('/check-data-collection-status', { 'service-api-key': tenant.apiKey })).toEqual(known);
  expect((await ask('/auth', { Authorization: 'Bearer unknown' })).status).toBe(401);
});

it('drops a malformed descriptive field with the documented warning', async () => {
  const { path } = JSON.parse(stated(/"warnings": \[(\{[^}]*\})\]/)) as { path: string };
  expect(path).toBe('payload.watch_time');
  const { status, body } = await send(envelope.ad(token, {}, { watch_time: -1 }));
  expect([status, body.warnings]).toEqual([200, [{ path, message: expect.any(String) }]]);
});

it('does not count test events, and counts ad requests by their value, or as 1', async () => {
  const before = await totals();
  expect(stated(/\*\*Test events\.\*\* `([^`]+)`/)).toBe('dev: true');
  await send(envelope.ad(token, { dev: true }));
  const [name, ...params] = codes(stated(/(A custom event named [\s\S]*?default 1)/));
  expect([name, params]).toEqual(['ad_request', ['params.id', 'params.key', 'params.value']]);
  for (const value of [undefined, 4]) {
    const payload = { event_name: name, params: { id: 'main', key: 'banner', value } };
    expect((await send(envelope.custom(token, {}, payload))).status).toBe(200);
  }
  const after = await totals();
  expect([after.impressions, after.ad_requests]).toEqual([before.impressions, (before.ad_requests ?? 0) + 5]);
});

it('accepts batches up to the documented size', async () => {
  const events = Number(stated(/`\/webhook\/batch` accepts up to (\d+) events/));
  const devices = Number(stated(/`\/fetch-token\/batch` up to (\d+) devices/));
  const status = async (path: string, field: string, item: unknown, count: number) =>
    (await send({ [field]: Array.from({ length: count }, () => item) }, path)).status;
  // Empty items are refused one by one: the batch is not.
  expect(await status('/webhook/batch', 'events', {}, events)).toBe(200);
  expect(await status('/webhook/batch', 'events', {}, events + 1)).toBe(400);
  expect(await status('/fetch-token/batch', 'devices', {}, devices)).toBe(200);
  expect(await status('/fetch-token/batch', 'devices', deviceMetrics(), devices + 1)).toBe(400);
});

it('accepts only the documented limits, parameters and formats for lists and reports', async () => {
  const list = Number(stated(/`limit` is at most (\d+); pass `next_cursor`/));
  const events = async (limit: number) =>
    (await worker.team(tenant, `/v1/events?application_id=${tenant.application.id}&limit=${limit}`)).status;
  expect([await events(list), await events(list + 1)]).toEqual([200, 400]);

  const parameters = new Map(
    rowsUnder('Lists and reports').map(([names = '', text = '']) => [names, text] as const),
  );
  const rows = Number(
    parameters
      .get('`limit`')
      ?.match(/at most ([\d,]+)/)?.[1]
      ?.replace(',', ''),
  );
  expect((await report(`&limit=${rows}`)).status).toBe(200);
  const refused = await report(`&limit=${rows + 1}`);
  expect([refused.status, fieldsOf(String(refused.body.message))]).toEqual([400, ['limit']]);
  for (const value of codes(parameters.get('`attribution`'))) {
    expect((await report(`&attribution=${value}`)).status).toBe(200);
  }
  const csv = await worker.team(
    tenant,
    `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31&format=csv`,
  );
  expect([csv.status, csv.headers.get('Content-Type')]).toEqual([200, 'text/csv; charset=utf-8']);
});

it('returns errors with the documented message, request id and help link', async () => {
  const ingestion = await worker.post(tenant, '/webhook', { type: 'custom' });
  const team = await worker.team(tenant, '/v1/events');
  const bodies = [await ingestion.json<object>(), await team.json<object>()];
  expect(bodies.map((body) => Object.keys(body).sort())).toEqual([
    ['details', 'error', 'success'],
    ['message'],
  ]);
  for (const { status, headers } of [ingestion, team]) {
    expect(status).toBe(400);
    expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('Link')).toMatch(/^<\/docs#(post-webhook|get-v1-events)>; rel="help"$/);
  }
});
