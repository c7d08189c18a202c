import { expect, it } from 'vitest';
import { AnswerCache } from '../../src/counting/questions/answer-cache.ts';
import { eventOf, startCounter } from '../helpers/counter.ts';

/** A cache, and what its answers are computed from: the number of the computation. */
function startCache() {
  const state = { version: 1 as number | null, computed: 0 };
  const cache = new AnswerCache<number>(() => state.version);
  const ask = (question: string, meanwhile = () => {}) =>
    cache.answer(question, async () => {
      state.computed++;
      meanwhile();
      return state.computed;
    });
  return { state, cache, ask };
}

it('computes an answer once until the version changes', async () => {
  const { state, ask } = startCache();
  expect([await ask('a'), await ask('b'), await ask('a'), await ask('b')]).toEqual([1, 2, 1, 2]);
  state.version = 2;
  expect([await ask('a'), await ask('a')]).toEqual([3, 3]);
  state.version = 1;
  expect(await ask('a')).toBe(4);
});

it('keeps nothing that was computed during a change, or across one', async () => {
  const { state, ask } = startCache();
  state.version = null;
  expect([await ask('a'), await ask('a')]).toEqual([1, 2]);
  state.version = 1;
  const changes = () => {
    state.version = 2;
  };
  expect([await ask('a', changes), await ask('a')]).toEqual([3, 4]);
  const starts = () => {
    state.version = null;
  };
  expect(await ask('b', starts)).toBe(5);
  state.version = 2;
  expect([await ask('b'), await ask('a')]).toEqual([6, 4]);
});

it('keeps the last answers only, and no errors', async () => {
  const { cache, ask } = startCache();
  for (let question = 0; question <= 32; question++) await ask(`${question}`);
  expect(await ask('32')).toBe(33);
  expect(await ask('0')).toBe(34);
  await expect(cache.answer('x', () => Promise.reject(new Error('unreadable')))).rejects.toThrow(
    'unreadable',
  );
  expect(await ask('x')).toBe(35);
});

it('never answers who paid from before a run, an erasure or the deletion of everything', async () => {
  const { applicationId, createDevice, append, stub } = startCounter();
  const period = { from: '2026-03-01', to: '2026-03-31' };
  const payers = async () =>
    (await stub().payers({ periods: [period], by: [], filter: {} })).map(({ devices }) => devices);
  const buy = async () => {
    const created = await createDevice();
    if (created.outcome === 'moved') throw new Error('a new counter has one shard');
    await append([eventOf(applicationId, created.device, 'custom.purchase')]);
    await stub().settle();
    return created.device;
  };
  expect(await payers()).toEqual([]);
  const first = await buy();
  expect([await payers(), await payers()]).toEqual([[1], [1]]);
  await buy();
  expect([await payers(), await payers()]).toEqual([[2], [2]]);
  // What an erased device paid stays counted.
  await stub().eraseDevice(first.id);
  expect(await payers()).toEqual([2]);
  await stub().deleteAll();
  expect(await payers()).toEqual([]);
});
