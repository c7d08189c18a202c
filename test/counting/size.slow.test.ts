import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { DAY_MS } from '#lib/time';
import service from '../../src/index.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { startWorker } from '../helpers/worker.ts';

afterEach(() => vi.useRealTimers());

const START = Date.UTC(2026, 2, 1, 12);
const DAYS = 75;
const EVENTS = 20;

/** What grows with events, in the counter and in D1. */
const COUNTER_TABLES = [
  'log',
  'log_outcomes',
  'seen_ids',
  'key_generations',
  'recent_keys',
  'key_blocks',
  'purchase_keys',
  'transactions',
  'outbox',
];
const D1_TABLES = ['tokens', 'clicks', 'parked_messages', 'access_tokens', 'counter_flushes'];

it('keeps both stores at the same size, and every total, over weeks', async () => {
  vi.useFakeTimers({ now: START, toFake: ['Date'] });
  const counter = startCounter();
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const worker = startWorker();
  const rows: number[] = [];
  for (let day = 0; day < DAYS; day++) {
    const now = START + day * DAY_MS;
    vi.setSystemTime(now);
    await counter.append(
      Array.from({ length: EVENTS }, (_, index) =>
        eventOf(counter.applicationId, created.device, 'custom.ad', {
          keys: [`e:${day}-${index}`],
          key_day: Math.floor(now / DAY_MS),
        }),
      ),
    );
    await counter.stub().settle();
    // By then it is time to export the raw events.
    vi.setSystemTime(now + 2 * 3_600_000);
    await counter.inside((own) => own.alarm());
    await service.scheduled(inMinuteOf('chores'), worker.bindings);
    rows.push((await rowsOfCounter()) + (await rowsOfD1()));
  }
  const sizes = (from: number, to: number) => Math.max(...rows.slice(from, to));
  expect(sizes(DAYS - 14, DAYS)).toBeLessThanOrEqual(sizes(DAYS - 28, DAYS - 14));
  // And that something was there to be forgotten.
  expect(sizes(0, 30)).toBeGreaterThan(2 * (rows[5] ?? 0));
  expect(await rollupOf(counter.applicationId)).toMatchObject({ impressions: DAYS * EVENTS });

  async function rowsOfCounter(): Promise<number> {
    return counter.inside((_, state) => {
      const counts = COUNTER_TABLES.map(
        (table) => state.storage.sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n,
      );
      return counts.reduce((sum, count) => sum + count, 0);
    });
  }
  async function rowsOfD1(): Promise<number> {
    const counts = await Promise.all(
      D1_TABLES.map((table) => env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n')),
    );
    return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  }
});
