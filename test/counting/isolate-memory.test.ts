import { describe, expect, it } from 'vitest';
import { MemoryBudget } from '../../src/counting/isolate-memory.ts';
import { FULL_RUN } from '../../src/counting/runs/next-run.ts';

const MB = 1_000_000;

/** Work that holds a share until it is told to end. */
function start(budget: MemoryBudget, wanted: number) {
  const end = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<number>();
  const done = budget.use(wanted, async ({ bytes }) => {
    begun.resolve(bytes);
    await end.promise;
  });
  return { begun: begun.promise, end: () => end.resolve(), done };
}

describe('a budget of memory', () => {
  it('gives what is wanted, then what is left, and lets the others wait', async () => {
    const budget = new MemoryBudget(48 * MB);
    const first = start(budget, FULL_RUN.weight);
    expect(await first.begun).toBe(FULL_RUN.weight);
    const second = start(budget, FULL_RUN.weight);
    expect(await second.begun).toBe(48 * MB - FULL_RUN.weight);
    const third = start(budget, 8 * MB);
    let hasBegun = false;
    void third.begun.then(() => {
      hasBegun = true;
    });
    await scheduler.wait(0);
    expect(hasBegun).toBe(false);
    first.end();
    expect(await third.begun).toBe(8 * MB);
    second.end();
    third.end();
    await Promise.all([first.done, second.done, third.done]);
  });

  it('is free again after work that fails, and after work that was killed', async () => {
    const budget = new MemoryBudget(8 * MB);
    await expect(budget.use(8 * MB, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    // Never ends, as if its object had been stopped.
    let renew = () => {};
    void budget.use(8 * MB, (granted) => {
      renew = granted.renew;
      return new Promise(() => {});
    });
    const { now } = Date;
    try {
      Date.now = () => now() + 14_000;
      renew();
      Date.now = () => now() + 20_000;
      const waiting = start(budget, 8 * MB);
      await scheduler.wait(0);
      Date.now = () => now() + 30_000;
      expect(await waiting.begun).toBe(8 * MB);
      waiting.end();
      await waiting.done;
    } finally {
      Date.now = now;
    }
  });
});
