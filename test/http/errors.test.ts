import { beforeAll, describe, expect, it } from 'vitest';
import { invalidRequest } from '#http';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

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
  ])('is not there for a route that is not: %s %s', async (method, path) => {
    const answer = await worker.request(path, { method });
    expect([404, 405]).toContain(answer.status);
    expect(answer.headers.get('Link')).toBeNull();
  });

  it('points to the documentation of a route that is', async () => {
    const answer = await worker.post(tenant, '/webhook', {});
    expect(answer.headers.get('Link')).toBe('</docs#post-webhook>; rel="help"');
  });
});

it('names at most 20 faults of a body, however many it has', async () => {
  const path = `/v1/costs`;
  const rows = Array.from({ length: 900 }, () => ({ date: 'x' }));
  const body = JSON.stringify({ application_id: tenant.application.id, rows });
  const answer = await worker.team(tenant, path, { method: 'PUT', body: JSON.parse(body) });
  const text = await answer.text();
  expect(answer.status).toBe(400);
  expect(text.length).toBeLessThan(4_000);
  expect(text).toContain('rows.0.date');
});

it('cuts the names of fields, which are the caller’s own', () => {
  const { message, details } = invalidRequest([
    { path: `params.${'n'.repeat(60_000)}`, message: 'is wrong' },
  ]);
  expect(details[0]?.path).toBe(`params.${'n'.repeat(249)}`);
  expect(message.length).toBeLessThan(300);
});
