import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { DatabaseMeter, StorageMeter } from '../bench/meter.ts';
import { eventOf, startCounter } from '../helpers/counter.ts';

/** What the platform bills: the rows that a counter writes to its own store and to D1 for some events. */
async function rowsOf(counter: ReturnType<typeof startCounter>, events: readonly LoggedEvent[]) {
  const database = new DatabaseMeter(env.DB);
  return counter.inside(async (own, { storage }) => {
    const meter = new StorageMeter(storage);
    own.use(meter.storage);
    own.db = database.binding;
    await counter.append(events);
    await own.settle();
    return meter.rowsWritten + database.rowsWritten;
  });
}

it('writes no more rows for a refund than for its purchase', async () => {
  const counter = startCounter();
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('one shard');
  const all = Array.from({ length: 100 }, (_, index) => `tr_${index}`);
  const purchases = all.map((tr_id) =>
    eventOf(counter.applicationId, created.device, 'custom.purchase', { tr_id, keys: [`t:${tr_id}`] }),
  );
  const refunds = all.map((tr_id) =>
    eventOf(counter.applicationId, created.device, 'custom.purchase', {
      ...{ tr_id, day: '2026-03-20', status: 'refunded', value_nanos: 0, keys: [`t:${tr_id}:r`] },
    }),
  );
  const ofPurchases = await rowsOf(counter, purchases);
  const ofRefunds = await rowsOf(counter, refunds);
  expect(ofPurchases).toBeGreaterThan(100);
  expect(ofRefunds).toBeLessThanOrEqual(ofPurchases);
});
