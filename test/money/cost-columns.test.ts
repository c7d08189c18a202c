import { expect, it } from 'vitest';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

const MAP = ['date=Päivä', 'campaign=Kampanja', 'amount=Summa'];
const FILE = 'Päivä;Kampanja;Summa\n2026-03-02;Spring;12,50\n';

async function put(tenant: Tenant, text: string, map: readonly string[] = []) {
  const query = new URLSearchParams([['application_id', tenant.application.id]]);
  for (const one of map) query.append('map', one);
  const answer = await worker.request(`/v1/costs/file?${query}`, {
    method: 'PUT',
    headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'text/csv' },
    body: text,
  });
  return answer.status;
}

async function stored(tenant: Tenant) {
  const answer = await worker.team(tenant, `/v1/costs?application_id=${tenant.application.id}`);
  const { data } = await answer.json<{ data: { campaign: string; amount: number }[] }>();
  return data.map(({ campaign, amount }) => `${campaign} ${amount}`);
}

it('remembers which column is which for the headings, the application and everyone', async () => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  expect(await put(tenant, FILE)).toBe(400);
  expect(await put(tenant, FILE, MAP)).toBe(200);
  expect(await put(tenant, FILE.replace('12,50', '13,50'))).toBe(200);
  expect(await stored(tenant)).toEqual(['Spring 13.5']);
  expect(await put(other, FILE)).toBe(400);
  expect(await stored(other)).toEqual([]);
  expect(await put(tenant, FILE.replace('Summa', 'Summa;Muu').replace('12,50', '12,50;1'))).toBe(400);
});

it('keeps the last choice, and none that could not be read', async () => {
  const tenant = await createTenant();
  const file = 'Päivä;Kampanja;Summa;Vero\n2026-03-02;Spring;12,50;2,50\n';
  expect(await put(tenant, file, ['date=Kampanja', 'campaign=Päivä', 'amount=Summa'])).toBe(400);
  expect(await put(tenant, file)).toBe(400);
  expect(await put(tenant, file, MAP)).toBe(200);
  expect(await put(tenant, file, [...MAP.slice(0, 2), 'amount=Vero'])).toBe(200);
  expect(await put(tenant, file)).toBe(200);
  expect(await stored(tenant)).toEqual(['Spring 2.5']);
});
