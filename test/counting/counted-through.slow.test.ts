import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { queryFunnel } from '#counting';
import { eventOf, startCounter } from '../helpers/counter.ts';
import { WatchedD1 } from '../helpers/d1.ts';

// How far a counter's figures are told to go, while what it has counted waits to be written to D1.

const NOW = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

async function start() {
  const { applicationId, stub, append, inside, createDevices } = startCounter();
  const [device] = await createDevices(1);
  if (!device) throw new Error('no device');
  await stub().settle();
  const db = new WatchedD1(env.DB);
  db.failWhen((statement) => statement.includes('"counter_flushes"'), 'D1_ERROR: overloaded');
  await inside((counter) => Object.assign(counter, { db: db.asBinding() }));
  return { applicationId, stub, append, inside, device, db };
}

it.each([0, 1, 5 * MINUTE, 3 * 60 * MINUTE])(
  'is before the oldest event that is counted but not written, also %i ms later',
  async (later) => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW });
    const { applicationId, stub, append, device, db } = await start();
    await append([eventOf(applicationId, device, 'custom.ad')]);
    vi.setSystemTime(NOW + later);
    await append([eventOf(applicationId, device, 'custom.ad')]);
    const { settled, countedThrough } = await stub().settle();
    expect(settled).toBe(false);
    expect(countedThrough).toBe(NOW - 1);
    const health = await stub().health();
    expect(health).toMatchObject({ countedThrough: NOW - 1, oldestPendingAt: NOW });
    expect(health.outbox).toBeGreaterThan(0);
    // What waits is written, so that no alarm goes on after the test.
    db.failWhen(() => false, '');
    vi.useRealTimers();
    expect((await stub().settle()).settled).toBe(true);
  },
);

it('tells of a history that was too long to be kept whole, also if the device took no step', async () => {
  const { applicationId, stub, append, createDevices } = startCounter();
  const [full, other] = await createDevices(2);
  if (!full || !other) throw new Error('no device');
  const named = (device: typeof full, name: string, second: number) =>
    eventOf(applicationId, device, 'custom', {
      event_name: name,
      occurred_at: Date.parse('2026-03-02T00:00:00Z') + second * 1_000,
    });
  await append(Array.from({ length: 260 }, (_, index) => named(full, `step_${index}`, index)));
  await append([named(other, 'step_1', 1)]);
  await stub().settle();
  const ask = async (steps: readonly string[]) => {
    const answer = await queryFunnel(env, { id: applicationId, shards: 1 }, {
      ...{ cohort: { from: '2026-03-01', to: '2026-03-01' }, filter: {}, groupBy: null },
      ...{ steps, windowSeconds: null },
    } as never);
    return answer;
  };
  expect(await ask(['event:never', 'ad'])).toMatchObject([{ incomplete: 1 }]);
  expect(await ask(['install', 'event:step_1'])).toMatchObject([{ incomplete: 0 }]);
});
