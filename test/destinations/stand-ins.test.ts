import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { type Counter, countersOf } from '#counting';
import { call, setUp } from '../helpers/destination.ts';
import { envelope } from '../helpers/envelopes.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Stand-ins that answer as the documentation of the networks says, against what was counted. Sources: `source` of each kind.

const worker = startWorker();

const TOKEN = 'EAAB-right';
type Taken = { event_id: string; custom_data?: Money; properties?: Money };
type Money = { currency: string; value: number };
type Received = { url: string; headers: Record<string, string>; body: string };
type StandIn = {
  settings: Record<string, string>;
  hasToken: (request: Received) => boolean;
  wrongToken: () => Response;
  busy: () => Response;
  taken: () => Response;
};

const inQuery = ({ url }: Received) => new URL(url).searchParams.get('access_token') === TOKEN;

const STAND_INS: Record<string, StandIn> = {
  meta: {
    settings: { dataset_id: '1234567890' },
    hasToken: inQuery,
    wrongToken: () =>
      Response.json({ error: { code: 190, message: 'Invalid OAuth access token' } }, { status: 400 }),
    busy: () => Response.json({ error: { code: 4, message: 'Request limit reached' } }, { status: 400 }),
    taken: () => Response.json({ events_received: 1, messages: [] }),
  },
  // Every answer of TikTok has the status 200.
  tiktok: {
    settings: { tiktok_app_id: '7123' },
    hasToken: ({ headers }) => headers['access-token'] === TOKEN,
    wrongToken: () =>
      Response.json({ code: 40_105, message: 'Access token is incorrect or has been revoked.' }),
    busy: () => Response.json({ code: 40_016, message: 'App reaches the QPS limit' }),
    taken: () => Response.json({ code: 0, message: 'OK' }),
  },
  snap: {
    settings: { snap_app_id: 'snap-1' },
    hasToken: inQuery,
    wrongToken: () => Response.json({ status: 'ERROR', reason: 'Unauthorized' }, { status: 401 }),
    busy: () => Response.json({ status: 'ERROR' }, { status: 429, headers: { 'Retry-After': '0' } }),
    taken: () => Response.json({ status: 'VALID' }),
  },
};

const VALUES = [4.99, 0.01, 1234.56, 19.9, 99];

it.each(Object.keys(STAND_INS))('%s takes exactly what was counted', async (kind) => {
  const standIn = STAND_INS[kind];
  if (!standIn) throw new Error(kind);
  const { tenant, receiver, object, path, deliveries } = await setUp({
    ...{ kind, url: undefined, settings: standIn.settings, events: ['purchase'] },
    credentials: { access_token: 'EAAB-wrong' },
  });
  const data = { os_system: 'Android 16', device_name: 'Pixel 9', timezone: 'Europe/Berlin' };
  const today = new Date();
  const at = { created_at: today.toISOString() };
  // Snap takes only events with an id of the device or of a click.
  const sent = { ...at, advertising_id: 'cdda802e-fb9c-47ad-9866-0794d394c912' };
  const token = await fetchToken(worker, tenant, { ...at, data });
  const purchases = VALUES.map((value, index) =>
    envelope.purchase(token, sent, {
      value,
      tr_id: `${kind}-${index}`,
    }),
  );
  // Neither a repeat nor a purchase that failed is counted.
  const [first] = purchases;
  const others = [first, envelope.purchase(token, sent, { status: 'failed', value: 7 })];
  for (const body of [...purchases, ...others]) {
    expect((await worker.post(tenant, '/webhook', body)).status).toBe(200);
  }
  await worker.deliver(worker.queue.take());
  for (const counter of countersOf(env, tenant.application.id, 1)) {
    await runInDurableObject(counter, async (own: Counter) => {
      await own.settle();
      await own.alarm();
      await own.fed();
    });
  }

  const taken: Taken[] = [];
  let calls = 0;
  receiver.answer = (request) => {
    if (!standIn.hasToken(request)) return standIn.wrongToken();
    // Each second request is one too many.
    if (calls++ % 2 === 0) return standIn.busy();
    taken.push(...(JSON.parse(request.body) as { data: Taken[] }).data);
    return standIn.taken();
  };
  await object.work();
  const refused = await deliveries();
  expect(refused.map(({ status }) => status)).toEqual(VALUES.map(() => 'failed'));
  expect(taken).toEqual([]);

  const changed = await call(tenant, 'PATCH', path, { credentials: { access_token: TOKEN } });
  expect(changed.status).toBe(200);
  for (let round = 0; (await deliveries()).some(({ status }) => status !== 'delivered'); round++) {
    if (round > 2 * VALUES.length) throw new Error('they are never taken');
    const from = new Date(today.getTime() - 3_600_000).toISOString();
    const replay = { from, to: new Date(Date.now() + 3_600_000).toISOString(), status: 'all' };
    // A replay of what was delivered is sent again under the same id, by which the network tells repeats apart.
    await call(
      tenant,
      'POST',
      `${path}/replay`,
      round === 0 ? { ...replay, status: 'failed' } : { ...replay, status: 'pending' },
    );
    await object.work();
  }

  const ids = refused.map(({ event_id }) => event_id);
  expect(taken.map(({ event_id }) => event_id).sort()).toEqual(ids.sort());
  const money = taken.map(({ custom_data, properties }) => custom_data ?? properties);
  expect(money.map((own) => own?.value).sort()).toEqual([...VALUES].sort());
  const day = at.created_at.slice(0, 10);
  const query = `application_id=${tenant.application.id}&from=${day}&to=${day}&group_by=day`;
  const { body } = await call<{ totals: { purchases: number; purchase_revenue: number } }>(
    tenant,
    'GET',
    `/v1/reports/performance?${query}`,
  );
  const cents = money.reduce((sum, own) => sum + Math.round((own?.value ?? 0) * 100), 0);
  expect([body.totals.purchases, Math.round(body.totals.purchase_revenue * 100)]).toEqual([
    taken.length,
    cents,
  ]);
});
