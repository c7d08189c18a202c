import { describe, expect, it } from 'vitest';
import { eventOf, startCounter } from '../helpers/counter.ts';
import { signedIn } from '../helpers/person.ts';
import { REPORT_NAMES, requiredOf } from '../helpers/reports.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { WatchedCounters } from '../helpers/watched-counters.ts';
import { startWorker } from '../helpers/worker.ts';

// How fresh a report is, and that it says so.

const PERIOD = 'from=2026-03-01&to=2026-03-05';

const pathOf = (name: string, tenant: Tenant, more = '') =>
  `/v1/reports/${name}?application_id=${tenant.application.id}&${PERIOD}${requiredOf(name)}${more}`;

/** An application with a device and `ads` ad views of it that nobody has counted yet. */
async function start(ads = 1) {
  const tenant = await createTenant();
  const counter = startCounter(tenant.application.id);
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('one shard');
  const { id } = tenant.application;
  await counter.append(Array.from({ length: ads }, () => eventOf(id, created.device, 'custom.ad')));
  return { tenant, counter };
}

describe.each(REPORT_NAMES)('GET /v1/reports/%s', (name) => {
  it('says through when everything is counted, in JSON and CSV', async () => {
    const worker = startWorker();
    const { tenant } = await start();
    const before = Date.now();
    const json = await (await worker.team(tenant, pathOf(name, tenant))).json<{ counted_through: string }>();
    expect(json.counted_through).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(Date.parse(json.counted_through)).toBeGreaterThanOrEqual(before);
    const csv = await worker.team(tenant, pathOf(name, tenant, '&format=csv'));
    expect(Date.parse(csv.headers.get('X-Counted-Through') ?? '')).toBeGreaterThanOrEqual(before);
  });

  it('settles only the counters of its own application', async () => {
    const { tenant } = await start();
    await start();
    const counters = new WatchedCounters();
    const worker = startWorker({ COUNTERS: counters.asBinding() });
    expect((await worker.team(tenant, pathOf(name, tenant))).status).toBe(200);
    expect(counters.calls[0]).toEqual({ name: `${tenant.application.id}:0`, method: 'settle' });
    expect(new Set(counters.calls.map((call) => call.name))).toEqual(new Set([`${tenant.application.id}:0`]));
    expect(counters.calls.filter(({ method }) => method === 'settle')).toHaveLength(1);
  });
});

/** How pages say that events are being counted. */
const COUNTING = /Counting the newest events/;

describe('a counter that does not settle', () => {
  const stuck = () =>
    new WatchedCounters(({ method }) => (method === 'settle' ? new Promise(() => undefined) : undefined));

  it('delays a report by at most two seconds, which then says that its freshness is unknown', async () => {
    const { tenant } = await start();
    const worker = startWorker({ COUNTERS: stuck().asBinding() });
    const startedAt = Date.now();
    const [answer, csv] = await Promise.all([
      worker.team(tenant, pathOf('performance', tenant)),
      worker.team(tenant, pathOf('performance', tenant, '&format=csv')),
    ]);
    expect(Date.now() - startedAt).toBeLessThan(3_000);
    expect(await answer.json()).toMatchObject({
      counted_through: null,
      uncounted: null,
      totals: { impressions: 0 },
    });
    expect(csv.status).toBe(200);
    expect(csv.headers.get('X-Counted-Through')).toBeNull();
    expect(csv.headers.get('X-Uncounted')).toBe('unknown');
  });

  it('is reported on the pages with figures', async () => {
    const { tenant } = await start();
    const worker = startWorker({
      SIGN_IN_LIMIT: { limit: async () => ({ success: true }) },
      COUNTERS: stuck().asBinding(),
    });
    const browser = await signedIn(worker, tenant.team, 'viewer');
    const paths = ['/', '/status', '/breakdown'];
    const pages = await Promise.all(paths.map(async (path) => (await browser.get(path)).text()));
    const silent = paths.filter((_, index) => !COUNTING.test(pages[index] ?? ''));
    expect(silent).toEqual([]);
  });
});

it('settles once per page that shows figures', async () => {
  const { tenant } = await start(3);
  const counters = new WatchedCounters();
  const worker = startWorker({
    SIGN_IN_LIMIT: { limit: async () => ({ success: true }) },
    COUNTERS: counters.asBinding(),
  });
  const browser = await signedIn(worker, tenant.team, 'viewer');
  for (const path of ['/', '/breakdown', '/funnels', '/retention', '/ltv', '/ads', '/creatives', '/status']) {
    counters.calls.length = 0;
    const page = await browser.get(path);
    expect(page.status, path).toBe(200);
    expect(await page.text(), path).not.toMatch(COUNTING);
    expect(counters.calls.filter(({ method }) => method === 'settle').length, path).toBe(1);
  }
});
