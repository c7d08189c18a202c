import { CountingBench } from './measure-counting.ts';
import { addDestination, type Receiver, startReceiver, untilQuiet } from './receivers.ts';
import type { Rig } from './rig.ts';
import type { Tenant } from './tenant.ts';
import { median } from './workload.ts';

// What counting and a destination feel of the other destinations of their application: of two that answer at once, and of one that takes 15 s
// an answer and one that fails.

const DEVICES = 500;
const ROUNDS = 3;
const EVENTS = 10_000;
const QUICK_EVENTS = 500;

export const RECEIVER_STEPS = 2 * ROUNDS;

type Felt = { counting: number; delivering: number };

const OTHERS = { healthy: ['fast', 'fast'], broken: ['slow', 'failing'] } as const;

export async function measureReceivers(
  rig: Rig,
  tenant: Tenant,
  isQuick: boolean,
  step: (what: string) => void,
) {
  const events = isQuick ? QUICK_EVENTS : EVENTS;
  const bench = new CountingBench(rig, tenant, () => undefined);
  const receivers: Receiver[] = [];
  let seed = 1;

  /** An application with a receiver that is watched and two others, which are turned on while it is measured. */
  const prepare = async (name: keyof typeof OTHERS) => {
    const app = await bench.open(name, DEVICES);
    const own = await Promise.all((['fast', ...OTHERS[name]] as const).map((kind) => startReceiver(kind)));
    receivers.push(...own);
    const [watched] = own;
    if (!watched) throw new Error('there is a receiver');
    const switches = await Promise.all(own.map((one) => addDestination(rig, tenant, app, one)));
    const turn = (isOn: boolean) => Promise.all(switches.map((set) => set(isOn)));
    await turn(false);
    return async (): Promise<Felt> => {
      await turn(true);
      await bench.call(`/append/${app}/${events}/${seed++}`);
      const before = watched.ids.size;
      const startedAt = performance.now();
      await bench.ring(app);
      const counting = performance.now() - startedAt;
      await untilQuiet(watched, { quietMs: 2_000, maxMs: 120_000 });
      const delivered = watched.ids.size - before;
      if (delivered < events / 3) throw new Error(`only ${delivered} events were delivered`);
      await turn(false);
      return { counting, delivering: ((watched.times.at(-1) ?? 0) - startedAt) / delivered };
    };
  };

  try {
    const measures = { healthy: await prepare('healthy'), broken: await prepare('broken') };
    const felt: Record<keyof typeof OTHERS, Felt[]> = { healthy: [], broken: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of ['healthy', 'broken'] as const) {
        step(`destinations, round ${round + 1} of ${ROUNDS}: beside ${name} receivers`);
        felt[name].push(await measures[name]());
        await rig.untilIdle();
      }
    }
    const of = (name: keyof typeof OTHERS, what: keyof Felt) => median(felt[name].map((one) => one[what]));
    const ratio = (what: keyof Felt) => of('broken', what) / of('healthy', what);
    return {
      counting_ratio_beside_broken_receivers: ratio('counting'),
      delivering_ratio_beside_broken_receivers: ratio('delivering'),
    };
  } finally {
    for (const receiver of receivers) receiver.stop();
  }
}
