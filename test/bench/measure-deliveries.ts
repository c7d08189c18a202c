import { CountingBench } from './measure-counting.ts';
import { addDestination, startReceiver, untilQuiet } from './receivers.ts';
import type { Rig } from './rig.ts';
import type { Tenant } from './tenant.ts';

// How fast events reach a destination once they are counted: a webhook, signed, over HTTP to a receiver in this process.

const DEVICES = 2_000;
const EVENTS = 30_000;
/** Fewer are no measurement: the destination was not fed. */
const MIN_DELIVERIES = 10_000;

export const DELIVERY_STEPS = 2;

export async function measureDeliveries(rig: Rig, tenant: Tenant, step: (what: string) => void) {
  const receiver = await startReceiver();
  try {
    const bench = new CountingBench(rig, tenant, () => undefined);
    const app = await bench.open('Deliveries', DEVICES);
    await addDestination(rig, tenant, app, receiver);
    step('deliveries: events');
    await bench.call(`/append/${app}/${EVENTS}/1`);
    await bench.ring(app);
    step('deliveries: sending');
    await untilQuiet(receiver, { quietMs: 2_000, maxMs: 120_000 });
    const { ids, times, repeats } = receiver;
    if (ids.size < MIN_DELIVERIES) throw new Error(`only ${ids.size} events were delivered`);
    const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;
    return { deliveries_per_s: ids.size / seconds, deliveries_repeated: repeats.count };
  } finally {
    receiver.stop();
  }
}
