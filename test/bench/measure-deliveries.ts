import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CountingBench } from './measure-counting.ts';
import type { Rig } from './rig.ts';
import type { Tenant } from './tenant.ts';

// How fast events reach a destination once they are counted: a webhook, signed, over HTTP to a receiver in this process.

const DEVICES = 2_000;
const EVENTS = 30_000;
/** Fewer are no measurement: the destination was not fed. */
const MIN_DELIVERIES = 10_000;
const QUIET_MS = 2_000;
const MAX_MS = 120_000;

export const DELIVERY_STEPS = 2;

/** Answers at once, and notes which events came when. */
async function startReceiver() {
  const ids = new Set<string>();
  const [times, repeats] = [[] as number[], { count: 0 }];
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    if (ids.has(id)) repeats.count++;
    ids.add(id);
    times.push(performance.now());
    request.resume().on('end', () => response.end('ok'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, ids, times, repeats, stop: () => server.close() };
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function measureDeliveries(rig: Rig, tenant: Tenant, step: (what: string) => void) {
  const receiver = await startReceiver();
  try {
    const bench = new CountingBench(rig, tenant, () => undefined);
    const app = await bench.open('Deliveries', DEVICES);
    const answer = await fetch(new URL('/v1/destinations', await rig.url('service')), {
      method: 'POST',
      headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        ...{ application_id: app, kind: 'webhook', url: receiver.url },
        events: ['ad', 'purchase', 'retention'],
      }),
    });
    if (answer.status !== 201) throw new Error(`the destination was refused: ${await answer.text()}`);
    step('deliveries: events');
    await bench.call(`/append/${app}/${EVENTS}/1`);
    await bench.ring(app);
    step('deliveries: sending');
    const deadline = performance.now() + MAX_MS;
    const isQuiet = () => performance.now() - (receiver.times.at(-1) ?? performance.now()) > QUIET_MS;
    while (!isQuiet() && performance.now() < deadline) await wait(100);
    const { ids, times, repeats } = receiver;
    if (ids.size < MIN_DELIVERIES) throw new Error(`only ${ids.size} events were delivered`);
    const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;
    return { deliveries_per_s: ids.size / seconds, deliveries_repeated: repeats.count };
  } finally {
    receiver.stop();
  }
}
