import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { inspect } from '#operations';
import { call, item, partOf, setUp } from '../helpers/destination.ts';
import { startWorker } from '../helpers/worker.ts';

const METRICS_TOKEN = 'a-token-for-monitoring-0123456789abcdef';
const worker = startWorker({ METRICS_TOKEN } as Partial<Env>);

type SetUp = Awaited<ReturnType<typeof setUp>>;

const inspected = async ({ tenant }: SetUp) => {
  const { applications } = await inspect(env, [{ id: tenant.application.id, shards: 1 }], Date.now());
  return applications[0];
};

/** Sends as many events, each of which is refused for good. */
async function refuse({ tenant, receiver, object }: SetUp, events: number): Promise<void> {
  receiver.answer = () => new Response('', { status: 400 });
  const items = Array.from({ length: events }, () => item(tenant.application.id));
  await object.inside((own) => own.accept([partOf(items)]));
  await object.work();
}

it('tells the share that fails, and of many failures in a row', async () => {
  const own = await setUp();
  expect(await inspected(own)).toMatchObject({
    destinations: { attempts: 0, failed: 0, waitingSince: null },
  });
  await own.object.inside((object) => object.accept([partOf([item(own.tenant.application.id)])]));
  await own.object.work();
  await refuse(own, 4);
  expect(await inspected(own)).toMatchObject({ destinations: { attempts: 5, failed: 4 }, problems: [] });
  const metrics = await worker.request('/metrics', { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  const text = await metrics.text();
  const { id } = own.tenant.application;
  expect(text).toContain(`attribution_destinations_failing_ratio{application="${id}"} 0.8\n`);
  expect(text).toContain(`attribution_destinations_delay_seconds{application="${id}"} 0\n`);
  await refuse(own, 1);
  expect((await inspected(own))?.problems).toEqual([
    `The destination webhook (${own.id}) has failed 5 times in a row.`,
  ]);
});

it('tells how long the oldest event has waited', async () => {
  const own = await setUp();
  own.receiver.answer = () => new Response('', { status: 503 });
  const before = Date.now();
  await own.object.inside((object) => object.accept([partOf([item(own.tenant.application.id)])]));
  await own.object.work();
  const waitingSince = (await inspected(own))?.destinations?.waitingSince ?? 0;
  expect(Math.abs(waitingSince - before)).toBeLessThan(60_000);
});

it('tells of a destination that was switched off by its failures, not of one that a person has switched off', async () => {
  const own = await setUp();
  await refuse(own, 20);
  const [problem] = (await inspected(own))?.problems ?? [];
  expect(problem).toMatch(new RegExp(`^The destination webhook \\(${own.id}\\) was switched off: .+\\.$`));
  const other = await setUp();
  expect((await call(other.tenant, 'PATCH', other.path, { enabled: false })).status).toBe(200);
  expect(await inspected(other)).toMatchObject({ problems: [], destinations: { attempts: 0 } });
});

it('tells of a destination that does not respond, and of nothing without destinations', async () => {
  const own = await setUp();
  await own.object.inside((object) => {
    object.health = () => Promise.reject(new Error('broken by the test'));
  });
  expect((await inspected(own))?.problems).toEqual([`The destination webhook (${own.id}) does not respond.`]);
  const { id } = own.tenant.application;
  expect((await call(own.tenant, 'DELETE', own.path)).status).toBe(200);
  const { applications } = await inspect(env, [{ id, shards: 1 }], Date.now());
  expect(applications).toMatchObject([{ destinations: null, problems: [] }]);
});
