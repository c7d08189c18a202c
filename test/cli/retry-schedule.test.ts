import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'smol-toml';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { DEAD_LETTER_RETENTION_SECONDS } from '../../src/cli/org/plan.ts';
import {
  DEAD_LETTER_DELAY_SECONDS,
  eventDelaySeconds,
  FILED_FROM_ATTEMPT,
} from '../../src/counting/queue/retry-schedule.ts';

// What docs/operations.md promises for an outage follows from the queues' settings.

type Consumer = { queue: string; max_retries: number; dead_letter_queue?: string };
const { queues } = parse(await readFile(path.join(ROOT, 'wrangler.toml'), 'utf8')) as unknown as {
  queues: { consumers: Consumer[] };
};
const [events, dead] = queues.consumers;
const page = (await readFile(path.join(ROOT, 'docs/operations.md'), 'utf8')).replaceAll('\n', ' ');
const stated = (pattern: RegExp): number => Number(pattern.exec(page)?.[1]);

it('states for how long an event is delivered again', () => {
  expect(events?.dead_letter_queue).toBe(dead?.queue);
  const delays = Array.from({ length: events?.max_retries ?? 0 }, (_, index) => eventDelaySeconds(index + 1));
  const seconds = delays.reduce((sum, delay) => sum + delay, 0);
  expect(stated(/delivers it again for (\d+) minutes/)).toBe(Math.round(seconds / 60));
  expect(stated(/at most (\d+) minutes apart/) * 60).toBe(Math.max(...delays));
});

it('states for how long dead letters are tried again before they are filed', () => {
  expect(DEAD_LETTER_DELAY_SECONDS).toBe(3600);
  const untilFiled = (FILED_FROM_ATTEMPT - 1) * DEAD_LETTER_DELAY_SECONDS;
  expect(stated(/every hour for (\d+) days/)).toBe(untilFiled / 86_400);
});

it('leaves some attempts at filing before the queue deletes a message', () => {
  // The queue deletes it after the attempt that follows its last retry, or when its retention ends.
  const attempts = (dead?.max_retries ?? 0) + 1;
  expect(attempts).toBeGreaterThanOrEqual(FILED_FROM_ATTEMPT + 3);
  expect(attempts * DEAD_LETTER_DELAY_SECONDS).toBeLessThan(DEAD_LETTER_RETENTION_SECONDS);
  // Cloudflare's limits.
  expect(DEAD_LETTER_RETENTION_SECONDS).toBeLessThanOrEqual(14 * 86_400);
  expect(DEAD_LETTER_DELAY_SECONDS).toBeLessThanOrEqual(12 * 3600);
});
