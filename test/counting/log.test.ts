import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import type { LogPage } from '#counting';
import { clickOf, eventOf, rollupOf, startCounter } from '../helpers/counter.ts';

// The log of a counter: what is appended, in which order, and how it is numbered.

afterEach(() => {
  vi.useRealTimers();
});

async function start() {
  const counter = startCounter();
  const created = await counter.createDevice({ acquiredAt: Date.now() });
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const { device } = created;
  const ad = (more: object = {}) =>
    eventOf(counter.applicationId, device, 'custom.ad', { received_at: Date.now(), ...more });
  return { ...counter, ad };
}

it('counts what arrives after everything before was exported, and then once', async () => {
  const { append, ad, stub, inside, applicationId } = await start();
  await append([ad(), ad()]);
  await stub().settle();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3_600_000 });
  await inside(async (counter) => {
    counter.bucket = env.RAW_EVENTS;
    await counter.alarm();
  });
  expect(await stub().health()).toMatchObject({ hotEvents: 0 });
  const late = [ad()];
  expect(await append(late)).toEqual({ appended: 1, pending: 1 });
  expect(await append(late)).toEqual({ appended: 0, pending: 1 });
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 3 });
  expect((await stub().eventStatus(late[0]?.id ?? ''))?.status).toBe('counted');
});

it('knows the keys of what is new in a redelivered batch', async () => {
  const { append, ad, stub, applicationId } = await start();
  const first = ad({ keys: ['e:1'] });
  const second = ad({ keys: ['e:2'] });
  await append([first]);
  expect(await append([first, second])).toMatchObject({ appended: 1 });
  const repeats = [ad({ keys: ['e:1'] }), ad({ keys: ['e:2'] })];
  await append(repeats);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
  for (const { id } of repeats) expect((await stub().eventStatus(id))?.status).toBe('duplicate');
});

it('knows a further key of a duplicate', async () => {
  const { append, ad, stub, applicationId } = await start();
  await append([ad({ keys: ['e:1'] }), ad({ keys: ['e:1', 'e:2'] })]);
  await append([ad({ keys: ['e:2'] })]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 1 });
});

it.each([[[5, 1, 9]], [[1, 9, 5]], [[9, 5, 1]]])(
  'lists events by their ids, whatever their order in a batch: %j',
  async (seconds) => {
    const { append, ad, stub } = await start();
    const now = Date.now();
    /** The id of an event that was received so many seconds from now. */
    const idAt = (own: number) =>
      `evt_${(now + 1_000 * own).toString(16).padStart(12, '0')}${`${own}`.repeat(20)}`;
    await append(seconds.map((own) => ad({ id: idAt(own) })));
    await append([7, 3].map((own) => ad({ id: idAt(own) })));
    const listed: string[] = [];
    for (let before: string | null = null; ; ) {
      const { events, through }: LogPage = await stub().readLog({ type: 'custom.ad' }, before, 1);
      listed.push(...events.map(({ id }) => id));
      if (through === null) break;
      before = through;
    }
    expect(listed).toEqual([9, 7, 5, 3, 1].map(idAt));
  },
);

it('says how long the slowest of the newest deliveries took', async () => {
  const { applicationId, append, stub } = startCounter();
  const click = (ageMs: number) => clickOf(applicationId, { received_at: Date.now() - ageMs });
  const slowestMs = async () => (await stub().health()).slowestMs;
  expect(await slowestMs()).toBeNull();
  for (const ageMs of [0, 90_000, 0]) await append([click(ageMs)]);
  expect(await slowestMs()).toBeGreaterThanOrEqual(90_000);
  for (let batch = 0; batch < 50; batch++) await append([click(0)]);
  expect(await slowestMs()).toBeLessThan(90_000);
});
