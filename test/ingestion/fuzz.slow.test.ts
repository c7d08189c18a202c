import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { deviceMetrics, envelope } from '../helpers/envelopes.ts';
import { REPORT_NAMES } from '../helpers/reports.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import { junk, type Mutation, mutate, mutations, toText } from './fuzz-bodies.ts';
import { expectChecked, KINDS, type Kind, sampleEvents } from './fuzz-events.ts';

// Twenty thousand bodies that are nearly right. No answer is a 5xx, and what was answered with 200 is counted exactly once, however
// its message is delivered.

const SEED = 11;
const worker = startWorker();

/** Where the events of a kind are counted. */
const COUNTED: Record<Kind, readonly string[]> = {
  retention: ['sessions'],
  purchase: ['purchases', 'failed_purchases'],
  ad: ['impressions'],
  custom: ['events'],
};

/** The counts of an application from 2010 on, in periods of the longest kind that a report takes. */
async function totalsOf(tenant: Tenant): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (let year = 2010; year <= new Date().getUTCFullYear() + 1; year += 2) {
    const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=${year}-01-01&to=${year + 1}-12-31`;
    const answer = await worker.team(tenant, path);
    const { totals } = await answer.json<{ totals: Record<string, number | null> }>();
    for (const [name, value] of Object.entries(totals)) sums[name] = (sums[name] ?? 0) + (value ?? 0);
  }
  return sums;
}

async function parked(): Promise<number> {
  return (await env.DB.prepare('SELECT count(*) AS count FROM parked_messages').first<number>('count')) ?? 0;
}

/** Delivers what the queue holds, each message twice. */
async function deliverTwice() {
  const messages = worker.queue.take();
  expectChecked(messages);
  for (let start = 0; start < messages.length; start += 100) {
    const batch = messages.slice(start, start + 100);
    for (const delivered of [batch, [...batch].reverse()]) {
      const { retryMessages } = await worker.deliver(delivered);
      expect(retryMessages).toEqual([]);
    }
  }
}

const post = (tenant: Tenant, path: string, body: string) =>
  worker.request(path, {
    method: 'POST',
    headers: { 'service-api-key': tenant.apiKey, 'Content-Type': 'application/json' },
    body,
  });

it('answers no 5xx to 16,000 events, and counts each accepted one once', async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00.000Z' });
  const events = sampleEvents(token, 16_000, SEED);
  // A name of every object at the end of a fault's path was looked up in the prototype: the answer was a 500, the events counted.
  const walked = {
    ...envelope.custom(token),
    payload: { event_name: 'x', params: { a: {}, 'a.constructor': [] } },
  };
  events.splice(1, 0, { kind: 'custom', text: JSON.stringify(walked) });

  const taken: Record<Kind, number> = { retention: 0, purchase: 0, ad: 0, custom: 0 };
  const refused: Record<Kind, number> = { retention: 0, purchase: 0, ad: 0, custom: 0 };
  const note = (kind: Kind, isTaken: boolean) => (isTaken ? taken : refused)[kind]++;

  const [batched, single] = [events.slice(0, 13_000), events.slice(13_000)];
  for (let start = 0; start < batched.length; ) {
    let [size, end] = [0, start];
    // As many as a batch may have, below its limit in bytes.
    while (end < batched.length && end - start < 200) {
      size += new TextEncoder().encode(batched[end]?.text).length + 1;
      if (size > 1_000_000) break;
      end++;
    }
    const batch = batched.slice(start, end);
    start = end;
    const answer = await post(
      tenant,
      '/webhook/batch',
      `{"events":[${batch.map(({ text }) => text).join(',')}]}`,
    );
    expect(answer.status).toBe(200);
    const { results } = await answer.json<{
      results: ({ event_id: string } | { error: string; details: unknown[] })[];
    }>();
    expect(results).toHaveLength(batch.length);
    for (const [index, result] of results.entries())
      note(batch[index]?.kind ?? 'custom', 'event_id' in result);
  }
  for (const { kind, text } of single) {
    const answer = await post(tenant, '/webhook', text);
    expect([200, 400, 403, 413], text.slice(0, 500)).toContain(answer.status);
    const body = await answer.text();
    if (answer.status === 400) expect(JSON.parse(body).details.length).toBeLessThanOrEqual(20);
    expect(body.length).toBeLessThan(16_384);
    note(kind, answer.status === 200);
  }
  for (const kind of KINDS) {
    expect(taken[kind], `${kind} taken`).toBeGreaterThan(300);
    expect(refused[kind], `${kind} refused`).toBeGreaterThan(300);
  }
  await deliverTwice();
  const totals = await totalsOf(tenant);
  const counted = (kind: Kind) => COUNTED[kind].reduce((sum, name) => sum + (totals[name] ?? 0), 0);
  expect(Object.fromEntries(KINDS.map((kind) => [kind, counted(kind)]))).toEqual(taken);
  expect(await parked()).toBe(0);
}, 120_000);

it('answers no 5xx to 2,000 devices and tokens, and counts one install per token', async () => {
  const tenant = await createTenant();
  const names = [
    'device_name',
    'device_model',
    'os_system',
    'timezone',
    'dpi',
    'window_height',
    'window_width',
  ];
  const more = ['country', 'install_referrer', 'click_id', 'creative_token', 'ip'];
  const paths = ['type', 'created_at', 'data', ...[...names, ...more].map((name) => `data.${name}`)];
  const changed = mutations(paths) as fc.Arbitrary<Mutation[]>;
  let tokens = 0;
  for (const changes of fc.sample(changed, { numRuns: 1_500, seed: SEED })) {
    const text = toText(mutate(deviceMetrics(), changes));
    const answer = await post(tenant, '/fetch-token', text);
    expect([200, 400, 403, 413], text.slice(0, 500)).toContain(answer.status);
    if (answer.status !== 200) continue;
    tokens++;
    expect(await answer.json()).toEqual({ token: expect.stringMatching(/^[\w.-]+$/) });
  }
  expect(tokens).toBeGreaterThan(200);
  expect(tokens).toBeLessThan(1_400);
  for (const token of fc.sample(junk, { numRuns: 500, seed: SEED })) {
    const answer = await post(tenant, '/verify-token', toText({ token }));
    expect([400, 413]).toContain(answer.status);
  }
  await deliverTwice();
  expect((await totalsOf(tenant)).installs).toBe(tokens);
  expect(await parked()).toBe(0);
}, 120_000);

it('answers no 5xx to 2,000 calls of the team API', async () => {
  const tenant = await createTenant();
  const id = tenant.application.id;
  const cost = { date: '2026-03-02', campaign: 'Spring', currency: 'usd', amount: 1 };
  const calls: { method: string; path: string; body: unknown; fields: string[] }[] = [
    {
      method: 'POST',
      path: '/v1/creatives',
      body: { creative: 'Cat', campaign: 'Spring', adset: 'Young', app_api_key: tenant.apiKey },
      fields: ['creative', 'campaign', 'adset', 'app_api_key'],
    },
    {
      method: 'POST',
      path: '/v1/applications',
      body: { name: 'Game', timezone: 'UTC', currency: 'usd' },
      fields: [
        'name',
        'timezone',
        'currency',
        'ios_store_url',
        'fallback_url',
        'attribution_window_hours',
        'data_collection',
      ],
    },
    {
      method: 'PATCH',
      path: `/v1/applications/${id}`,
      body: { name: 'Game' },
      fields: [
        'name',
        'timezone',
        'currency',
        'android_store_url',
        'probabilistic_window_hours',
        'data_collection',
      ],
    },
    { method: 'POST', path: `/v1/applications/${id}/api-key`, body: {}, fields: ['grace_hours'] },
    {
      method: 'PUT',
      path: '/v1/costs',
      body: { application_id: id, rows: [cost] },
      fields: ['application_id', 'rows', 'rows.0'],
    },
    {
      method: 'PUT',
      path: '/v1/exchange-rates',
      body: { date: '2026-03-02', base: 'usd', rates: { eur: 1.1 } },
      fields: ['date', 'base', 'rates', 'rates.eur', 'rates.__proto__', 'rates.constructor'],
    },
  ];
  const call = fc
    .constantFrom(...calls)
    .chain((made) => fc.tuple(fc.constant(made), mutations(made.fields) as fc.Arbitrary<Mutation[]>));
  const statuses = new Set<number>();
  for (const [{ method, path, body }, changes] of fc.sample(call, { numRuns: 1_000, seed: SEED })) {
    const answer = await worker.request(path, {
      method,
      headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'application/json' },
      body: toText(mutate(body, changes)),
    });
    statuses.add(answer.status);
    expect(answer.status, `${method} ${path} ${toText(changes).slice(0, 500)}`).toBeLessThan(500);
  }
  expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400]));

  const fields = [
    'application_id',
    'from',
    'to',
    'group_by',
    'days',
    'steps',
    'by',
    'a',
    'b',
    'b_from',
    'horizon_days',
    'window_hours',
    'campaign_id',
    'currency',
    'format',
    'limit',
    'q',
    'cursor',
    'type',
  ];
  const reads = REPORT_NAMES.map((name) => `/v1/reports/${name}`);
  const read = fc.record({
    path: fc.constantFrom(...reads, '/v1/events', '/v1/creatives', '/v1/campaigns', '/v1/applications'),
    parameters: fc.array(fc.tuple(fc.constantFrom(...fields), junk), { maxLength: 3 }),
    more: fc.option(junk, { nil: null, freq: 6 }),
  });
  for (const { path, parameters, more } of fc.sample(read, { numRuns: 1_000, seed: SEED })) {
    const query = new URLSearchParams({
      application_id: id,
      from: '2026-03-01',
      to: '2026-03-05',
      steps: 'install,ad',
      by: 'os',
      a: 'android',
      b: 'ios',
    });
    for (const [name, value] of parameters) {
      query.set(
        name,
        (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed().slice(0, 4_000),
      );
    }
    const last =
      more === null
        ? ''
        : `/${encodeURIComponent(String(JSON.stringify(more)).toWellFormed().slice(0, 500))}`;
    const answer = await worker.team(tenant, `${path}${last}?${query}`);
    expect(answer.status, `${path}${last}?${query}`).toBeLessThan(500);
  }
}, 120_000);
