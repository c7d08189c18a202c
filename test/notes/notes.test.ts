import { expect, it } from 'vitest';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

type Note = { id: string; day: string; text: string };

const add = (tenant: Tenant, day: string, text: string) =>
  worker.team(tenant, '/v1/notes', {
    method: 'POST',
    body: { application_id: tenant.application.id, day, text },
  });

async function list(tenant: Tenant, query = ''): Promise<{ data: Note[]; next_cursor: string | null }> {
  const answer = await worker.team(tenant, `/v1/notes?application_id=${tenant.application.id}${query}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

it('adds, lists, changes and deletes notes', async () => {
  const tenant = await createTenant();
  const made = await add(tenant, '2026-03-02', 'Version 2.3 released');
  expect(made.status).toBe(201);
  const { id } = await made.json<Note>();
  await add(tenant, '2026-03-05', 'Lower prices');
  await add(tenant, '2026-03-01', 'Sale');
  const texts = async (query = '') => (await list(tenant, query)).data.map(({ text }) => text);
  expect(await texts()).toEqual(['Sale', 'Version 2.3 released', 'Lower prices']);
  expect(await texts('&from=2026-03-02&to=2026-03-04')).toEqual(['Version 2.3 released']);
  const first = await list(tenant, '&limit=2');
  expect(await texts(`&limit=2&cursor=${first.next_cursor}`)).toEqual(['Lower prices']);
  const changed = await worker.team(tenant, `/v1/notes/${id}`, {
    method: 'PATCH',
    body: { text: 'Version 2.3.1 released' },
  });
  expect(await changed.json()).toMatchObject({ id, day: '2026-03-02', text: 'Version 2.3.1 released' });
  expect((await worker.team(tenant, `/v1/notes/${id}`, { method: 'DELETE' })).status).toBe(200);
  expect(await texts()).toEqual(['Sale', 'Lower prices']);
  expect((await worker.team(tenant, `/v1/notes/${id}`, { method: 'DELETE' })).status).toBe(404);
});

it('keeps the notes of a team to itself, and says what is wrong with one', async () => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const { id } = await (await add(tenant, '2026-03-02', 'Sale')).json<Note>();
  for (const method of ['PATCH', 'DELETE'] as const) {
    const body = method === 'PATCH' ? { body: { text: 'Theirs' } } : {};
    const answer = await worker.team(other, `/v1/notes/${id}`, { method, ...body });
    expect([answer.status, await answer.json()]).toEqual([404, { message: 'Note not found' }]);
  }
  const foreign = await worker.team(other, `/v1/notes?application_id=${tenant.application.id}`);
  expect(foreign.status).toBe(404);
  const wrong = await add(tenant, '2026-02-30', '');
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('day')]);
  const nothing = await worker.team(tenant, `/v1/notes/${id}`, { method: 'PATCH', body: {} });
  expect(nothing.status).toBe(400);
});

it('shows notes in charts, and lets admins write them', async () => {
  const tenant = await createTenant();
  const app = tenant.application.id;
  await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  const [admin, viewer] = [
    await signedIn(worker, tenant.team, 'admin'),
    await signedIn(worker, tenant.team, 'viewer'),
  ];
  const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  expect((await viewer.post(`/notes?app=${app}`, { day, text: 'Theirs' })).status).toBe(403);
  expect((await admin.post(`/notes?app=${app}`, { day, text: 'Lower prices' })).status).toBe(303);
  expect((await admin.post(`/notes?app=${app}`, { day: 'soon', text: 'Sale' })).status).toBe(400);
  expect(await (await admin.get(`/?app=${app}&metric=installs`)).text()).toContain('Lower prices');
  const page = await pageOf(await viewer.get(`/notes?app=${app}`));
  expect(page.table('Notes').rows.map((cells) => cells[1])).toEqual(['Lower prices']);
  expect(await (await viewer.get(`/notes?app=${app}`)).text()).not.toContain('/remove');
});
