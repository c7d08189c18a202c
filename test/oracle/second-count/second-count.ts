import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Counter, countersOf } from '#counting';
import { objectsOf } from '../../helpers/lake.ts';
import type { Tenant } from '../../helpers/tenant.ts';
import { startWorker } from '../../helpers/worker.ts';
import { localDay, type Sent, startHistory } from '../history.ts';
import { isCounted } from '../naive.ts';
import {
  COSTS,
  type Cost,
  CURRENCIES,
  changeCosts,
  DEVICES,
  type History,
  PERIOD,
  type Rates,
  startTenant,
  uploadRates,
} from '../setup.ts';
import { differencesOf } from './differences.ts';
import { plusDays, type World } from './question.ts';
import { questionsOf } from './questions.ts';

const HOUR = 3_600_000;
const DAYS = 14;

/** Of each step, on a busy machine. */
const TIMEOUT_MS = 600_000;

/** More differences than these only hide each other. */
const MAX_SHOWN = 25;

type Options = Required<Pick<History, 'zone' | 'currency' | 'seed' | 'shards' | 'published' | 'doubts'>> & {
  /** The day of the first acquisitions. */
  start: string;
  /** Asks every n-th question, from this one on. */
  every?: number;
  first?: number;
};

/**
 * A second count of every report, as JSON and as CSV: of a history, after its raw events were exported, after late events, after corrections of
 * costs and exchange rates, and after another export.
 */
export function describeSecondCount({
  zone,
  currency,
  seed,
  shards,
  published,
  doubts,
  start,
  every = 1,
  first = 0,
}: Options): void {
  const worker = startWorker();
  const moved = (day: string) => plusDays(start, (Date.parse(day) - Date.parse(PERIOD.from)) / (24 * HOUR));
  const period = { from: plusDays(start, -1), to: plusDays(start, DAYS + 1) };
  let costs: Cost[] = COSTS.map((cost) => ({ ...cost, date: moved(cost.date) }));
  let rates: Rates[] = published.map((own) => ({ ...own, date: moved(own.date) }));
  let tenant: Tenant;
  let ids: World['ids'];
  let history: { sent: Sent[]; sendRest: () => Promise<void> };

  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(start) + 2 * DAYS * 24 * HOUR + 8 * HOUR });
    const made = await startTenant(worker, { zone, currency, shards, doubts });
    tenant = made.tenant;
    history = await startHistory(worker, tenant, {
      creativeTokens: made.creatives.map(({ token }) => token),
      ...{ seed, start, zone, days: DAYS, devices: DEVICES, currencies: CURRENCIES, keepsSome: true },
      excludesDoubted: doubts === 'exclude',
    });
    await uploadRates(worker, tenant, rates);
    await changeCosts(worker, tenant, 'PUT', costs);
    const { results } = await env.DB.prepare(
      `SELECT creatives.id AS creative, adset_id AS adset, campaign_id AS campaign FROM creatives
       JOIN adsets ON adsets.id = adset_id WHERE creatives.application_id = ?`,
    )
      .bind(tenant.application.id)
      .all<World['ids'][number]>();
    ids = made.creatives.flatMap(({ id }) => results.filter(({ creative }) => creative === id));
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  let turn = 0;
  /** Asks all questions or, if there are further steps that ask them, a third of them. */
  async function expectNoDifference(part = 3): Promise<void> {
    const world: World = {
      ...{ zone, currency, ids, costs, published: rates },
      today: localDay(zone, Date.now()),
      sent: history.sent.filter(isCounted),
    };
    const differences: string[] = [];
    turn++;
    for (const [index, question] of questionsOf(world, period).entries()) {
      if (index % (every * part) === (turn % part) * every + first)
        differences.push(...(await differencesOf(worker, tenant, world, question)));
    }
    expect(differences.slice(0, MAX_SHOWN).join('\n'), `${differences.length} differences`).toBe('');
  }

  /** Lets two hours pass, after which every raw event is in a file and none in a counter. */
  async function exportAll(): Promise<void> {
    const files = await objectsOf(tenant.application.id);
    vi.setSystemTime(Date.now() + 2 * HOUR);
    for (const counter of countersOf(env, tenant.application.id, shards)) {
      await runInDurableObject(counter, (own: Counter) => own.alarm());
      expect((await counter.health()).hotEvents).toBe(0);
    }
    expect(await objectsOf(tenant.application.id)).not.toEqual(files);
  }

  it('of what was counted', () => expectNoDifference(1), TIMEOUT_MS);

  it(
    'after the export of raw events',
    async () => {
      await exportAll();
      await expectNoDifference();
    },
    TIMEOUT_MS,
  );

  it(
    'after late events',
    async () => {
      const before = history.sent.length;
      await history.sendRest();
      expect(history.sent.length).toBeGreaterThan(before * 1.2);
      await expectNoDifference();
    },
    TIMEOUT_MS,
  );

  it(
    'after corrections of exchange rates',
    async () => {
      rates = rates.map((own, index) => ({
        ...own,
        rates: Object.fromEntries(
          Object.entries(own.rates).map(([code, rate]) => [code, Number(rate) * (index + 2)]),
        ),
      }));
      await uploadRates(worker, tenant, rates);
      await expectNoDifference();
    },
    TIMEOUT_MS,
  );

  it(
    'after corrections of costs',
    async () => {
      costs = costs.map((cost, index) => (index % 2 === 0 ? { ...cost, amount: cost.amount + 7.5 } : cost));
      await changeCosts(worker, tenant, 'PUT', costs);
      const [first, ...rest] = costs;
      if (!first) throw new Error('there are costs');
      const { amount: _, currency: code, ...names } = first;
      await changeCosts(worker, tenant, 'DELETE', [names]);
      costs = rest;
      // What came as a total comes by country, and the other way round: either replaces the other.
      const isOf = (campaign: string, day: string) => (cost: Cost) =>
        cost.date === moved(day) && cost.campaign === campaign && cost.adset === undefined;
      const [total] = costs.filter(isOf('Autumn', '2026-03-29'));
      const parts = costs.filter(isOf('Spring', '2026-03-30'));
      const [part] = parts;
      if (!total || !part) throw new Error('there is a total and its parts');
      const others = [
        { ...total, country: 'DE', amount: 300 },
        { ...total, country: 'IN', amount: 450 },
        { date: part.date, campaign: part.campaign, currency: 'usd', amount: 9 },
      ];
      await changeCosts(worker, tenant, 'PUT', others);
      costs = [...costs.filter((cost) => cost !== total && !parts.includes(cost)), ...others];
      await expectNoDifference();
    },
    TIMEOUT_MS,
  );

  it(
    'after the export of late events',
    async () => {
      await exportAll();
      await expectNoDifference(1);
    },
    TIMEOUT_MS,
  );
}

/** Four zones ask all questions together. Remove `every` and `first` to ask all of them in each. */
const ZONES = 4;

/** A second count in some of the four time zones that two files share, each with its part of the questions. */
export const describeZones = (histories: readonly Omit<Options, 'every'>[]): void =>
  describe.each(histories)('no report in $zone differs from a second count', (history) => {
    describeSecondCount({ ...history, every: ZONES });
  });
