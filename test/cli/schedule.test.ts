import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { runMinutes } from '../../src/cli/schedule.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('triggers the cron each minute until it is stopped, reports failures, and does not start it twice', async () => {
  const seen: string[] = [];
  const open: (() => void)[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    seen.push(`${url.pathname} ${url.searchParams.get('cron')} ${url.searchParams.get('time')}`);
    response.statusCode = 500;
    open.push(() => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const errors = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const start = Date.parse('2026-03-01T15:28:30Z');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: start });
  const ended = new AbortController();
  const { port } = server.address() as AddressInfo;
  runMinutes(`http://127.0.0.1:${port}`, ended.signal);
  const call = (at: number) => `/cdn-cgi/local/scheduled * * * * * ${at}`;
  await vi.waitFor(() => expect(seen).toEqual([call(start)]));
  // 15:29: the first has not ended.
  await vi.advanceTimersByTimeAsync(30_000);
  for (const end of open.splice(0)) end();
  await vi.waitFor(() => expect(errors).toHaveBeenCalledWith('The work of a minute failed.'));
  expect(seen).toHaveLength(1);
  // 15:30
  await vi.advanceTimersByTimeAsync(60_000);
  await vi.waitFor(() => expect(seen).toEqual([call(start), call(start + 90_000)]));
  errors.mockClear();
  ended.abort();
  await vi.advanceTimersByTimeAsync(180_000);
  expect(seen).toHaveLength(2);
  expect(errors).not.toHaveBeenCalled();
  server.closeAllConnections();
  server.close();
});
