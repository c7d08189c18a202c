import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { isDue, readSchedules, runSchedules } from '../../src/cli/schedule.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it.each([
  ['* * * * *', '2026-03-01T10:17:45Z', true],
  ['30 15,17,19 * * *', '2026-03-01T17:30:00Z', true],
  ['30 15,17,19 * * *', '2026-03-01T17:31:00Z', false],
  ['30 15,17,19 * * *', '2026-03-01T16:30:00Z', false],
  ['0 0 * * *', '2026-03-01T00:00:00Z', true],
  ['0 0 * * *', '2026-03-01T10:00:00Z', false],
])('%s at %s: %s', (schedule, at, expected) => {
  expect(isDue(schedule, new Date(at))).toBe(expected);
});

it('refuses an unknown form of schedule, and accepts those of wrangler.toml', async () => {
  expect(() => isDue('*/5 * * * *', new Date())).toThrow('has a form that npm start does not support');
  expect(() => isDue('0 0 1 * *', new Date())).toThrow('has a form that npm start does not support');
  const schedules = await readSchedules();
  expect(schedules).toContain('* * * * *');
  for (const schedule of schedules) isDue(schedule, new Date());
});

it('triggers due schedules until it is stopped, reports failures, and does not start one twice', async () => {
  const seen: string[] = [];
  const open: (() => void)[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    seen.push(`${url.pathname} ${url.searchParams.get('cron')}`);
    response.statusCode = 500;
    open.push(() => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const errors = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date'],
    now: Date.parse('2026-03-01T15:28:30Z'),
  });
  const ended = new AbortController();
  const { port } = server.address() as AddressInfo;
  const every = '* * * * *';
  const rates = '30 15,17,19 * * *';
  runSchedules(`http://127.0.0.1:${port}`, [every, rates], ended.signal);
  const path = '/cdn-cgi/local/scheduled';
  await vi.waitFor(() => expect(seen).toEqual([`${path} ${every}`]));
  // 15:29: the first has not ended.
  await vi.advanceTimersByTimeAsync(30_000);
  for (const end of open.splice(0)) end();
  await vi.waitFor(() => expect(errors).toHaveBeenCalledWith(`The schedule "${every}" failed.`));
  expect(seen).toHaveLength(1);
  // 15:30
  await vi.advanceTimersByTimeAsync(60_000);
  await vi.waitFor(() => expect(seen.slice(1).sort()).toEqual([`${path} ${every}`, `${path} ${rates}`]));
  errors.mockClear();
  ended.abort();
  await vi.advanceTimersByTimeAsync(180_000);
  expect(seen).toHaveLength(3);
  expect(errors).not.toHaveBeenCalled();
  server.closeAllConnections();
  server.close();
});
