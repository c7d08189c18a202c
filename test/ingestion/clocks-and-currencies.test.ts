import { beforeAll, describe, expect, it } from 'vitest';
import { currencyDayFault } from '#lib/currencies';
import { deviceMetrics, envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';

type Item = { error?: string; details?: { path: string }[]; warnings?: { path: string; message: string }[] };

let worker: TestWorker;
let tenant: Tenant;
let token: string;
beforeAll(async () => {
  worker = startWorker();
  tenant = await createTenant();
  token = await fetchToken(worker, tenant, { created_at: '2012-03-01T10:00:00.000Z' });
});

async function send(body: unknown) {
  worker.queue.take();
  const answer = await worker.post(tenant, '/webhook', body);
  const { details, warnings }: Item = await answer.json();
  const [event] = worker.queue.take().flatMap(({ body }) => eventsIn(body));
  return { status: answer.status, details, warnings, event };
}

const UNSET = {
  path: 'created_at',
  message: 'is before 2010, as of a clock that is not set; dated when received',
};

describe('a clock that is not set', () => {
  it.each([
    '1970-01-01 00:00:07',
    '1980-01-06 00:00:00',
    '2000-01-01T00:00:00Z',
    '2001-09-09 01:46:40',
    '2009-12-31 23:59:59',
  ])('dates an event of %s when received, with a warning', async (created_at) => {
    const { status, warnings, event } = await send(envelope.purchase(token, { created_at }, {}));
    expect([status, warnings]).toEqual([200, [UNSET]]);
    expect(event?.occurred_at).toBe(event?.received_at);
    expect(event).toMatchObject({ clock_ahead: true });
  });

  it('keeps the first time that can be meant', async () => {
    const { warnings, event } = await send(envelope.ad(token, { created_at: '2010-01-01 00:00:00' }));
    expect(warnings).toBeUndefined();
    expect(event?.occurred_at).toBe(Date.UTC(2010, 0, 1));
  });

  it('dates a new device when received', async () => {
    const answer = await worker.post(
      tenant,
      '/fetch-token',
      deviceMetrics({}, { created_at: '1970-01-01T00:00:00Z' }),
    );
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.headers.get('X-Warnings') ?? '')).toEqual([UNSET]);
  });

  it.each([
    ['/webhook/batch', 'events', () => envelope.ad(token, { created_at: '2008-03-01 10:00:00' })],
    ['/fetch-token/batch', 'devices', () => deviceMetrics({}, { created_at: '2008-03-01T10:00:00Z' })],
  ] as const)('is none of an import to %s, which keeps its own dates', async (path, name, item) => {
    const resultOf = async (more: object): Promise<Item | undefined> => {
      const answer = await worker.post(tenant, path, { [name]: [item()], ...more });
      return ((await answer.json()) as { results: Item[] }).results[0];
    };
    expect((await resultOf({ import: true }))?.details).toEqual([
      { path: 'created_at', message: 'must not be before 2010-01-01' },
    ]);
    expect((await resultOf({}))?.warnings).toEqual([UNSET]);
    expect((await worker.post(tenant, path, { [name]: [item()], import: 'yes' })).status).toBe(400);
  });
});

describe('a currency of its day', () => {
  it.each([
    ['hrk', '2022-12-31', '2023-01-01'],
    ['ang', '2025-03-31', '2025-04-01'],
    ['byr', '2016-12-31', '2017-01-01'],
    ['ltl', '2014-12-31', '2015-01-01'],
    ['lvl', '2013-12-31', '2014-01-01'],
    ['eek', '2010-12-31', '2011-01-01'],
    ['VEF', '2018-08-19', '2018-08-20'],
    ['mro', '2017-12-31', '2018-01-01'],
    ['sll', '2024-03-31', '2024-04-01'],
    ['zwl', '2024-08-31', '2024-09-01'],
    ['bgn', '2025-12-31', '2026-01-01'],
  ])('%s is taken until %s', async (currency, last, next) => {
    const on = (day: string) =>
      send(envelope.purchase(token, { created_at: `${day} 12:00:00` }, { currency }));
    const kept = await on(last);
    expect([kept.status, kept.warnings, kept.event]).toMatchObject([
      200,
      undefined,
      { currency: currency.toLowerCase() },
    ]);
    const refused = await on(next);
    expect(refused.status).toBe(400);
    expect(refused.details).toEqual([
      { path: 'payload.currency', message: expect.stringContaining(`until ${last}`) },
    ]);
  });

  it('counts an impression without revenue after the last day', async () => {
    const { status, warnings, event } = await send(
      envelope.ad(token, { created_at: '2024-05-01 12:00:00' }, { currency: 'hrk' }),
    );
    expect(status).toBe(200);
    expect(event).toMatchObject({ currency: '', value_nanos: 0 });
    expect(warnings).toEqual([
      { path: 'payload.currency', message: expect.stringMatching(/2022-12-31; revenue counted as 0$/) },
    ]);
  });

  it('is not of the day of a clock that is not set', async () => {
    const body = envelope.purchase(token, { created_at: '1970-01-01 00:00:00' }, { currency: 'hrk' });
    expect((await send(body)).status).toBe(400);
  });

  it('ends and begins', () => {
    expect(currencyDayFault('zwl', '2009-02-01')).not.toBeNull();
    expect(currencyDayFault('zwl', '2009-02-02')).toBeNull();
    expect(currencyDayFault('eur', '1990-01-01')).toBeNull();
  });
});

it('takes a restored purchase, which is no sale and does not hide a later one', async () => {
  const other = await createTenant();
  const own = await fetchToken(worker, other, { created_at: '2026-03-01T10:00:00.000Z' });
  for (const payload of [
    { status: 'restored' },
    { status: 'Restored', value: null },
    { status: 'completed' },
  ]) {
    const body = envelope.purchase(
      own,
      { created_at: '2026-03-01 11:00:00' },
      { tr_id: 'gpa-7', ...payload },
    );
    expect((await worker.post(other, '/webhook', body)).status).toBe(200);
  }
  await worker.deliver(worker.queue.take());
  await settleAll(other.application.id);
  const path = `/v1/reports/performance?application_id=${other.application.id}&from=2026-03-01&to=2026-03-01`;
  const { totals } = (await (await worker.team(other, path)).json()) as { totals: Record<string, number> };
  expect(totals).toMatchObject({ purchases: 1, purchase_revenue: 4.99 });
});
