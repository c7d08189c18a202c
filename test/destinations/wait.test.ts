import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { WatchedD1 } from '../helpers/d1.ts';
import { item, partOf, setUp } from '../helpers/destination.ts';

afterEach(() => vi.useRealTimers());

it('waits longer after each failure of its own stores, and not after a success', async () => {
  const { tenant, object } = await setUp();
  const d1 = new WatchedD1(env.DB);
  d1.failWhen(() => true, 'Exceeded maximum DB size');
  const use = (db: D1Database) =>
    object.inside(async (own) => {
      own.db = db;
      await own.changed();
    });
  const dueIn = () =>
    object.inside(async (_, { storage }) => ((await storage.getAlarm()) ?? Number.NaN) - Date.now());
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
  await use(d1.asBinding());
  await object.inside((own) => own.accept([partOf([item(tenant.application.id)])]));
  for (const waitMs of [2_000, 4_000, 8_000]) {
    await object.work();
    expect(await dueIn()).toBe(waitMs);
  }
  await use(env.DB);
  await object.work();
  expect(await dueIn()).toBeGreaterThan(8_000);
});
