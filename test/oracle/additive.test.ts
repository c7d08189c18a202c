import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DimensionName, METRICS, type Metric } from '#catalogue';
import { givenBy } from '#reports';
import { settleAll } from '../helpers/settle.ts';
import type { Tenant } from '../helpers/tenant.ts';
import { isThorough } from '../helpers/thorough.ts';
import { startWorker } from '../helpers/worker.ts';
import { localDay, startHistory } from './history.ts';
import { nameQuestion, plusDays, type Question, queryOf, type World } from './second-count/question.ts';
import { questionsOf } from './second-count/questions.ts';
import { COSTS, CURRENCIES, changeCosts, PERIOD, RATES, startTenant, uploadRates } from './setup.ts';

// What adds up adds up to its total: in every report, by every grouping and under every filter. What does not says so, by being null.

const worker = startWorker();
const DAY_MS = 86_400_000;
const START = '2026-03-02';
const DAYS = 14;
const period = { from: plusDays(START, -1), to: plusDays(START, DAYS + 1) };
let tenant: Tenant;
let world: World;

type Fields = Record<string, unknown>;
type Answer = { data: Fields[]; totals: Fields };

/** Payments that only a store tells of, some taken back, some more than once. They have no hour and no item. */
async function sendStorePayments() {
  const path = `/v1/applications/${tenant.application.id}`;
  const authorization = 'Bearer rc_0123456789abcdef';
  const body = { revenuecat_authorization: authorization };
  expect((await worker.team(tenant, path, { method: 'PATCH', body })).status).toBe(200);
  const made = await worker.team(tenant, `${path}/intake-secret`, { method: 'POST', body: {} });
  const { intake_secret: secret } = await made.json<{ intake_secret: string }>();
  const send = async (id: string, transaction: number, more: Fields) => {
    const event = {
      ...{ id, environment: 'PRODUCTION', period_type: 'NORMAL', product_id: 'gold' },
      ...{ transaction_id: `store/${transaction}`, original_transaction_id: `store/${transaction}` },
      ...{ app_user_id: `nobody/${transaction}`, currency: CURRENCIES[transaction % 4]?.toUpperCase() },
      ...more,
    };
    const answer = await worker.request(`/stores/revenuecat/${secret}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: authorization },
      body: JSON.stringify({ api_version: '1.0', event }),
    });
    expect(answer.status, await answer.clone().text()).toBe(200);
  };
  for (let at = 0; at < 12; at++) {
    const purchased = Date.parse(START) + at * DAY_MS + 7 * 3_600_000;
    const price = 1.37 * (at + 1);
    const times = { purchased_at_ms: purchased, event_timestamp_ms: purchased + 1_000 };
    const type = at % 3 === 0 ? 'RENEWAL' : 'NON_RENEWING_PURCHASE';
    await send(`paid/${at}`, at, { type, ...times, price, price_in_purchased_currency: price });
    for (let refund = 0; refund < at % 3; refund++) {
      const event_timestamp_ms = purchased + (refund + 1) * DAY_MS;
      const back = { price: -price, price_in_purchased_currency: -price };
      const cause = { type: 'CANCELLATION', cancel_reason: 'CUSTOMER_SUPPORT' };
      await send(`back/${at}/${refund}`, at, { ...cause, ...times, event_timestamp_ms, ...back });
    }
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
}

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(START) + 2 * DAYS * DAY_MS });
  const [zone, currency] = ['Europe/Berlin', 'eur'];
  const made = await startTenant(worker, { zone, currency });
  tenant = made.tenant;
  const moved = (day: string) => plusDays(START, (Date.parse(day) - Date.parse(PERIOD.from)) / DAY_MS);
  const costs = COSTS.map((cost) => ({ ...cost, date: moved(cost.date) }));
  await uploadRates(
    worker,
    tenant,
    RATES.map((own) => ({ ...own, date: moved(own.date) })),
  );
  await changeCosts(worker, tenant, 'PUT', costs);
  const { sent } = await startHistory(worker, tenant, {
    creativeTokens: made.creatives.map(({ token }) => token),
    ...{ seed: 47, start: START, zone, days: DAYS, devices: 30, currencies: CURRENCIES },
  });
  await sendStorePayments();
  const { results } = await env.DB.prepare(
    `SELECT creatives.id AS creative, adset_id AS adset, campaign_id AS campaign FROM creatives
     JOIN adsets ON adsets.id = adset_id WHERE creatives.application_id = ?`,
  )
    .bind(tenant.application.id)
    .all<World['ids'][number]>();
  const ids = made.creatives.flatMap(({ id }) => results.filter(({ creative }) => creative === id));
  const today = localDay(zone, Date.now());
  world = { zone, currency, today, sent, costs, published: RATES, ids };
});
afterAll(() => {
  vi.useRealTimers();
});

async function ask({ report, ...question }: Question): Promise<Answer> {
  const path = `/v1/reports/${report}?application_id=${tenant.application.id}&${queryOf({ report, ...question })}`;
  const answer = await worker.team(tenant, path);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return answer.json();
}

/** Each row is rounded to a nano. */
const isClose = (left: number, right: number) => Math.abs(left - right) < 1e-6;

const sumOf = (rows: readonly Fields[], name: string) => {
  const values = rows.map((row) => row[name]).filter((value) => typeof value === 'number');
  return { isKnown: values.length > 0, sum: values.reduce((sum, value) => sum + value, 0) };
};

/** Where the sum of rows differs from the total. A figure that no row has is not additive there. */
const differ = (rows: readonly Fields[], totals: Fields, names: readonly string[], what = ''): string[] =>
  names.flatMap((name) => {
    const { isKnown, sum } = sumOf(rows, name);
    const total = totals[name];
    if (typeof total !== 'number' || (!isKnown && (rows.length > 0 || total === 0))) return [];
    return isClose(sum, total) ? [] : [`${what}${name}: rows ${sum}, total ${total}`];
  });

const ADDITIVE = (Object.keys(METRICS) as Metric[]).filter((name) => METRICS[name].kind === 'sum');

/** What a grouping does not have is documented, and known to pages. */
function differOfSilence({ groups, filters, until_hour, metrics }: Question, { data, totals }: Answer) {
  const given = givenBy(groups as DimensionName[], filters);
  return ADDITIVE.filter((name) => metrics === undefined || metrics.includes(name)).flatMap((name) => {
    const isSilent = data.length > 0 && !sumOf(data, name).isKnown && totals[name] !== null;
    const mayBe = !given.has(name) || until_hour !== undefined;
    return isSilent && !mayBe ? [`${name}: no row has it, without a reason`] : [];
  });
}

const ofDays = ({ data, totals }: Answer, names: readonly string[]): string[] =>
  Object.entries(totals.days as Record<string, Fields>).flatMap(([day, own]) => {
    const rows = data.map((row) => (row.days as Record<string, Fields>)[day] ?? {});
    return differ(rows, own, names, `day ${day} `);
  });

/** The same question without its groupings, for reports whose totals are those of one row. */
const whole = async (question: Question) => {
  const { limit: _, ...rest } = question;
  return (await ask({ ...rest, groups: [], cohort: 'all' })).data[0] ?? {};
};

const CHECKS: Partial<Record<Question['report'], (question: Question) => Promise<string[]>>> = {
  async performance(question) {
    const answer = await ask(question);
    const given = givenBy(question.groups as DimensionName[], question.filters);
    const names = ADDITIVE.filter((name) => answer.data.length > 0 || given.has(name));
    return [...differ(answer.data, answer.totals, names), ...differOfSilence(question, answer)];
  },
  async retention(question) {
    const answer = await ask(question);
    return [...differ(answer.data, answer.totals, ['size']), ...ofDays(answer, ['eligible', 'active'])];
  },
  async ltv(question) {
    const answer = await ask(question);
    return [...differ(answer.data, answer.totals, ['size']), ...ofDays(answer, ['eligible', 'revenue'])];
  },
  async ads(question) {
    const { data, totals } = await ask(question);
    return differ(data, totals, ['impressions', 'ad_revenue', 'ad_requests']);
  },
  async funnel(question) {
    if (question.groups.length === 0) return [];
    const [{ data }, { data: steps }] = [await ask(question), await ask({ ...question, groups: [] })];
    const own = data.filter((_, at) => at % steps.length === 0);
    return differ(own, steps[0] ?? {}, ['devices']);
  },
  async 'predicted-ltv'(question) {
    const { data } = await ask(question);
    return differ(data, await whole(question), [
      'size',
      'payers',
      'purchase_revenue',
      'ad_revenue',
      'revenue',
    ]);
  },
};

/** The fast tier asks a part of them. */
const EVERY = isThorough ? 1 : 16;

describe('rows add up to their totals', () => {
  it.each(Object.keys(CHECKS) as (keyof typeof CHECKS)[])('in %s', async (report) => {
    const questions = questionsOf(world, period).filter((question) => question.report === report);
    const differences: string[] = [];
    for (const [index, question] of questions.entries()) {
      if (index % EVERY !== 0) continue;
      const found = (await CHECKS[report]?.(question)) ?? [];
      differences.push(...found.map((one) => `${nameQuestion(question)}: ${one}`));
    }
    expect(differences.slice(0, 20).join('\n'), `${differences.length} differences`).toBe('');
  });

  it.each(['hour', 'item', 'hour,creative', 'day,item', 'creative', 'adset', 'country', 'os,network'])(
    'by %s, with payments that only a store tells of and costs that state less',
    async (groups) => {
      const question: Question = {
        ...{ report: 'performance', ...period, groups: groups.split(','), filters: {} },
      };
      const answer = await ask(question);
      expect(differ(answer.data, answer.totals, ADDITIVE)).toEqual([]);
      const last = answer.data.at(-1);
      expect(last).toMatchObject({ is_unallocated: true, [question.groups[0] ?? '']: 'unallocated' });
    },
  );
});
