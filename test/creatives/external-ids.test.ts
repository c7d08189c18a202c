import { expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

type Id = { network: string; id: string };
async function call(tenant: Tenant, creativeId: string, ids?: unknown) {
  const path = `/v1/creatives/${creativeId}/external-ids`;
  const init = ids === undefined ? {} : { method: 'PUT', body: { external_ids: ids } };
  const answer = await worker.team(tenant, path, init);
  return { status: answer.status, body: await answer.json() };
}
const listed = (...external_ids: Id[]) => ({ status: 200, body: { external_ids } });
const meta = (id: string): Id => ({ network: 'meta', id });

it('keeps the ids that were put last, with every digit', async () => {
  const tenant = await createTenant();
  const { id } = await createCreative(worker, tenant);
  expect(await call(tenant, id)).toEqual(listed());
  const both = [{ network: 'TikTok', id: '17' }, meta('23854855793500701'), meta('23854855793500701')];
  const stored = listed(meta('23854855793500701'), { network: 'tiktok', id: '17' });
  expect(await call(tenant, id, both)).toEqual(stored);
  expect(await call(tenant, id, both)).toEqual(stored);
  expect(await call(tenant, id)).toEqual(stored);
  expect(await call(tenant, id, [meta('2')])).toEqual(listed(meta('2')));
  expect(await call(tenant, id, [])).toEqual(listed());
});

it('gives an id to one creative of an application', async () => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const [first, second] = [await createCreative(worker, tenant), await createCreative(worker, tenant)];
  const elsewhere = await createCreative(worker, other);
  const taken = { status: 409, body: { message: 'Another creative has one of these ids' } };
  expect(await call(tenant, first.id, [meta('1'), meta('2')])).toMatchObject({ status: 200 });
  expect(await call(tenant, second.id, [meta('3')])).toMatchObject({ status: 200 });
  expect(await call(tenant, second.id, [meta('2'), meta('4')])).toEqual(taken);
  expect(await call(tenant, second.id)).toEqual(listed(meta('3')));
  expect(await call(tenant, second.id, [{ network: 'tiktok', id: '2' }])).toMatchObject({ status: 200 });
  expect(await call(other, elsewhere.id, [meta('2')])).toEqual(listed(meta('2')));
  expect(await call(tenant, first.id, [])).toEqual(listed());
  expect(await call(tenant, second.id, [meta('2')])).toEqual(listed(meta('2')));
});

it('belongs to the team', async () => {
  const [tenant, stranger] = [await createTenant(), await createTenant()];
  const { id } = await createCreative(worker, tenant);
  const notFound = { status: 404, body: { message: 'Creative not found' } };
  expect(await call(stranger, id)).toEqual(notFound);
  expect(await call(stranger, id, [meta('1')])).toEqual(notFound);
  expect(await call(tenant, id)).toEqual(listed());
});

it.each([
  ['x', /^external_ids must be a list/],
  [[{ network: 'mtea', id: '1' }], /^external_ids\.0\.network must be one of meta, google/],
  [[{ network: 'meta' }], /^external_ids\.0\.id is required$/],
  [
    [
      { network: 'meta', id: 23854855793500701n.toString() },
      { network: 'meta', id: 7 },
    ],
    /^external_ids\.1\.id must be a string$/,
  ],
  [Array.from({ length: 21 }, (_, index) => meta(String(index))), /^external_ids must have at most 20 ids$/],
])('refuses %j by name', async (ids, message) => {
  const tenant = await createTenant();
  const { id } = await createCreative(worker, tenant);
  const { status, body } = await call(tenant, id, ids);
  expect([status, (body as { message: string }).message]).toEqual([400, expect.stringMatching(message)]);
});
