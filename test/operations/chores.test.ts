import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { database, scheduleRuns } from '#db';
import service from '../../src/index.ts';
import { runSchedule } from '../../src/schedule.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { inMinuteOf, type MINUTES } from '../helpers/minutes.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** No statement: any word may be in one, such as the `nothing` of `do nothing`, which only chores of the first minute of an hour have. */
const NEVER = /(?!)/;

/** What the cron's minute throws while these statements fail, and the lines it logs. */
async function runMinute(statements: RegExp, work: keyof typeof MINUTES = 'chores') {
  const watched = new WatchedD1(env.DB);
  watched.failWhen((sql) => statements.test(sql), 'D1_ERROR: no such table: gone');
  const lines: Record<string, unknown>[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => lines.push(JSON.parse(line)));
  const error: unknown = await service.scheduled(inMinuteOf(work), { ...env, DB: watched.asBinding() }).then(
    () => null,
    (thrown) => thrown,
  );
  return { error, lines, log: watched.log };
}

it('runs every chore although some fail, and names those', async () => {
  const { error, lines, log } = await runMinute(/(?:from|update) "(?:tokens|clicks)"/);
  expect(error).toBeInstanceOf(AggregateError);
  expect(error).toMatchObject({
    message: 'Failed chores: prune clicks, prune tokens',
    errors: Array(2).fill({ message: 'D1_ERROR: no such table: gone' }),
  });
  expect(lines).toMatchObject([
    { level: 'error', message: 'chore failed', chore: 'prune clicks' },
    { level: 'error', message: 'chore failed', chore: 'prune tokens' },
  ]);
  // Drizzle's own text would have the statement with its parameters.
  expect(JSON.stringify(lines)).not.toMatch(/params|"select/);
  // The chores after the failed ones.
  expect(log.flatMap((sql) => /^delete from "(\w+)"/.exec(sql)?.[1] ?? [])).toContain('rejections');
});

it('logs nothing if all chores succeed', async () => {
  expect(await runMinute(NEVER)).toMatchObject({ error: null, lines: [] });
});

it('remembers that an hourly chore failed while the runs of other minutes succeed', async () => {
  const { error } = await runMinute(/"hash_keys"/, 'hourly chores');
  expect(error).toMatchObject({ message: 'Failed chores: keep hash key' });
  expect((await runMinute(NEVER)).error).toBeNull();
  const failures = await database(env.DB)
    .select({ schedule: scheduleRuns.schedule, failure: scheduleRuns.failure })
    .from(scheduleRuns);
  expect(failures).toContainEqual({ schedule: 'chores', failure: null });
  expect(failures).toContainEqual({
    schedule: 'hourly chores',
    failure: 'Failed chores: keep hash key',
  });
});

it('waits for the exchange rates, and names them if they fail', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  answerFetch(async () => new Response('', { status: 503 }));
  const run = service.scheduled(inMinuteOf('exchange rates'), {
    ...env,
    EXCHANGE_RATES_URL: 'https://rates.test/daily.xml',
    FURTHER_RATES_URL: '',
  });
  await expect(run).rejects.toThrow('Failed chores: fetch exchange rates');
});

it.each([
  ['00:00', ['chores', 'hourly chores']],
  ['02:19', ['chores']],
  ['02:20', ['chores', 'snapshot']],
  ['03:20', ['chores', 'snapshot']],
  ['04:20', ['chores', 'snapshot']],
  ['05:20', ['chores']],
  ['15:30', ['chores', 'exchange rates']],
  ['16:30', ['chores']],
  ['17:30', ['chores', 'exchange rates']],
  ['19:30', ['chores', 'exchange rates']],
  ['19:50', ['chores', 'months']],
])('runs at %s UTC %o', async (time, expected) => {
  const db = database(env.DB);
  await db.delete(scheduleRuns);
  const rates = { EXCHANGE_RATES_URL: '', FURTHER_RATES_URL: '' };
  await runSchedule(Date.parse(`2026-03-28T${time}:03Z`), { ...env, ...rates });
  const runs = await db.select({ schedule: scheduleRuns.schedule }).from(scheduleRuns);
  expect(runs.map(({ schedule }) => schedule).sort()).toEqual([...expected, 'watch stores'].sort());
});
