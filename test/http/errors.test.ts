import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { endpoint, invalidRequest } from '#http';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fieldsOf, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant();
});

describe('the Link of an error', () => {
  it.each([
    ['GET', '/nowhere/secret'],
    ['GET', '/v1/nowhere'],
    ['POST', '/t'],
    ['DELETE', '/webhook'],
  ])('is missing for an unknown route: %s %s', async (method, path) => {
    const answer = await worker.request(path, { method });
    expect([404, 405]).toContain(answer.status);
    expect(answer.headers.get('Link')).toBeNull();
  });

  it('points to the documentation of an existing route', async () => {
    const answer = await worker.post(tenant, '/webhook', {});
    expect(answer.headers.get('Link')).toBe('</docs#post-webhook>; rel="help"');
  });
});

describe('the body of an error', () => {
  it.each([
    ['GET', '/v1', { message: 'Not found' }],
    ['GET', '/v1/nowhere', { message: 'Not found' }],
    ['PUT', '/v1/events', { message: 'Method not allowed' }],
    ['GET', '/v1nowhere', { success: false, error: 'Not found' }],
    ['GET', '/webhook', { success: false, error: 'Method not allowed' }],
    ['GET', '/fetch-token', { success: false, error: 'Method not allowed' }],
    ['POST', '/fetch-token', { error: 'API key is not valid' }],
    ['POST', '/webhook', { success: false, error: 'Invalid or missing API key' }],
  ])('has the shape of its API: %s %s', async (method, path, body) => {
    const answer = await worker.request(path, { method });
    expect(await answer.json()).toEqual(body);
  });
});

it('refuses to compile an endpoint that answers otherwise than it is documented', () => {
  const record = {
    method: 'get',
    tag: 'Applications',
    summary: 'Retrieve an application',
    credential: 'teamToken',
    answer: { description: 'It.', schema: z.object({ id: z.string(), api_key: z.string() }) },
  } as const;
  const documented = { id: 'app_', api_key: 'appkey_' };
  const made = [
    endpoint({ ...record, path: '/v1/one', handle: () => documented }),
    // @ts-expect-error `id` is missing
    endpoint({ ...record, path: '/v1/one', handle: () => ({ api_key: 'appkey_' }) }),
    // @ts-expect-error a field that is not documented
    endpoint({ ...record, path: '/v1/one', handle: async () => ({ ...documented, name: 'My game' }) }),
    // @ts-expect-error a parameter without an example
    endpoint({ ...record, path: '/v1/one/{id}', handle: () => documented }),
    // @ts-expect-error a parameter that the path does not have
    endpoint({ ...record, path: '/v1/{id}', params: { id: 'a' }, handle: (_, { params }) => params.one }),
  ];
  expect(made).toHaveLength(5);
});

it('names at most 20 faults of a body', async () => {
  const path = `/v1/costs`;
  const rows = Array.from({ length: 900 }, () => ({ date: 'x' }));
  const body = JSON.stringify({ application_id: tenant.application.id, rows });
  const answer = await worker.team(tenant, path, { method: 'PUT', body: JSON.parse(body) });
  const text = await answer.text();
  expect(answer.status).toBe(400);
  expect(text.length).toBeLessThan(4_000);
  const { message }: { message: string } = JSON.parse(text);
  expect(fieldsOf(message)).toEqual(
    Array.from({ length: 5 }, (_, row) =>
      ['date', 'campaign', 'currency', 'amount'].map((field) => `rows.${row}.${field}`),
    ).flat(),
  );
});

it('shortens field names, which the caller chooses', () => {
  const { message, details } = invalidRequest([
    { path: `params.${'n'.repeat(60_000)}`, message: 'is wrong' },
  ]);
  expect(details[0]?.path).toBe(`params.${'n'.repeat(249)}`);
  expect(message.length).toBeLessThan(300);
});
