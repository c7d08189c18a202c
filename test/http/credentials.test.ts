import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { forgetCredentials, LookupCache } from '#http';
import { newAccessToken, newApiKey } from '#lib/credentials';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { countingLimit, watchedLimit } from '../helpers/limits.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// A fresh isolate: one that has just stored rejections stores the next ones later.
vi.hoisted(() => vi.resetModules());

beforeEach(() => {
  forgetCredentials();
});
afterEach(() => {
  vi.useRealTimers();
});

function watchedWorker() {
  const watched = new WatchedD1(env.DB);
  return { watched, worker: startWorker({ DB: watched.asBinding() }) };
}

describe('D1 statements of the ingestion path', () => {
  it('are at most one for the first webhook of an isolate and none from then on', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(startWorker(), tenant);
    forgetCredentials();
    const { watched, worker } = watchedWorker();
    expect((await worker.post(tenant, '/webhook', envelope.ad(token))).status).toBe(200);
    expect(watched.statements).toBe(1);
    for (const event of [
      envelope.ad(token),
      envelope.purchase(token),
      envelope.retention(token),
      envelope.custom(token),
    ]) {
      expect((await worker.post(tenant, '/webhook', event)).status).toBe(200);
    }
    expect((await worker.post(tenant, '/webhook/batch', { events: [envelope.ad(token)] })).status).toBe(200);
    expect(watched.statements).toBe(1);
    // After the answer, a note of what was refused and why.
    expect((await worker.post(tenant, '/webhook', { type: 'custom' })).status).toBe(400);
    expect(watched.statements).toBe(2);
  });

  it('are one for any number of simultaneous requests', async () => {
    const tenant = await createTenant();
    const { watched, worker } = watchedWorker();
    const path = '/check-data-collection-status';
    const headers = { 'service-api-key': tenant.apiKey };
    const answers = await Promise.all(Array.from({ length: 20 }, () => worker.request(path, { headers })));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(watched.statements).toBe(1);
  });

  it('are at most one per 10 s for an unknown key, and one to record the rejection', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { watched, worker } = watchedWorker();
    const headers = { 'service-api-key': newApiKey() };
    const ask = () => worker.request('/webhook', { method: 'POST', headers });
    for (let index = 0; index < 50; index++) expect((await ask()).status).toBe(401);
    expect(watched.statements).toBe(2);
    vi.advanceTimersByTime(9_999);
    await ask();
    expect(watched.statements).toBe(2);
    vi.advanceTimersByTime(1);
    await ask();
    expect(watched.statements).toBe(4);
  });
});

