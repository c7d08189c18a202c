import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { counterOf } from '#counting';
import { deliver, expectTotals, makeDevices, postHistory } from '../helpers/counted-history.ts';
import { seededRandom, shuffled } from '../helpers/random.ts';
import { settleOnce } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

it('counts an application exactly while it grows from 1 to 4 counters under load, with repeats', async () => {
  const random = seededRandom(21);
  const worker = startWorker();
  const tenant = await createTenant();
  const devices = await makeDevices(tenant, random, 8);
  const journal = await postHistory(worker, tenant, devices, random);
  for (const shards of [2, 4]) {
    devices.push(
      ...(await makeDevices(tenant, random, 8, (index) => index % shards)).map((device) => ({
        ...device,
        device: `${shards}/${device.device}`,
      })),
    );
    journal.push(...(await postHistory(worker, tenant, devices, random, shards * 1_000)));
  }
  const messages = worker.queue.take();
  const deliveries = shuffled(random, [...messages, ...messages.filter(() => random() < 0.4)]);
  for (let start = 0; start < deliveries.length; start += 70) {
    const result = await deliver(deliveries.slice(start, start + 70));
    expect(result.retryMessages).toEqual([]);
    if (start % 140 === 0) await settleOnce(tenant.application.id, 4);
  }
  await runDurableObjectAlarm(counterOf(env, tenant.application.id, 3));
  const { id } = tenant.application;
  await env.DB.prepare('UPDATE applications SET shards = 4 WHERE id = ?').bind(id).run();
  await expectTotals(worker, tenant, journal, devices, 4);
});
