import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runDueConnectors } from '#connectors';
import { addDays } from '#lib/time';
import { runConnector } from '../../src/connectors/run.ts';
import {
  addConnector,
  CURRENCIES as CURRENCY_OF,
  connectorRow,
  type Network,
  noSleep,
  type Spent,
  StandIn,
} from '../connectors/stand-in.ts';
import type { Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { localDay, type Sent, startHistory } from './history.ts';
import { isCounted } from './naive.ts';
import { differencesOf } from './second-count/differences.ts';
import type { Question, World } from './second-count/question.ts';
import {
  CHANGING_RATES,
  type Cost,
  CREATIVES,
  CURRENCIES,
  DEVICES,
  PERIOD,
  startTenant,
  uploadRates,
} from './setup.ts';

// Costs that connectors fetched, in the reports: what an independent count says of the network's own ledger.

const TODAY = '2026-04-12';
const NOW = Date.parse(`${TODAY}T12:00:00Z`);
const MINUTE_MS = 60_000;
const [ZONE, CURRENCY] = ['Europe/Berlin', 'eur'];
const PUBLISHED = [...CHANGING_RATES, { date: '2026-03-20', base: 'usd', rates: { gbp: 1.27 } }];
const DAYS = Array.from({ length: 17 }, (_, at) => addDays(PERIOD.from, at));
const REVISED = '2026-04-07';

/** Spend of each creative, in countries with and without devices: no two amounts are alike. */
const LEDGER: Spent[] = DAYS.flatMap((date, day) =>
  CREATIVES.flatMap(({ creative: ad, ...names }, at) =>
    ['DE', 'IN', 'FR'].map((country, place) => ({
      ...{ date, ...names, ad, country },
      cents: 101 + day * 37 + at * 501 + place * 7,
    })),
  ),
);

/** What each row of the stand-in states. */
const IMPRESSIONS = 10;

/** What a network tells of the spend. */
const TOLD: Record<Network, (spent: Spent) => Partial<Cost>> = {
  meta: ({ ad: creative, country }) => ({ creative, country, network: 'meta' }),
  tiktok: ({ ad: creative }) => ({ creative, network: 'tiktok' }),
  applovin: ({ ad: creative, country }) => ({ creative, country, os: 'android', network: 'applovin' }),
  google: () => ({ network: 'google' }),
  pull: ({ ad: creative, country }) => ({ creative, country }),
};

/** The request for the last rows, after others have been answered. */
const LAST_PAGE: Record<Network, RegExp> = {
  ...{ meta: /after=20/, tiktok: /page=2/, applovin: /report/, google: /MAX/, pull: /daily/ },
};

const QUESTIONS: Question[] = [
  ['campaign', 'country'],
  ['adset', 'creative'],
  ['country', 'os'],
  ['network'],
  ['day'],
].map((groups) => ({ report: 'performance', ...PERIOD, groups, filters: {} }));

const worker = startWorker();
let tenant: Tenant;
let world: Omit<World, 'costs'>;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  const made = await startTenant(worker, { zone: ZONE, currency: CURRENCY });
  tenant = made.tenant;
  const history: { sent: Sent[] } = await startHistory(worker, tenant, {
    creativeTokens: made.creatives.map(({ token }) => token),
    ...{ seed: 5, start: PERIOD.from, zone: ZONE, days: 14, devices: DEVICES, currencies: CURRENCIES },
  });
  await uploadRates(worker, tenant, PUBLISHED);
  const { results } = await env.DB.prepare(
    `SELECT creatives.id AS creative, adset_id AS adset, campaign_id AS campaign FROM creatives
     JOIN adsets ON adsets.id = adset_id WHERE creatives.application_id = ?`,
  )
    .bind(tenant.application.id)
    .all<World['ids'][number]>();
  world = {
    ...{ zone: ZONE, currency: CURRENCY, published: PUBLISHED, today: localDay(ZONE, NOW) },
    ids: made.creatives.flatMap(({ id }) => results.filter(({ creative }) => creative === id)),
    sent: history.sent.filter(isCounted),
  };
}, 300_000);
afterAll(() => {
  vi.useRealTimers();
});

async function expectNoDifference(network: Network, ledger: readonly Spent[]): Promise<void> {
  const costs = ledger.map((spent): Cost => {
    const { date, campaign, adset, cents } = spent;
    const amount = cents / 100;
    const stated = {
      currency: CURRENCY_OF[network],
      amount,
      ...(network === 'pull' ? {} : { impressions: IMPRESSIONS }),
    };
    return { date, campaign, adset, ...stated, ...TOLD[network](spent) };
  });
  const differences: string[] = [];
  for (const question of QUESTIONS)
    differences.push(...(await differencesOf(worker, tenant, { ...world, costs }, question)));
  expect(differences.slice(0, 25).join('\n'), `${differences.length} differences`).toBe('');
}

const NETWORKS: Network[] = ['meta', 'tiktok', 'applovin', 'google', 'pull'];

it.each(NETWORKS)(
  'reports what %s says, with past days, a page that failed and a day that it revised',
  async (network) => {
    const standIn = new StandIn();
    standIn.ledger = LEDGER;
    const id = await addConnector(worker, tenant, network);
    const run = async (at: number) => runConnector(env, await connectorRow(id), at, standIn.fetch, noSleep);
    expect(await run(NOW)).toBeNull();
    const path = `/v1/connectors/${id}`;
    const body = { from: PERIOD.from, to: PERIOD.to };
    expect((await worker.team(tenant, `${path}/backfill`, { method: 'POST', body })).status).toBe(202);
    for (const minute of [1, 2, 3])
      await runDueConnectors(env, NOW + minute * MINUTE_MS, standIn.fetch, noSleep);
    await expectNoDifference(network, LEDGER);

    standIn.ledger = LEDGER.filter(
      (row) => row.date !== REVISED || row.ad !== 'Dog' || row.country !== 'DE',
    ).map((row) => (row.date === REVISED ? { ...row, cents: row.cents + 111 } : row));
    standIn.failures = [[LAST_PAGE[network], () => new Response('broken', { status: 500 })]];
    expect(await run(NOW + 4 * MINUTE_MS)).toMatch(/answered 500: broken/);
    expect(standIn.failures).toEqual([]);
    await expectNoDifference(network, LEDGER);

    expect(await run(NOW + 5 * MINUTE_MS)).toBeNull();
    await expectNoDifference(network, standIn.ledger);
    expect((await worker.team(tenant, path, { method: 'DELETE' })).status).toBe(200);
    await expectNoDifference(network, []);
  },
  300_000,
);