describe('limits', () => {
  const path = '/check-data-collection-status';

  it('apply to every request of an application', async () => {
    const tenant = await createTenant();
    const worker = startWorker({ API_KEY_LIMIT: countingLimit(5) });
    const statuses: number[] = [];
    for (let index = 0; index < 7; index++) {
      statuses.push((await worker.request(path, { headers: { 'service-api-key': tenant.apiKey } })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });

  it('count the requests of a new isolate with one valid key as one unknown credential', async () => {
    const tenant = await createTenant();
    const worker = startWorker({ UNKNOWN_CREDENTIAL_LIMIT: countingLimit(1) });
    const headers = { 'service-api-key': tenant.apiKey };
    const answers = await Promise.all(Array.from({ length: 20 }, () => worker.request(path, { headers })));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  });

  it('do not stop the renewal of a known credential', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const tenant = await createTenant();
    const worker = startWorker({ UNKNOWN_CREDENTIAL_LIMIT: countingLimit(1) });
    const ask = () => worker.request(path, { headers: { 'service-api-key': tenant.apiKey } });
    for (let step = 0; step < 5; step++) {
      expect((await ask()).status).toBe(200);
      vi.advanceTimersByTime(45_000);
    }
  });

  it('count the addresses of an IPv6 network as one', async () => {
    const guesses = watchedLimit(() => true);
    const guessed = startWorker({ UNKNOWN_CREDENTIAL_LIMIT: guesses.binding });
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9']) {
      const headers = { 'service-api-key': newApiKey(), 'cf-connecting-ip': address };
      expect((await guessed.request('/auth', { headers })).status).toBe(429);
    }
    expect(guesses.keys).toEqual(['2001:db8:1:2', '2001:db8:1:2']);
  });

  it('apply to the team API: to unknown tokens by address, before the database, and to each team separately', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    const watched = new WatchedD1(env.DB);
    const guesses = watchedLimit(() => true);
    const guessed = startWorker({ UNKNOWN_CREDENTIAL_LIMIT: guesses.binding, DB: watched.asBinding() });
    const refused = await guessed.request('/v1/applications', {
      headers: { 'Service-Token': newAccessToken(), 'cf-connecting-ip': '192.0.2.8' },
    });
    expect([refused.status, await refused.json()]).toEqual([429, { message: 'Too many requests' }]);
    expect([guesses.keys, watched.statements]).toEqual([['192.0.2.8'], 0]);

    const teams = watchedLimit((key) => key === tenant.team.id);
    const limited = startWorker({ TEAM_TOKEN_LIMIT: teams.binding });
    const answer = await limited.team(tenant, '/v1/applications');
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '10']);
    expect((await limited.team(other, '/v1/applications')).status).toBe(200);
    expect(teams.keys).toEqual([tenant.team.id, other.team.id]);
  });
});

describe('changes of a credential', () => {
  const status = (worker: ReturnType<typeof startWorker>, apiKey: string) =>
    worker.request('/check-data-collection-status', { headers: { 'service-api-key': apiKey } });

  it('take effect within 60 s: a switched-off application, an expired key, a revoked token', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const tenant = await createTenant();
    const worker = startWorker();
    const enabled = async () =>
      ((await (await status(worker, tenant.apiKey)).json()) as { enabled: boolean }).enabled;
    expect(await enabled()).toBe(true);
    const change = { method: 'PATCH', body: { data_collection: false } };
    expect((await worker.team(tenant, `/v1/applications/${tenant.application.id}`, change)).status).toBe(200);
    vi.advanceTimersByTime(60_000);
    expect(await enabled()).toBe(false);

    const replaced = await worker.team(tenant, `/v1/applications/${tenant.application.id}/api-key`, {
      method: 'POST',
      body: {},
    });
    const { api_key }: { api_key: string } = await replaced.json();
    expect((await status(worker, api_key)).status).toBe(200);
    vi.advanceTimersByTime(60_000);
    expect((await status(worker, tenant.apiKey)).status).toBe(401);
    expect((await status(worker, api_key)).status).toBe(200);

    expect((await worker.team(tenant, '/v1/applications')).status).toBe(200);
    await env.DB.prepare('UPDATE access_tokens SET revoked_at = 1 WHERE team_id = ?')
      .bind(tenant.team.id)
      .run();
    vi.advanceTimersByTime(60_000);
    const refused = await worker.team(tenant, '/v1/applications');
    expect(refused.status).toBe(401);
    expect(await refused.json()).toEqual({ message: 'Incorrect authentication token' });
  });

  it('keep a replaced key valid for exactly its grace period, even in the cache', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const tenant = await createTenant();
    const worker = startWorker();
    const path = `/v1/applications/${tenant.application.id}/api-key`;
    expect((await worker.team(tenant, path, { method: 'POST', body: { grace_hours: 2 } })).status).toBe(201);
    vi.advanceTimersByTime(2 * 3_600_000 - 1000);
    expect((await status(worker, tenant.apiKey)).status).toBe(200);
    vi.advanceTimersByTime(1000);
    expect((await status(worker, tenant.apiKey)).status).toBe(401);
  });
});

