import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { ANDROID_AGENT, follow, IPHONE_MEASURES, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { watchedLimit } from '../helpers/limits.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

afterEach(() => {
  vi.useRealTimers();
});

const open = (worker: ReturnType<typeof startWorker>, path: string) =>
  worker.request(path, { redirect: 'manual', headers: { 'cf-connecting-ip': '192.0.2.9' } });

it('limits lookups of unknown links by address, separately from clicks and before the database', async () => {
  const watched = new WatchedD1(env.DB);
  const limit = watchedLimit((key) => key.startsWith('lookup:'));
  const limited = startWorker({ CLICK_LIMIT: limit.binding, DB: watched.asBinding() });
  const answer = await open(limited, '/t/AAAAAAAAAAAAAAAAAAAAAQ');
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '10']);
  expect([limit.keys, watched.statements]).toEqual([['lookup:192.0.2.9'], 0]);
  expect((await open(limited, '/t/not-a-token')).status).toBe(404);
  expect([limit.keys.length, watched.statements]).toEqual([1, 0]);

  const measured = await limited.request('/t/AAAAAAAAAAAAAAAAAAAAAQ', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ click_id: 'clk_unknown', ...IPHONE_MEASURES }),
  });
  expect([measured.status, watched.statements]).toEqual([429, 0]);
});

it('keeps serving and renewing a link that the isolate knows, whatever the limit says', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const tenant = await createTenant(STORES);
  const worker = startWorker();
  const { path } = await createCreative(worker, tenant);
  await follow(worker, path, ANDROID_AGENT);
  const limited = startWorker({ CLICK_LIMIT: watchedLimit(() => true).binding });
  for (let step = 0; step < 3; step++) {
    expect((await open(limited, path)).status).toBe(302);
    vi.advanceTimersByTime(45_000);
  }
});
