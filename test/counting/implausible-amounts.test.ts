import { beforeAll, describe, expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

let tenant: Tenant;
let token: string;
beforeAll(async () => {
  tenant = await createTenant();
  token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00Z' });
});

type Sent = { event_id: string }[];

/** Sends items as one batch and lets them be counted. */
async function send(items: object[], of = tenant): Promise<string[]> {
  const answer = await worker.post(of, '/webhook/batch', { events: items });
  const { results } = await answer.json<{ results: Sent }>();
  await worker.deliver(worker.queue.take());
  await settleAll(of.application.id);
  return results.map(({ event_id }) => event_id);
}

async function listed(of = tenant) {
  const answer = await (await worker.team(of, '/v1/health')).json<{
    applications: { application_id: string; implausible_amounts: Record<string, unknown>[] }[];
  }>();
  return answer.applications.find(({ application_id }) => application_id === of.application.id)
    ?.implausible_amounts;
}

const statusOf = async (id: string, of = tenant) =>
  await (await worker.team(of, `/v1/events/${id}`)).json<Record<string, unknown>>();

const isFlagged = async (id: string, of = tenant) => (await statusOf(id, of)).implausible_amount === true;

const ads = (values: number[], more: object = {}, of = token) =>
  values.map((value) => envelope.ad(of, {}, { value, ...more }));
const purchases = (values: number[], more: object = {}, of = token) =>
  values.map((value) => envelope.purchase(of, {}, { value, ...more }));

const many = (value: number, times = 30) => Array.from({ length: times }, () => value);

async function newcomer(): Promise<{ own: Tenant; of: string }> {
  const own = await createTenant();
  return { own, of: await fetchToken(worker, own, { created_at: '2026-03-01T10:00:00Z' }) };
}

describe('an implausible amount', () => {
  it('is counted as sent, flagged and listed with an example, whatever came first', async () => {
    const other = await newcomer();
    const [micros = '', usual = ''] = await send(ads([1_200, ...many(0.0012)]));
    expect(await listed()).toEqual([
      {
        ...{ kind: 'impression', currency: 'usd', message: 'looks like micros', count: 1 },
        ...{ largest_value: 1_200, usual_value: null, example_event_id: micros },
        received_at: expect.any(String),
      },
    ]);
    expect(await statusOf(micros)).toMatchObject({ status: 'counted', implausible_amount: true });
    expect(await statusOf(usual)).not.toHaveProperty('implausible_amount');
    expect(await listed(other.own)).toEqual([]);
    const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
    const { totals } = await (await worker.team(tenant, path)).json<{ totals: Record<string, number> }>();
    expect(totals).toMatchObject({ impressions: 31 });
    expect(totals.ad_revenue).toBeCloseTo(1_200.036);

    const [large = ''] = await send(purchases([4_990_000, ...many(4.99, 12)]));
    expect(await listed()).toMatchObject([
      { kind: 'impression', count: 1 },
      {
        ...{ kind: 'purchase', currency: 'usd', message: 'looks like micros', count: 1 },
        ...{ largest_value: 4_990_000, usual_value: 4.9, example_event_id: large },
      },
    ]);

    const admin = await signedIn(worker, tenant.team, 'viewer');
    const page = await pageOf(await admin.get(`/status?app=${tenant.application.id}`));
    const { rows } = page.table('Implausible amounts by kind and currency');
    expect(rows.map((cells) => cells.slice(0, 6))).toEqual([
      ['Ad impression', 'looks like micros', '1', '$1,200.00', 'too few to say', micros],
      ['Purchase', 'looks like micros', '1', '$4,990,000.00', '$4.90', large],
    ]);
    const shown = await admin.get(`/debugger/event?app=${tenant.application.id}&id=${large}`);
    expect(await shown.text()).toContain('looks like micros');
  });

  it('is one above 100 times the usual, per kind and currency', async () => {
    const { own, of } = await newcomer();
    await send(ads(many(0.01, 150), {}, of), own);
    await send(purchases(many(1, 150), {}, of), own);
    await send(purchases(many(100, 150), { currency: 'jpy' }, of), own);
    const ids = await send(
      [
        ...ads([0.9, 1.1], {}, of),
        ...purchases([90, 110], {}, of),
        ...purchases([9_000, 11_000], { currency: 'jpy' }, of),
        // Nothing was bought for it.
        ...purchases([1_000_000], { status: 'failed' }, of),
        // Nothing is known of this currency.
        ...purchases([1_000_000], { currency: 'krw' }, of),
      ],
      own,
    );
    expect(await Promise.all(ids.map((id) => isFlagged(id, own)))).toEqual([
      ...[false, true, false, true, false, true],
      ...[false, false],
    ]);
  });

  it('is an impression of more than $5, in any currency whose worth is known', async () => {
    const { own, of } = await newcomer();
    const ids = await send(
      [
        ...ads([5, 5.01], {}, of),
        ...ads([700, 1_200], { currency: 'jpy' }, of),
        ...ads([20_000, 1_200_000], { currency: 'idr' }, of),
      ],
      own,
    );
    expect(await Promise.all(ids.map((id) => isFlagged(id, own)))).toEqual([
      ...[false, true],
      ...[false, true, false, true],
    ]);
  });

  it('is none if many amounts are as large, or if there is too little to compare with', async () => {
    const { own, of } = await newcomer();
    await send(purchases([...many(1, 20), ...many(200, 20)], {}, of), own);
    expect(await listed(own)).toEqual([]);
    const few = await newcomer();
    await send(purchases([...many(1, 9), 200], {}, few.of), few.own);
    expect(await listed(few.own)).toEqual([]);
    await send(purchases([1], {}, few.of), few.own);
    expect(await listed(few.own)).toMatchObject([{ kind: 'purchase', largest_value: 200, count: 1 }]);
  });
});
