import { expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { parkMessage } from '../helpers/parked.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

async function send(tenant: Tenant, method: string, path: string, body: object) {
  const answer = await worker.team(tenant, path, { method, body });
  expect(answer.status, await answer.clone().text()).toBeLessThan(300);
}

type Fill = (tenant: Tenant, application: { application_id: string }) => Promise<void>;

async function addCreatives(tenant: Tenant) {
  for (const name of ['A', 'B']) {
    await createCreative(worker, tenant, {
      campaign: `Campaign ${name}`,
      adset: `Ad set ${name}`,
      creative: name,
    });
  }
}

/** Each list, and what gives it two items. */
const LISTS: readonly [path: string, fill: Fill][] = [
  ['applications', (tenant) => send(tenant, 'POST', '/v1/applications', { name: 'Second' })],
  ['campaigns', addCreatives],
  ['adsets', addCreatives],
  ['creatives', addCreatives],
  [
    'costs',
    (tenant, own) => {
      const rows = ['A', 'B'].map((campaign) => ({
        date: '2026-03-01',
        campaign,
        currency: 'usd',
        amount: 1,
      }));
      return send(tenant, 'PUT', '/v1/costs', { ...own, rows });
    },
  ],
  [
    'exchange-rates',
    (tenant) =>
      send(tenant, 'PUT', '/v1/exchange-rates', {
        date: '2026-03-01',
        base: 'usd',
        rates: { eur: 1.08, gbp: 1.2 },
      }),
  ],
  [
    'notes',
    async (tenant, own) => {
      for (const text of ['A', 'B'])
        await send(tenant, 'POST', '/v1/notes', { ...own, day: '2026-03-01', text });
    },
  ],
  [
    'alerts',
    async (tenant, own) => {
      const rule = { kind: 'metric', metric: 'spend', condition: 'above', days: 1 };
      for (const threshold of [1, 2])
        await send(tenant, 'POST', '/v1/alerts', { ...own, ...rule, threshold });
    },
  ],
  [
    'parked',
    async ({ application }) => {
      for (const parkedAt of [1, 2]) await parkMessage(application.id, { parkedAt });
    },
  ],
];

it.each(LISTS)('/v1/%s says on the last page that it is the last, even if it is full', async (path, fill) => {
  const tenant = await createTenant();
  const { id } = tenant.application;
  await fill(tenant, { application_id: id });
  const isOfTeam = ['applications', 'exchange-rates', 'parked'].includes(path);
  const read = async (query: string) => {
    const answer = await worker.team(
      tenant,
      `/v1/${path}?${isOfTeam ? '' : `application_id=${id}&`}${query}`,
    );
    expect(answer.status).toBe(200);
    return answer.json<{ data: unknown[]; next_cursor: string | null }>();
  };
  const whole = await read('limit=2');
  expect([whole.data.length, whole.next_cursor]).toEqual([2, null]);
  const first = await read('limit=1');
  // Some lists say on their first page what all pages add up to.
  expect(first).toEqual({ ...whole, data: whole.data.slice(0, 1), next_cursor: expect.any(String) });
  expect(await read(`limit=1&cursor=${first.next_cursor}`)).toEqual({
    data: whole.data.slice(1),
    next_cursor: null,
    ...('totals' in whole ? { totals: null } : {}),
  });
  for (const limit of ['0', '201', 'x']) {
    const refused = await worker.team(
      tenant,
      `/v1/${path}?${isOfTeam ? '' : `application_id=${id}&`}limit=${limit}`,
    );
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { message: 'limit must be a whole number from 1 to 200' },
    ]);
  }
});
