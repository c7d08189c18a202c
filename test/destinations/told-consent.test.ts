import { expect, it } from 'vitest';
import { newId } from '#lib/ids';
import { startCounter } from '../helpers/counter.ts';
import { item, partOf, setUp } from '../helpers/destination.ts';
import { deviceMetrics, envelope } from '../helpers/envelopes.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

const ADVERTISING_ID = 'abcd1234-0000-4000-8000-000000000001';

type Told = { advertising_id: string | null; id: string | null };

/** An application with a webhook, and a person whose device tells choices. */
async function start() {
  const { tenant, receiver, object } = await setUp({ events: ['purchase'] });
  const counter = startCounter(tenant.application.id);
  const device_id = newId('dev');
  return {
    receiver,
    object,
    /** Repeats `/fetch-token` of the device. */
    async tell(more: Record<string, unknown>, path = '/fetch-token') {
      const message = deviceMetrics({ device_id }, more);
      const answer = await worker.post(
        tenant,
        path,
        path === '/fetch-token' ? message : { devices: [message] },
      );
      expect(answer.status).toBe(200);
      const body = await answer.json<{ token?: string; results?: { token: string }[] }>();
      return body.token ?? body.results?.[0]?.token ?? '';
    },
    /** Sends a purchase with an advertising id, and returns what the receiver is told. */
    async buy(token: string, more: Record<string, unknown> = {}) {
      await worker.post(
        tenant,
        '/webhook',
        envelope.purchase(token, { advertising_id: ADVERTISING_ID, ...more }),
      );
      await worker.deliver(worker.queue.take());
      await counter.inside(async (own) => {
        await own.settle();
        await own.alarm();
        await own.fed();
      });
      await object.work();
    },
    /** Hands over what waits in the counter. */
    async feed() {
      await counter.inside(async (own) => {
        await own.alarm();
        await own.fed();
      });
    },
    told: () =>
      receiver.received.map(({ body }) => (JSON.parse(body) as { data: { device: Told } }).data.device),
    explain: async (token: string) =>
      await (await worker.team(tenant, `/v1/devices/${token}/attribution`)).json<{ consent?: object }>(),
  };
}

const FIRST = '2026-03-01T10:00:00Z';
const LATER = '2026-03-01T12:00:00Z';

it.each([
  ['/fetch-token', { att_status: 'denied' }, { advertising_id: null, id: expect.any(String) }],
  ['/fetch-token/batch', { lat: '1' }, { advertising_id: null, id: expect.any(String) }],
  ['/fetch-token', { ad_personalization: 0 }, { advertising_id: null, id: expect.any(String) }],
  ['/fetch-token', { att_status: 'maybe' }, { advertising_id: null, id: null }],
])('%s of a known device with %j withholds ids from then on', async (path, choice, expected) => {
  const own = await start();
  const token = await own.tell({ att_status: 'authorized', created_at: FIRST });
  await own.buy(token);
  await own.tell({ created_at: LATER, ...choice }, path);
  await own.buy(token);
  expect(own.told()).toMatchObject([{ advertising_id: ADVERTISING_ID }, expected]);
  expect((await own.explain(token)).consent).toMatchObject(
    path.endsWith('batch')
      ? { lat: 'true', att_status: 'authorized' }
      : Object.fromEntries(
          Object.entries(choice).map(([name, said]) => [
            name,
            said === 'maybe' ? 'unknown' : said === 0 ? 'false' : said,
          ]),
        ),
  );
});

it('holds for earlier events that told another choice, and that are sent later', async () => {
  const own = await start();
  own.receiver.answer = () => new Response('', { status: 500 });
  const token = await own.tell({ created_at: FIRST });
  await own.buy(token, { att_status: 'authorized', created_at: '2026-03-01T11:00:00Z' });
  expect(own.told()).toMatchObject([{ advertising_id: ADVERTISING_ID }]);
  await own.tell({ created_at: LATER, att_status: 2 });
  await own.feed();
  own.receiver.answer = () => new Response('');
  await own.object.inside(async (object) => {
    await object.replay({ from: 0, to: Date.now() + 60_000, status: 'all' });
  });
  await own.object.work();
  expect(own.told().at(-1)).toMatchObject({ advertising_id: null });
});

it('is not loosened by an older message, and is by a newer one', async () => {
  const own = await start();
  const token = await own.tell({ created_at: LATER, att_status: 'denied' });
  await own.tell({ created_at: FIRST, att_status: 'authorized' });
  await own.buy(token, { created_at: '2026-03-01T13:00:00Z' });
  await own.tell({ created_at: '2026-03-01T14:00:00Z', att_status: 'authorized' });
  await own.buy(token, { created_at: '2026-03-01T15:00:00Z' });
  // A clock that was set back still refuses.
  await own.tell({ created_at: FIRST, att_status: 'denied' });
  await own.buy(token, { created_at: '2026-03-01T16:00:00Z' });
  expect(own.told().map(({ advertising_id }) => advertising_id)).toEqual([null, ADVERTISING_ID, null]);
});

it('changes what waits in a destination, also while it is on its way', async () => {
  const { tenant, receiver, object } = await setUp({ events: ['purchase'] });
  const deviceId = newId('dev');
  const one = item(tenant.application.id, deviceId);
  const two = item(tenant.application.id, deviceId);
  const consent = {
    consent: { deviceId, consent: { ad_user_data: 'false', lat: 'unknown' }, consentAt: Date.now() },
  };
  receiver.answer = () => new Response('', { status: 500 });
  await object.inside((own) => own.accept([partOf([one])]));
  await object.work();
  await object.inside(async (own) => {
    await own.accept([partOf([two]), { id: 'consent', payload: JSON.stringify(consent) }]);
  });
  receiver.answer = () => new Response('');
  await object.inside((own) => own.replay({ from: 0, to: Date.now() + 60_000, status: 'all' }));
  await object.work();
  const devices = receiver.received.map(
    ({ body }) => (JSON.parse(body) as { data: { device: Told } }).data.device.id,
  );
  expect(devices[0]).toBe(deviceId);
  expect(devices.slice(1)).toEqual([null, null]);
});
