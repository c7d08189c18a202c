import { beforeAll, expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { REPORT_NAMES, requiredOf } from '../helpers/reports.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// The header line of a table without rows is made of the report's documentation, that of a table with rows of the rows.

const worker = startWorker();
const tenants: Tenant[] = [];

beforeAll(async () => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-02T09:00:00Z' });
  await worker.post(tenant, '/webhook', envelope.ad(token, { created_at: '2026-03-02 10:00:00' }));
  await worker.deliver(worker.queue.take());
  tenants.push(tenant, await createTenant());
});

const QUESTIONS = REPORT_NAMES.filter((name) => name !== 'client-totals').flatMap((name) => {
  const groupings = name === 'compare' ? [] : ['creative', 'network'];
  if (name === 'performance') groupings.push('source,day', 'day,campaign');
  return ['', ...groupings.map((group) => `&group_by=${group}`)].map((query) => ({ name, query }));
});

it.each(QUESTIONS)('$name $query has the same columns with and without rows', async ({ name, query }) => {
  const lines = [];
  for (const tenant of tenants) {
    const period = `application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-05`;
    const path = `/v1/reports/${name}?${period}${requiredOf(name)}${query}&format=csv`;
    const [header, ...rows] = (await (await worker.team(tenant, path)).text()).trimEnd().split('\r\n');
    lines.push({ header, hasRows: rows.length > 0 });
  }
  const [whole, empty] = lines;
  expect(whole?.hasRows).toBe(true);
  expect(empty?.header).toBe(whole?.header);
});
