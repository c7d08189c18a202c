import { afterEach, expect, it, vi } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { newId } from '#lib/ids';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { parkedOf } from '../helpers/parked.ts';

afterEach(() => vi.useRealTimers());

it('sets aside events that a later version left in a log, and keeps counting and exporting', async () => {
  const { applicationId, append, createDevice, inside, stub } = startCounter();
  const created = await createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const token_id = newId('tok');
  const ad = () => eventOf(applicationId, created.device, 'custom.ad', { token_id });
  const later = { ...ad(), type: 'custom.of_tomorrow', keys: ['e:one'] } as unknown as LoggedEvent;
  await append([ad(), later, ad()]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 2 });
  expect((await parkedOf(applicationId)).map(({ id }) => id)).toEqual([later.id.replace('evt_', 'prk_')]);
  // What decides whether an event of a revoked token counts is asked before anything is known of its kind.
  await stub().revokeToken(token_id, 0);
  const revoked = { ...later, id: newId('evt'), keys: ['e:two'] } as LoggedEvent;
  await append([revoked, eventOf(applicationId, created.device, 'custom.ad')]);
  await stub().settle();
  expect(await rollupOf(applicationId)).toMatchObject({ impressions: 3 });
  expect(await parkedOf(applicationId)).toHaveLength(1);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3_600_000 });
  await inside((counter) => counter.alarm());
  const hot = await stub().readLog({}, null, 10);
  expect(hot.events).toEqual([]);
  const { files } = await stub().listFiles({}, { before: null, after: null });
  expect(files.map(({ types }) => types)).toContainEqual({ 'custom.ad': 3, 'custom.of_tomorrow': 2 });
});
