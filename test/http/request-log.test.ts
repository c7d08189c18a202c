import { afterEach, describe, expect, it, vi } from 'vitest';
import { isSampled } from '#lib/log-sample';
import { envelope } from '../helpers/envelopes.ts';
import { watchedLimit } from '../helpers/limits.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

afterEach(() => vi.restoreAllMocks());

const ids = Array.from({ length: 20_000 }, (_, index) => `request-${index}`);
const sampled = ids.find(isSampled) ?? '';
const skipped = ids.find((id) => !isSampled(id)) ?? '';

/** The lines that an answer leaves in the log. */
async function linesOf(work: () => Promise<Response>, level: 'log' | 'warn' | 'error' = 'log') {
  const lines: Record<string, unknown>[] = [];
  const spy = vi.spyOn(console, level).mockImplementation((line) => lines.push(JSON.parse(String(line))));
  const { status } = await work();
  spy.mockRestore();
  return { status, lines: lines.filter((line) => 'route' in line) };
}

describe('the request log', () => {
  it('names the event, and samples the same events as the consumer', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    const seen = new Map<string, boolean>();
    for (let index = 0; index < 3_000 && ![...seen.values()].includes(true); index++) {
      let id = '';
      const { lines } = await linesOf(async () => {
        const answer = await worker.post(tenant, '/webhook', envelope.ad(token));
        ({ event_id: id } = await answer.clone().json<{ event_id: string }>());
        return answer;
      });
      seen.set(id, lines.length > 0);
      expect(lines.map(({ event_id }) => event_id)).toEqual(isSampled(id) ? [id] : []);
    }
    expect([...seen.values()]).toContain(true);
  });

  it('has the route of a page of the dashboard, and not its address', async () => {
    const page = () => startWorker().request('/shared/secret', { headers: { 'X-Request-Id': sampled } });
    const { status, lines } = await linesOf(page);
    expect([status, lines.map(({ route }) => route)]).toEqual([404, ['/shared/:secret']]);
  });

  it('has 1 in 100 of the successful requests, the same ones each time', async () => {
    const worker = startWorker();
    const health = (id: string) => () => worker.request('/health', { headers: { 'X-Request-Id': id } });
    for (let round = 0; round < 2; round++) {
      expect(await linesOf(health(sampled))).toEqual({
        status: 200,
        lines: [
          {
            level: 'info',
            message: 'request',
            request_id: sampled,
            method: 'GET',
            route: '/health',
            status: 200,
            duration_ms: expect.any(Number),
            sampled: 100,
          },
        ],
      });
      expect((await linesOf(health(skipped))).lines).toEqual([]);
    }
    const share = ids.filter(isSampled).length / ids.length;
    expect(share).toBeGreaterThan(0.007);
    expect(share).toBeLessThan(0.013);
  });

  it('has every request that failed', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    worker.queue.failures = 3;
    const token = await worker.post(tenant, '/fetch-token', {
      type: 'device-metrics',
      created_at: '2026-03-01T10:00:00Z',
      data: { device_name: 'a', device_model: 'b', os_system: 'c', timezone: 'UTC' },
    });
    const { token: creativeToken }: { token: string } = await token.json();
    const answer = await linesOf(
      () => worker.post(tenant, '/webhook', envelope.ad(creativeToken), { 'X-Request-Id': skipped }),
      'error',
    );
    expect(answer).toMatchObject({
      status: 500,
      lines: [
        {
          level: 'error',
          status: 500,
          route: '/webhook',
          application_id: tenant.application.id,
          request_id: skipped,
        },
      ],
    });
    expect(answer.lines[0]).not.toHaveProperty('sampled');
  });

  it('has every request over the limit', async () => {
    const worker = startWorker({ API_KEY_LIMIT: watchedLimit(() => true).binding });
    const tenant = await createTenant();
    const answer = await linesOf(
      () => worker.post(tenant, '/webhook', {}, { 'X-Request-Id': skipped }),
      'warn',
    );
    expect(answer).toMatchObject({ status: 429, lines: [{ level: 'warn', status: 429 }] });
    expect(answer.lines[0]).not.toHaveProperty('sampled');
  });

  it.each([
    ['an unknown key', 401, { apiKey: 'none' }],
    ['a body that is wrong', 400, null],
  ])('has 1 in 100 of the refusals of %s', async (_, status, stranger) => {
    const worker = startWorker();
    const tenant = await createTenant();
    const post = (id: string) => () =>
      worker.post(stranger ?? tenant, '/webhook', {}, { 'X-Request-Id': id });
    expect(await linesOf(post(sampled))).toMatchObject({ status, lines: [{ level: 'info', sampled: 100 }] });
    expect(await linesOf(post(skipped))).toEqual({ status, lines: [] });
  });
});
