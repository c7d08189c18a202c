import { expect, it } from 'vitest';
import { SampledLimit } from '../../src/http/sampled-limit.ts';

function limiterOf(...answers: boolean[]) {
  const asked: string[] = [];
  const limiter: RateLimit = {
    limit: async ({ key }) => {
      asked.push(key);
      return { success: answers.shift() ?? true };
    },
  };
  return { limiter, asked };
}

it('asks for the first request of a key and then for every 256th', async () => {
  const { limiter, asked } = limiterOf();
  const limit = new SampledLimit();
  for (let index = 0; index < 513; index++) expect(await limit.allows(limiter, 'a', 0)).toBe(true);
  expect(asked).toEqual(['a', 'a', 'a']);
  await limit.allows(limiter, 'b', 0);
  expect(asked).toEqual(['a', 'a', 'a', 'b']);
});

it('refuses for the whole period and then asks again', async () => {
  const { limiter, asked } = limiterOf(false, true);
  const limit = new SampledLimit();
  expect(await limit.allows(limiter, 'a', 1000)).toBe(false);
  expect(await limit.allows(limiter, 'a', 10_999)).toBe(false);
  expect(asked).toHaveLength(1);
  expect(await limit.allows(limiter, 'a', 11_000)).toBe(true);
  expect(asked).toHaveLength(2);
});
