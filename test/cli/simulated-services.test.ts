import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readAppleAnswer } from '../../src/attribution/apple-answer.ts';
import { APPLE_AD, appleToken } from '../../src/cli/simulation/apple-ads.ts';
import { simulateCosts } from '../../src/cli/simulation/costs.ts';
import { simulateDevices, simulateEvents } from '../../src/cli/simulation/history.ts';
import { Random } from '../../src/cli/simulation/random.ts';
import { RECEIVER_URL, simulatedFile, startStandIn } from '../../src/cli/simulation/stand-in.ts';
import { AdLedger, SIMULATED_KEY, type Simulated } from '../../src/cli/simulation/told.ts';
import { isIos } from '../../src/cli/simulation/world.ts';
import { runReport } from '../../src/connectors/fetch-answers.ts';
import { PLATFORMS } from '../../src/connectors/platforms.ts';
import { ReportBudget } from '../../src/connectors/report-budget.ts';
import { outboundFetch } from '../../src/env.ts';
import { tiktok } from '../../src/networks/costs/tiktok.ts';

// What the connectors and the look-up read of a stand-in, through the same code as in a deployment.

const NOW = Date.UTC(2026, 10, 20, 12);
const devices = simulateDevices(new Random(1), 100, 10, NOW, 1);
const ledger = new AdLedger();
const events = devices.flatMap((device, index) => {
  const own = simulateEvents(new Random(2 + index), device, NOW);
  ledger.add(device, own);
  return own.map((event) => ({ ...event, platform: isIos(device.model) ? 'ios' : 'android' }));
});
const costs = simulateCosts(new Random(1), devices).filter(({ network }) => network === 'tiktok');
const simulated: Simulated = { timezone: 'Europe/Berlin', ads: ledger.rows, costs };

let folder: string;
let standIn: Awaited<ReturnType<typeof startStandIn>>;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stand-in-'));
  await writeFile(simulatedFile(folder), JSON.stringify(simulated));
  standIn = await startStandIn(folder);
});
afterAll(async () => {
  standIn.close();
  await rm(folder, { recursive: true, force: true });
});

const SECRET = 'x'.repeat(32);
const envWith = (url: string) =>
  ({
    STAND_IN_URL: url,
    TOKEN_SECRET: SECRET,
    KEY_ENCRYPTION_SECRET: SECRET,
    SESSION_SECRET: SECRET,
  }) as unknown as Env;
const fetcher = (url: string, init: RequestInit) => outboundFetch(envWith(standIn.url))(url, init);

it('reports the ads of a day as AppLovin does, a few more than apps told', async () => {
  const day = '2026-11-18';
  const read = (platform: string) =>
    PLATFORMS.max.read(
      { settings: { application: 'x', platform }, credentials: { report_key: SIMULATED_KEY }, day },
      fetcher,
    );
  const told = events.filter(
    ({ type, created_at, platform }) =>
      type === 'custom.ad' && created_at.startsWith(day) && platform === 'android',
  );
  const sums = [...(await read('android')).values()];
  const impressions = sums.reduce((sum, one) => sum + one.impressions, 0);
  expect(told.length).toBeGreaterThan(20);
  expect(impressions).toBeGreaterThanOrEqual(told.length);
  expect(impressions).toBeLessThan(told.length * 1.1);
  expect((await read('fireos')).size).toBe(0);
});

it('reports the costs of some days as TikTok does', async () => {
  const [from, to] = ['2026-11-12', '2026-11-15'];
  const settings = { advertiser_id: '7' };
  const run = tiktok.read({ settings, credentials: { access_token: SIMULATED_KEY }, from, to, state: null });
  const outcome = await runReport(run, {
    ...{ fetcher, sleep: async () => undefined, now: NOW },
    budget: new ReportBudget(),
  });
  if (!('rows' in outcome)) throw new Error('no rows');
  const expected = costs.filter(({ date }) => date >= from && date <= to);
  expect(expected.length).toBeGreaterThan(0);
  expect(outcome.rows.map(({ date, ad, clicks }) => [date, ad?.name, clicks])).toEqual(
    expected.map(({ date, creative, clicks }) => [date, creative, clicks]),
  );
  expect(outcome.account).toEqual({ currency: 'usd', timezone: 'Europe/Berlin' });
});

it('answers about tokens as Apple does: one in three installs came by its ad', async () => {
  const answers = await Promise.all(
    devices
      .filter(({ model }) => isIos(model))
      .map(async (device) => {
        const { adservices_token: body = '' } = appleToken(device);
        const answer = await fetcher('https://api-adservices.apple.com/api/v1/', { method: 'POST', body });
        return readAppleAnswer(await answer.text());
      }),
  );
  const ads = answers.flatMap((answer) => (answer?.outcome === 'attributed' ? [answer.ad.ad_id] : []));
  expect(new Set(ads)).toEqual(new Set([String(APPLE_AD.id)]));
  expect(ads.length).toBeGreaterThan(answers.length / 5);
  expect(answers.filter((answer) => answer?.outcome === 'not_attributed').length).toBeGreaterThan(ads.length);
});

it('receives what a destination sends, and refuses some', async () => {
  const send = () => fetcher(RECEIVER_URL, { method: 'POST', body: '{}' });
  const statuses = await Promise.all(Array.from({ length: 24 }, async () => (await send()).status));
  expect(statuses.filter((status) => status === 400)).toHaveLength(2);
  expect(statuses.filter((status) => status === 200)).toHaveLength(22);
});

it('passes everything else on, such as the requests of a real connector', async () => {
  const seen: unknown[] = [];
  const real = createServer((request, response) => {
    seen.push([request.method, request.url, request.headers.authorization, request.headers['stand-in-for']]);
    response.writeHead(301, { Location: '/elsewhere', 'X-Own': 'yes' }).end('moved');
  });
  await new Promise<void>((resolve) => real.listen(0, '127.0.0.1', resolve));
  const { port } = real.address() as AddressInfo;
  const headers = { Authorization: 'Bearer real' };
  const answer = await fetcher(`http://127.0.0.1:${port}/a?b=c`, { headers, redirect: 'manual' });
  expect([answer.status, answer.headers.get('X-Own'), await answer.text()]).toEqual([301, 'yes', 'moved']);
  expect(seen).toEqual([['GET', '/a?b=c', 'Bearer real', undefined]]);
  await new Promise((resolve) => real.close(resolve));
  await expect(fetcher(`http://127.0.0.1:${port}/`, {})).rejects.toThrow();
});

it('answers nobody who does not know its address, and exists on this machine only', async () => {
  const guessed = new URL('/guessed/', standIn.url).href;
  expect((await fetch(guessed, { headers: { 'Stand-In-For': RECEIVER_URL } })).status).toBe(404);
  expect((await fetch(standIn.url)).status).toBe(404);
  expect(() => outboundFetch(envWith('http://attacker.example/'))).toThrow(
    'STAND_IN_URL must be on this machine',
  );
});