describe('LookupCache', () => {
  function cacheOf(answers: (string | null | Error)[]) {
    const cache = new LookupCache<string>();
    const background: Promise<unknown>[] = [];
    let loads = 0;
    const load = async () => {
      const answer = answers[Math.min(loads++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return answer ?? null;
    };
    return {
      at: (now: number) => cache.get('key', now, load, (work) => background.push(work)),
      settled: () => Promise.all(background),
      loads: () => loads,
    };
  }

  it('keeps a hit for 60 s and renews it in the background from 40 s on', async () => {
    const cache = cacheOf(['old', 'new']);
    expect(await cache.at(0)).toBe('old');
    expect(await cache.at(39_999)).toBe('old');
    expect(cache.loads()).toBe(1);
    expect(await cache.at(40_000)).toBe('old');
    await cache.settled();
    expect(cache.loads()).toBe(2);
    expect(await cache.at(40_001)).toBe('new');
    expect(await cache.at(99_999)).toBe('new');
  });

  it('waits for a fresh value after 60 s', async () => {
    const cache = cacheOf(['old', null]);
    await cache.at(0);
    expect(await cache.at(60_000)).toBeNull();
  });

  it('keeps a miss for 10 s', async () => {
    const cache = cacheOf([null, 'there']);
    expect(await cache.at(0)).toBeNull();
    expect(await cache.at(9_999)).toBeNull();
    expect(await cache.at(10_000)).toBe('there');
  });

  it('does not cache a failed load, and keeps a hit when its renewal fails', async () => {
    const first = cacheOf([new Error('D1 is away'), 'there']);
    await expect(first.at(0)).rejects.toThrow('D1 is away');
    expect(await first.at(1)).toBe('there');
    const renewed = cacheOf(['there', new Error('D1 is away')]);
    await renewed.at(0);
    expect(await renewed.at(50_000)).toBe('there');
    await renewed.settled();
    expect(await renewed.at(50_001)).toBe('there');
  });

  it('evicts the oldest entries', async () => {
    const cache = new LookupCache<string>();
    let loads = 0;
    const get = (key: string) =>
      cache.get(
        key,
        0,
        async () => `${loads++}`,
        () => undefined,
      );
    for (let index = 0; index <= LookupCache.MAX_ENTRIES; index++) await get(`${index}`);
    const before = loads;
    await get(`${LookupCache.MAX_ENTRIES}`);
    expect(loads).toBe(before);
    await get('0');
    expect(loads).toBe(before + 1);
  });

  it('keeps existing entries through any number of unknown keys', async () => {
    const cache = new LookupCache<string>();
    let loads = 0;
    const get = (key: string, value: string | null) =>
      cache.get(
        key,
        0,
        async () => {
          loads++;
          return value;
        },
        () => undefined,
      );
    await get('good', 'value');
    for (let index = 0; index < LookupCache.MAX_ENTRIES + 1; index++) await get(`invented ${index}`, null);
    const before = loads;
    expect(await get('good', 'another')).toBe('value');
    // Of the misses themselves only the last are remembered.
    await get(`invented ${LookupCache.MAX_ENTRIES}`, null);
    await get(`invented ${LookupCache.MAX_ENTRIES + 1 - LookupCache.MAX_MISSES}`, null);
    expect(loads).toBe(before);
    await get(`invented ${LookupCache.MAX_ENTRIES - LookupCache.MAX_MISSES}`, null);
    expect(loads).toBe(before + 1);
  });

  it('keeps only values, and only until they expire', async () => {
    const cache = new LookupCache<string>();
    await cache.get(
      'there',
      0,
      async () => 'value',
      () => undefined,
    );
    await cache.get(
      'not there',
      0,
      async () => null,
      () => undefined,
    );
    expect([cache.holds('there', 59_999), cache.holds('there', 60_000)]).toEqual([true, false]);
    expect(cache.holds('not there', 0)).toBe(false);
  });
});
