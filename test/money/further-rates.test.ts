import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { addDays } from '#lib/time';
import { parseFurtherRates } from '#money';
import service from '../../src/index.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { putRates } from '../helpers/money.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import FURTHER from './fixtures/further-rates.json?raw';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const DAY = '2026-03-05';
const URLS = {
  EXCHANGE_RATES_URL: 'https://rates.test/daily.xml',
  FURTHER_RATES_URL: 'https://further.test/eur.json',
};
const REFERENCE = `<Cube time='${DAY}'><Cube currency='USD' rate='1.1600'/><Cube currency='JPY' rate='160.5'/></Cube>`;

type Answer = () => Response | Promise<Response>;

/** Runs the schedule with what the two sources answer; resolves with its error's message, or null. */
async function run(reference: Answer, further: Answer, urls: Partial<typeof URLS> = {}) {
  const asked: string[] = [];
  answerFetch(async (url) => {
    asked.push(String(url));
    return url === URLS.EXCHANGE_RATES_URL ? reference() : further();
  });
  const error = await service.scheduled(inMinuteOf('exchange rates'), { ...env, ...URLS, ...urls }).then(
    () => null,
    (thrown: Error) => thrown.message,
  );
  return { asked, error };
}

const answers =
  (text: string, status = 200) =>
  () =>
    new Response(text, { status });
const both = () => run(answers(REFERENCE), answers(FURTHER));

const stored = async (owner: string) => {
  const { results } = await env.DB.prepare('SELECT currency FROM exchange_rates WHERE team_id = ? ORDER BY 1')
    .bind(owner)
    .all<{ currency: string }>();
  return results.map(({ currency }) => currency);
};

async function sell(tenant: Tenant, value: number, currency: string, day: string) {
  const token = await fetchToken(worker, tenant, { created_at: `${day}T10:00:00Z` });
  await worker.post(tenant, '/webhook', {
    type: 'custom.purchase',
    created_at: `${day} 10:00:00`,
    creativeToken: token,
    payload: { item_id: 'gems', item_name: 'Gems', value, currency, status: 'success' },
  });
  await worker.deliver(worker.queue.take());
}

async function revenueOn(tenant: Tenant, day: string) {
  const period = `application_id=${tenant.application.id}&from=${day}&to=${day}`;
  const answer = await worker.team(tenant, `/v1/reports/performance?${period}`);
  const report = await answer.json<{ totals: { purchase_revenue: number | null }; unconverted: unknown[] }>();
  return [report.totals.purchase_revenue, report.unconverted];
}

