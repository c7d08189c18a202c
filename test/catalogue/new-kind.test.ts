import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { EVENT_COLUMNS, FUNNEL_STEPS, summarise } from '#catalogue';
import type { StoredEvent } from '#lake';
import { openApiDocument } from '../../src/docs/document.ts';
import { ENDPOINTS } from '../../src/service.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// A new kind of event with its own measure needs its file, a line in the list of kinds, the measure and its column.
// `with-subscription.ts` makes these edits, and everything else that there is about events has to follow from them.

const worker = startWorker();
let tenant: Tenant;
let token: string;

beforeEach(async () => {
  tenant = await createTenant();
  token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00.000Z' });
});

const envelope = (payload: object, more: object = {}) => ({
  type: 'custom.subscription',
  created_at: '2026-03-02 10:00:00',
  creativeToken: token,
  ...more,
  payload,
});

const send = async (body: unknown) => {
  const answer = await worker.post(tenant, '/webhook', body);
  return { status: answer.status, body: await answer.json<Record<string, unknown>>() };
};
const deliver = () => worker.deliver(worker.queue.take());
const ask = async (path: string) =>
  (await worker.team(tenant, path)).json<{ data: Record<string, unknown>[] }>();

describe('a new kind of event', () => {
  it('is accepted by the webhook, which names what is wrong with one', async () => {
    expect((await send(envelope({ plan: 'gold', every: 'month' }))).status).toBe(200);
    const refused = await send(envelope({ plan: 'gold', every: 'week' }));
    expect(refused.status).toBe(400);
    expect(refused.body.details).toEqual([{ path: 'payload.every', message: 'must be month or year' }]);
    const unknown = await send(envelope({}, { type: 'custom.subscribe' }));
    const types =
      'must be one of retention, session, custom.subscription, custom.purchase, custom.ad, custom';
    expect(unknown.body).toEqual({
      success: false,
      error: `type ${types}`,
      details: [{ path: 'type', message: types }],
    });
  });

  it('is counted by its measure, once per key, as activity and as a funnel step', async () => {
    await send(envelope({ plan: 'gold', every: 'month' }, { event_id: 'one' }));
    await send(envelope({ plan: 'gold', every: 'month' }, { event_id: 'one' }));
    await send(envelope({ plan: 'gold', every: 'year' }, { event_id: 'one' }));
    await deliver();
    const application = `application_id=${tenant.application.id}`;
    // A report has the counters count what waits.
    const period = 'from=2026-03-01&to=2026-03-31';
    const { data: days } = await ask(`/v1/reports/performance?${application}&${period}&group_by=day`);
    expect(days.find(({ day }) => day === '2026-03-02')).toMatchObject({ dau: 1 });
    const counted = await env.DB.prepare(
      'SELECT day, sum(subscriptions) AS subscriptions FROM rollup_daily WHERE application_id = ? AND subscriptions > 0 GROUP BY day',
    )
      .bind(tenant.application.id)
      .all();
    expect(counted.results).toEqual([{ day: '2026-03-02', subscriptions: 2 }]);
    const { data: steps } = await ask(
      `/v1/reports/funnel?${application}&${period}&steps=install,subscription`,
    );
    expect(steps).toMatchObject([
      { step: 'install', devices: 1 },
      { step: 'subscription', devices: 1 },
    ]);
  });

  it('is listed, filtered and exported with its own fields', async () => {
    const { body } = await send(envelope({ plan: 'gold', every: 'year' }));
    await deliver();
    const query = `/v1/events?application_id=${tenant.application.id}&type=custom.subscription`;
    expect((await ask(query)).data).toMatchObject([
      { event_id: body.event_id, type: 'custom.subscription', plan: 'gold', every: 'year' },
    ]);
    const csv = await (await worker.team(tenant, `${query}&format=csv`)).text();
    const [head, row] = csv.split('\r\n').map((text) => text.split(','));
    expect(row?.[head?.indexOf('every') ?? -1]).toBe('year');
  });

  it('has its own columns in raw event files, which keep its keys', async () => {
    const event = {
      id: 'evt_0000000000000000000000000000000a',
      application_id: tenant.application.id,
      device_id: 'dev_0000000000000000000000000000000b',
      creative_id: null,
      acquired_day: '2026-03-01',
      day: '2026-03-02',
      occurred_at: Date.parse('2026-03-02T10:00:00Z'),
      received_at: Date.parse('2026-03-02T10:00:01Z'),
      type: 'custom.subscription',
      plan: 'gold',
      period: 'year',
      keys: ['year:e:one'],
      key_day: 20_514,
    } as unknown as StoredEvent;
    const { COLUMNS } = await import('../../src/lake/columns.ts');
    expect(COLUMNS.map(({ name }) => name)).toEqual(expect.arrayContaining(['plan', 'every']));
    const { putEvent, toEvent } = await import('../../src/lake/row.ts');
    const cells = COLUMNS.map(({ absent }) => absent);
    putEvent(event, 0, (at, value) => {
      const cell = COLUMNS[at]?.encode(value);
      if (cell !== undefined) cells[at] = cell;
      return cell !== undefined;
    });
    expect(cells[COLUMNS.findIndex(({ name }) => name === 'rest')]).toBeNull();
    expect(toEvent((at) => cells[at] ?? null)).toEqual({ ...event, client_event_id: 'one' });
  });

  it('appears in the documentation, the funnel steps and the dashboard’s lists', () => {
    const document = JSON.stringify(openApiDocument('service', ENDPOINTS));
    expect(document.includes('"const":"custom.subscription"')).toBe(true);
    expect(document.includes('"every":"month"')).toBe(true);
    expect(FUNNEL_STEPS).toMatchObject({ subscription: 'Subscription' });
    expect(EVENT_COLUMNS.map(({ name }) => name)).toContain('plan');
    expect(summarise({ type: 'custom.subscription', plan: 'gold', every: 'year' }, '')).toBe('gold · year');
  });
});
