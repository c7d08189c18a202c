import { expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// `é` is one character, or a letter with an accent. Both look the same, so they are the same name.

const worker = startWorker();
const COMPOSED = 'Café'.normalize('NFC');
const DECOMPOSED = 'Café'.normalize('NFD');

it.each([
  ['composed', 'decomposed', COMPOSED, DECOMPOSED],
  ['decomposed', 'composed', DECOMPOSED, COMPOSED],
])('finds a %s name by a %s text', async (_, __, name, q) => {
  const tenant = await createTenant();
  const id = tenant.application.id;
  await createCreative(worker, tenant, { campaign: `${name} Spring`, adset: name, creative: name });
  for (const list of ['campaigns', 'adsets', 'creatives']) {
    const path = `/v1/${list}?application_id=${id}&q=${encodeURIComponent(q.toUpperCase())}`;
    const { data } = await (await worker.team(tenant, path)).json<{ data: unknown[] }>();
    expect(data, list).toHaveLength(1);
  }
});

it('joins the forms of a network, finds it by either, and keeps what was sent', async () => {
  const tenant = await createTenant();
  const id = tenant.application.id;
  const forms = [COMPOSED, DECOMPOSED].map((name) => `${name} ads nova`);
  const { token: creative_token } = await createCreative(worker, tenant);
  for (const network of forms) {
    const data = { network, creative_token };
    const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00Z', data });
    await worker.post(tenant, '/webhook', envelope.ad(token, {}, { media_source: network, value: 1 }));
  }
  await worker.deliver(worker.queue.take());
  await settleAll(id);
  const report = async (query: string) => {
    const path = `/v1/reports/${query}&application_id=${id}&from=2026-03-01&to=2026-03-31`;
    const answer = await worker.team(tenant, path);
    const body = await answer.json<{ data: Record<string, unknown>[] }>();
    expect(answer.status, JSON.stringify(body)).toBe(200);
    return body.data;
  };
  const nova = COMPOSED.toLowerCase();
  const bySource = await report('performance?group_by=media_source');
  expect(
    bySource
      .filter(({ impressions }) => impressions !== 0)
      .map(({ media_source, impressions }) => [media_source, impressions]),
  ).toEqual([[`${nova} ads nova`, 2]]);
  const byNetwork = await report('performance?group_by=network');
  expect(byNetwork.filter(({ installs }) => installs !== 0).map(({ installs }) => installs)).toEqual([2]);
  for (const network of forms) {
    const found = await report(`performance?group_by=network&q=${encodeURIComponent(network)}`);
    expect(found.map(({ installs }) => installs)).toEqual([2]);
    const [filtered] = await report(
      `performance?group_by=os&network=${encodeURIComponent(network.toLowerCase())}`,
    );
    expect(filtered).toMatchObject({ installs: 2 });
  }
  const { data } = await (await worker.team(tenant, `/v1/events?application_id=${id}&type=custom.ad`)).json<{
    data: { media_source: string }[];
  }>();
  expect(data.map(({ media_source }) => media_source).sort()).toEqual(
    forms.map((form) => form.toLowerCase()).sort(),
  );
});

it.each([1, 2, 3])('ends a list of events with exactly its limit: %i', async (limit) => {
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00Z' });
  for (let count = 1; count < limit; count++) await worker.post(tenant, '/webhook', envelope.ad(token));
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const path = `/v1/events?application_id=${tenant.application.id}&limit=${limit}`;
  const page = await (await worker.team(tenant, path)).json<{
    data: unknown[];
    next_cursor: string | null;
  }>();
  expect([page.data.length, page.next_cursor]).toEqual([limit, null]);
});