beforeEach(async () => {
  await env.DB.prepare('DELETE FROM exchange_rates').run();
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(() => vi.restoreAllMocks());

it('reads the currencies of ISO 4217 and no others, with every digit', () => {
  expect(parseFurtherRates(FURTHER, DAY).map(({ currency, units }) => [currency, units])).toEqual([
    ['aed', '4.26010005'],
    ['ars', '1621.44305912'],
    ['gbp', '0.86112034'],
    ['jpy', '160.88114209'],
    ['kwd', '0.35591104'],
    ['lbp', '103821.55114097'],
    ['sar', '4.35000012'],
    ['twd', '36.25'],
    ['uah', '50.11840223'],
    ['usd', '1.16011204'],
    ['vnd', '30479.12500001'],
    ['xau', '0.00022634'],
  ]);
  expect(parseFurtherRates(FURTHER, DAY)[0]).toEqual({
    ...{ currency: 'aed', base: 'eur', day: DAY },
    ...{ units: '4.26010005', worth: '1' },
  });
});

it('skips what is not a positive number', () => {
  const eur = { twd: 36.25, vnd: 0, sar: -4, aed: '4.26', uah: null, ars: 1e300, TWD: 1 };
  const rates = parseFurtherRates(JSON.stringify({ date: DAY, eur }), DAY);
  expect(rates.map(({ currency }) => currency)).toEqual(['twd']);
});

it('counts a sale in a currency that the reference rates lack', async () => {
  const tenant = await createTenant();
  await sell(tenant, 362.5, 'twd', DAY);
  await run(answers(REFERENCE), answers('', 503));
  expect(await revenueOn(tenant, DAY)).toEqual([0, [{ currency: 'twd', amount: 362.5 }]]);
  expect((await both()).error).toBeNull();
  expect(await revenueOn(tenant, DAY)).toEqual([11.6, []]);
  // And of later days until a newer rate is known.
  await sell(tenant, 362.5, 'twd', '2026-03-09');
  expect(await revenueOn(tenant, '2026-03-09')).toEqual([11.6, []]);
});

slowIt('stores only the currencies that have no reference rate, and each with its source', async () => {
  const tenant = await createTenant();
  await both();
  await both();
  const further = ['aed', 'ars', 'gbp', 'kwd', 'lbp', 'sar', 'twd', 'uah', 'vnd', 'xau'];
  expect([await stored(''), await stored('*')]).toEqual([['jpy', 'usd'], further]);
  await putRates(worker, tenant, DAY, { twd: 0.03 });
  const answer = await worker.team(tenant, '/v1/exchange-rates?currency=twd');
  const { data } = await answer.json<{ data: { base: string; source: string }[] }>();
  expect(data.map(({ base, source }) => [base, source])).toEqual([
    ['eur', 'further'],
    ['usd', 'team'],
  ]);
  const page = await pageOf(
    await (await signedIn(worker, tenant.team, 'viewer')).get(`/costs/rates?from=${DAY}&to=${DAY}`),
  );
  const rows = page.cells(`Exchange rates, ${DAY} to ${DAY}`, 'Currency', 'Source');
  expect(rows.filter(([currency]) => ['TWD', 'USD'].includes(currency ?? ''))).toEqual([
    ['TWD', 'Further source'],
    ['TWD', 'Your team'],
    ['USD', 'Reference'],
  ]);
});

it.each([
  { own: 'of the same day', day: DAY, revenue: 15 },
  { own: 'of 31 days before', day: addDays(DAY, -31), revenue: 15 },
  { own: 'of an earlier day', day: addDays(DAY, -32), revenue: 11.6 },
])('keeps a team’s own rate, and uses one $own', async ({ day, revenue }) => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  for (const each of [tenant, other]) await sell(each, 362.5, 'twd', DAY);
  await putRates(worker, tenant, day, { twd: '0.0413793103448276' });
  await both();
  expect(await stored(tenant.team.id)).toEqual(['twd']);
  expect((await revenueOn(tenant, DAY))[0]).toBe(revenue);
  expect((await revenueOn(other, DAY))[0]).toBe(11.6);
});

it('prefers the last bank day’s rate to that of a day off', async () => {
  const tenant = await createTenant({ currency: 'eur' });
  const saturday = FURTHER.replace(DAY, '2026-03-07');
  // Even if the bank's rate arrives later.
  await run(answers('', 503), answers(saturday));
  expect(await stored('*')).toContain('usd');
  await sell(tenant, 116, 'usd', '2026-03-07');
  expect((await revenueOn(tenant, '2026-03-07'))[0]).toBeCloseTo(99.99, 2);
  await run(answers(REFERENCE), answers(saturday));
  expect((await revenueOn(tenant, '2026-03-07'))[0]).toBe(100);
});

it.each<{ what: string; answer: Answer }>([
  { what: 'an error', answer: answers(FURTHER, 503) },
  { what: 'a page', answer: answers('<html>Not found</html>') },
  { what: 'another form', answer: answers('{"base":"EUR","rates":{"TWD":36.25}}') },
  { what: 'no currency of ISO 4217', answer: answers(`{"date":"${DAY}","eur":{"btc":0.00001}}`) },
  { what: 'no day', answer: answers('{"date":"latest","eur":{"twd":36.25}}') },
  { what: 'a day to come', answer: answers('{"date":"2999-01-01","eur":{"twd":36.25}}') },
  { what: 'more than any list', answer: answers(FURTHER.padEnd(4_000_001)) },
  {
    what: 'nothing for 20 s',
    answer: () => {
      const [, init] = vi.mocked(fetch).mock.lastCall ?? [];
      return new Promise((_, reject) => {
        const fail = () => reject(init?.signal?.reason);
        if (init?.signal?.aborted) fail();
        else init?.signal?.addEventListener('abort', fail);
      });
    },
  },
])('stores the reference rates although the further source answers with $what', async ({ what, answer }) => {
  const limits = vi.spyOn(AbortSignal, 'timeout');
  // Only a source that hangs meets its limit.
  if (what.startsWith('nothing'))
    limits.mockReturnValueOnce(new AbortController().signal).mockReturnValueOnce(AbortSignal.abort());
  const { error } = await run(answers(REFERENCE), answer);
  expect(error).toBe('Failed chores: fetch further exchange rates');
  expect(limits.mock.calls).toEqual([[20_000], [20_000]]);
  expect([await stored(''), await stored('*')]).toEqual([['jpy', 'usd'], []]);
});

it('stores the further rates although the reference rates cannot be fetched', async () => {
  const { error } = await run(answers('', 503), answers(FURTHER));
  expect(error).toBe('Failed chores: fetch exchange rates');
  expect([await stored(''), (await stored('*')).length]).toEqual([[], 12]);
});

it.each([
  { off: 'EXCHANGE_RATES_URL', asked: [URLS.FURTHER_RATES_URL] },
  { off: 'FURTHER_RATES_URL', asked: [URLS.EXCHANGE_RATES_URL] },
])('asks nothing of a source that is switched off with $off', async ({ off, asked }) => {
  expect(await run(answers(REFERENCE), answers(FURTHER), { [off]: '' })).toEqual({ asked, error: null });
});
