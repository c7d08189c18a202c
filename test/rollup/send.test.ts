import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { sendWithRetry } from '#rollup';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});

/** The outcome after so long, or that there is none yet. */
async function after(ms: number, outcome: Promise<boolean>): Promise<boolean | 'pending'> {
  await vi.advanceTimersByTimeAsync(ms);
  return Promise.race([outcome, Promise.resolve('pending' as const)]);
}

it('gives up a hanging send after 5 s, without a second attempt', async () => {
  const send = vi.fn(never);
  const outcome = sendWithRetry(send);
  expect(await after(4_900, outcome)).toBe('pending');
  expect(await after(200, outcome)).toBe(false);
  expect(send).toHaveBeenCalledTimes(1);
});

it('gives a hanging send after a failed one only the rest of the 5 s', async () => {
  const send = vi.fn(never).mockRejectedValueOnce(new Error('Queue send failed'));
  const outcome = sendWithRetry(send);
  expect(await after(5_100, outcome)).toBe(false);
  expect(send).toHaveBeenCalledTimes(2);
});

it('tries a failed send three times', async () => {
  const send = vi.fn().mockRejectedValue(new Error('Queue send failed'));
  expect(await after(1_000, sendWithRetry(send))).toBe(false);
  expect(send).toHaveBeenCalledTimes(3);
  const second = vi.fn().mockRejectedValueOnce(new Error('Queue send failed')).mockResolvedValue(undefined);
  expect(await after(1_000, sendWithRetry(second))).toBe(true);
});
