import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { type Counter, counterOf } from '#counting';
import { IPHONE_CLICK, storeClicks } from '../helpers/click-rows.ts';
import { IPHONE_METRICS } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { deviceMetrics } from '../helpers/envelopes.ts';
import { WatchedStorage } from '../helpers/storage.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { startWorker } from '../helpers/worker.ts';

// What a token costs: rows written in all stores, calls that wait for another machine, and the statements that they run.

/** A worker whose calls of D1 and of counters, and the rows that they write, are counted from now on. */
async function measured(tenant: Tenant) {
  const d1 = { trips: 0, statements: 0, rows: 0 };
  const DB = new Proxy(env.DB, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'batch') return typeof value === 'function' ? value.bind(target) : value;
      return async (statements: D1PreparedStatement[]) => {
        d1.trips++;
        d1.statements += statements.length;
        const results = await target.batch(statements);
        for (const { meta } of results) d1.rows += meta.rows_written;
        return results;
      };
    },
  });
  const counters = new WatchedCounters();
  const on = startWorker({ DB, COUNTERS: counters.asBinding() });
  // The key is looked up once per minute and isolate.
  await on.request('/check-data-collection-status', { headers: { 'service-api-key': tenant.apiKey } });
  const counter = counterOf(env, tenant.application.id, 0);
  const storage = await runInDurableObject(counter, (instance: Counter, state) => {
    const watched = new WatchedStorage(state.storage);
    instance.use(watched.asStorage());
    return watched;
  });
  const before = storage.queries.length;
  const costs = () => ({
    d1: d1.trips,
    counter: counters.calls.map(({ method }) => method),
    rows: d1.rows + storage.rowsWritten,
  });
  const statements = () => ({ d1: d1.statements, counter: storage.queries.length - before });
  return { on, costs, statements };
}

async function withClick() {
  const tenant = await createTenant();
  const { id } = await createCreative(startWorker(), tenant);
  const [clickId = ''] = await storeClicks(tenant.application.id, Date.now(), [
    { ...IPHONE_CLICK, creative_id: id },
  ]);
  return { tenant, clickId };
}

const CREATE = ['createOrFindDevices'];
const FIND_AND_CREATE = ['findDevices', ...CREATE];
const DAYS_AGO = new Date(Date.now() - 2 * 86_400_000).toISOString();

it.each([
  ['an organic device', { device_id: 'd' }, 1, CREATE, 4],
  ['an organic device without an identity', {}, 1, CREATE, 3],
  ['a device whose click is named', { click_id: true }, 2, CREATE, 4],
  ['a device whose click is guessed', IPHONE_METRICS, 2, CREATE, 4],
  [
    'a device with an identity that names its click',
    { click_id: true, device_id: 'd' },
    2,
    FIND_AND_CREATE,
    5,
  ],
  ['a device with an identity and a click', { ...IPHONE_METRICS, device_id: 'd' }, 2, FIND_AND_CREATE, 5],
])('needs few calls and rows for %s', async (_, data, trips, calls, rows) => {
  const { tenant, clickId } = await withClick();
  const { on, costs } = await measured(tenant);
  const body = deviceMetrics('click_id' in data ? { ...data, click_id: clickId } : data, {
    created_at: new Date().toISOString(),
  });
  expect((await on.post(tenant, '/fetch-token', body)).status).toBe(200);
  expect(costs()).toEqual({ d1: trips, counter: calls, rows });
});

it.each([
  ['that is new', new Date().toISOString(), 2, 3],
  ['from an import', '2020-01-01T00:00:00.000Z', 1, 3],
])('runs few statements for an organic device %s', async (_, created_at, d1, counter) => {
  const { tenant } = await withClick();
  const { on, statements } = await measured(tenant);
  // The first call to an object finds out whether an alarm is set.
  await on.post(tenant, '/fetch-token', deviceMetrics({ device_id: 'first' }, { created_at }));
  const before = statements();
  await on.post(tenant, '/fetch-token', deviceMetrics({ device_id: 'd' }, { created_at }));
  const after = statements();
  expect({ d1: after.d1 - before.d1, counter: after.counter - before.counter }).toEqual({ d1, counter });
});

it('reads no click if guessing is switched off', async () => {
  const tenant = await createTenant({ probabilistic_window_hours: 0 });
  const { on, statements } = await measured(tenant);
  await on.post(tenant, '/fetch-token', deviceMetrics({}, { created_at: new Date().toISOString() }));
  expect(statements()).toMatchObject({ d1: 1 });
});

it.each([
  ['one row for a new token of a device that is known for long', '2020-01-01T00:00:00.000Z', 1, 1],
  ['one row for a new token of a device that is known for days', DAYS_AGO, 2, 1],
  // Of a device that says it is new the token is stored before its counter says otherwise.
  ['two rows for a new token of a device that is known since today', new Date().toISOString(), 2, 2],
])('accepts %s', async (_, created_at, trips, rows) => {
  const { tenant } = await withClick();
  const body = deviceMetrics({ device_id: 'd' }, { created_at });
  await startWorker().post(tenant, '/fetch-token', body);
  const { on, costs } = await measured(tenant);
  expect((await on.post(tenant, '/fetch-token', body)).status).toBe(200);
  expect(costs()).toEqual({ d1: trips, counter: CREATE, rows });
});

it('needs as many calls for 200 devices as for one, and one row for all of their installs', async () => {
  const { tenant } = await withClick();
  const { on, costs } = await measured(tenant);
  const devices = Array.from({ length: 200 }, (_, index) =>
    deviceMetrics({ device_id: `d${index}` }, { created_at: new Date().toISOString() }),
  );
  expect((await on.post(tenant, '/fetch-token/batch', { devices })).status).toBe(200);
  expect(costs()).toEqual({ d1: 1, counter: CREATE, rows: 3 * 200 + 1 });
});
