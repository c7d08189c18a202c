import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Sums, segmentId, UNKNOWN_SEGMENT } from '#catalogue';
import { divideRounded } from '#lib/decimal';
import { addDays } from '#lib/time';
import type { DimensionName } from '../../src/reports/dimensions.ts';
import { RATE_SCALE, RateDigits } from '../../src/reports/engine/converted-sums.ts';
import { readGroupSums } from '../../src/reports/engine/group-sums.ts';
import { GroupTable } from '../../src/reports/engine/group-table.ts';
import type { GroupQuestion } from '../../src/reports/engine/question.ts';
import { PerformanceQuery, reportPerformance } from '../../src/reports/performance.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';
import { addFigures } from '../helpers/figures.ts';
import { LimitedD1 } from '../helpers/limited-d1.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';

// Groups by segment are added up in the Worker, in bounded memory: what is cut off, and how often the blocks are read, changes no sum.

const FIRST = '2026-03-01';
const DAYS = 30;
const CREATIVES = 40;
const COUNTRIES = ['de', 'fr', 'us', 'jp', ''];

let tenant: Tenant;
const db = new LimitedD1(env.DB);

beforeAll(async () => {
  tenant = await createTenant();
  const { id, teamId } = tenant.application;
  const segments = COUNTRIES.map((country) => ({
    ...UNKNOWN_SEGMENT,
    country,
    os: 'android',
    app_version: '1.0',
  }));
  const segmentOf = (own: number) => segments.find((one) => segmentId(one) === own) ?? UNKNOWN_SEGMENT;
  const inserts = [
    env.DB.prepare(
      "INSERT INTO campaigns (id, application_id, name, created_at) VALUES ('cmp_s', ?, 'C', 1)",
    ).bind(id),
    env.DB.prepare(
      "INSERT INTO adsets (id, application_id, campaign_id, name, created_at) VALUES ('ads_s', ?, 'cmp_s', 'S', 1)",
    ).bind(id),
    env.DB.prepare(
      `INSERT INTO creatives (id, application_id, adset_id, name, token, created_at)
       SELECT 'crt_' || value, ?1, 'ads_s', 'Name ' || value, 'segment_sums_' || value, 1 FROM json_each(?2)`,
    ).bind(id, JSON.stringify(Array.from({ length: CREATIVES }, (_, index) => index + 1))),
    env.DB.prepare(
      `INSERT INTO exchange_rates (team_id, day, currency, base, units, worth, updated_at)
       SELECT ?1, value ->> 0, 'eur', 'usd', '1', value ->> 1, 0 FROM json_each(?2)`,
    ).bind(
      teamId,
      JSON.stringify(Array.from({ length: DAYS }, (_, day) => [addDays(FIRST, day), `1.${100 + day}`])),
    ),
  ];
  await env.DB.batch(inserts);
  for (let day = 0; day < DAYS; day++) {
    const additions = new Additions('rollup_daily');
    for (let creative = 0; creative <= CREATIVES; creative++) {
      const key = {
        application_id: id,
        day: addDays(FIRST, day),
        creative_id: creative ? `crt_${creative}` : '',
      };
      for (const [index, segment] of segments.entries()) {
        const own = segmentId(segment);
        additions.add({ ...key, currency: '' }, own, { installs: 1 + index, clicks: day + 1 });
        additions.add({ ...key, currency: 'usd' }, own, {
          impressions: 1 + index,
          ad_revenue: 7 * creative + day,
        });
        additions.add({ ...key, currency: 'eur' }, own, {
          purchases: 1,
          purchase_revenue: 2 ** 50 + creative,
        });
      }
    }
    await addRun(env.DB, { applicationId: id, shard: 0, sequence: day + 1 }, additions, segmentOf);
  }
});

const LAST = addDays(FIRST, DAYS - 1);

const read = (names: DimensionName[], more: Partial<GroupQuestion> = {}) =>
  readGroupSums({ ...env, DB: db.asBinding() }, tenant.application, {
    names,
    from: FIRST,
    to: LAST,
    reporting: 'usd',
    filters: {},
    limit: 1_000,
    ...more,
  });

/** Of all groups, the one that sums up the rest included. */
const addUp = (groups: ReadonlyMap<string, Sums>) => {
  const all = { installs: 0, impressions: 0, adRevenue: 0n, purchases: 0 };
  for (const own of groups.values()) {
    all.installs += own.installs;
    all.impressions += own.impressions;
    all.adRevenue += own.adRevenue ?? 0n;
    all.purchases += own.purchases;
  }
  return all;
};

it('converts each amount at the rate of its day, exactly', async () => {
  const { groups } = await read(['creative', 'country'], {
    filters: { creative_id: ['crt_3'], country: ['fr'] },
  });
  const [own] = [...groups.values()];
  let purchases = 0n;
  for (let day = 0; day < DAYS; day++) purchases += (2n ** 50n + 3n) * BigInt(1100 + day);
  expect(groups.size).toBe(1);
  // Rounded once, at the end: the sum is in thousandths, and a half is rounded up.
  expect(own?.purchaseRevenue).toBe((purchases + 500n) / 1_000n);
  expect(own?.adRevenue).toBe(BigInt(DAYS * 21 + (DAYS * (DAYS - 1)) / 2));
});

it('leaves out what cannot be converted, and lists it by group and in total', async () => {
  const { groups, total } = await read(['country'], { reporting: 'jpy' });
  const missing = new Map<string, bigint>();
  for (const own of groups.values()) {
    expect(own).toMatchObject({ adRevenue: 0n, purchaseRevenue: 0n });
    for (const [currency, amount] of own.unconverted) {
      missing.set(currency, (missing.get(currency) ?? 0n) + amount);
    }
  }
  expect(total.unconverted).toEqual(missing);
  expect([...missing.keys()].sort()).toEqual(['eur', 'usd']);
  const days = BigInt(DAYS);
  const creatives = BigInt(CREATIVES + 1);
  const paidSum = BigInt((CREATIVES * (CREATIVES + 1)) / 2);
  expect(missing.get('eur')).toBe(5n * days * (creatives * 2n ** 50n + paidSum));
});

describe.each<[names: DimensionName[], groups: number]>([
  [['creative', 'country'], (CREATIVES + 1) * COUNTRIES.length],
  [['day', 'country'], DAYS * COUNTRIES.length],
  [['country'], COUNTRIES.length],
  [['day', 'creative'], DAYS * (CREATIVES + 1)],
])('by %j', (names, total) => {
  const filters = names.includes('country') ? {} : { country: ['de', 'us', 'unknown'] };

  slowIt('has the same sums in one pass and in several', async () => {
    const once = await read(names, { filters });
    expect(once.cut?.total ?? once.groups.size).toBe(total);
    for (const maxGroups of [total, Math.ceil(total / 2), Math.ceil(total / 5) + 8]) {
      expect(await read(names, { filters, maxGroups })).toEqual(once);
    }
  });

  it('sums up the groups that are cut off in one row', async () => {
    const whole = await read(names, { filters });
    for (const limit of [1, 3, 50]) {
      const cut = await read(names, { filters, limit });
      expect(cut.total).toEqual(whole.total);
      expect(addUp(cut.groups)).toEqual(addUp(whole.groups));
      if (limit >= total) continue;
      expect(cut.cut).toMatchObject({ total });
      expect(cut.groups.size).toBe(limit + 1);
      for (const [key, sums] of cut.groups)
        if (whole.groups.has(key) && key) expect(sums).toEqual(whole.groups.get(key));
    }
  });
});

it('ranks groups by time, then by revenue', async () => {
  const { groups, cut } = await read(['day', 'creative'], { filters: { country: ['de'] }, limit: 2 });
  expect([...groups.keys()].filter(Boolean).map((key) => JSON.parse(key))).toEqual([
    [LAST, JSON.stringify(['crt_40', 'Name 40'])],
    [LAST, JSON.stringify(['crt_39', 'Name 39'])],
  ]);
  expect(cut?.firstCut).toContain('crt_38');
});

it('gives every group up to the limit its own row, however long the names are', async () => {
  const other = await createTenant();
  const placements = Array.from({ length: 300 }, (_, index) => `${index}`.padEnd(2_000, 'long name '));
  const ads = placements.map((placement) => ({ day: FIRST, placement, currency: 'usd', impressions: 1 }));
  await addFigures(env.DB, other.application.id, 'rollup_ads', ads);
  const { groups, cut } = await readGroupSums({ ...env, DB: db.asBinding() }, other.application, {
    ...{ names: ['placement'], from: FIRST, to: FIRST, reporting: 'usd', filters: {}, limit: 1_000 },
  });
  expect(cut === null).toBe(true);
  expect([...groups.keys()].map((key) => JSON.parse(key)[0]).sort()).toEqual([...placements].sort());
});

it('finds groups by text in their names', async () => {
  const { groups, cut } = await read(['creative', 'country'], { filters: { country: ['de'] }, q: 'nAmE 4' });
  const names = [...groups.keys()].filter(Boolean).map((key) => JSON.parse(JSON.parse(key)[0])[1]);
  expect(names.sort()).toEqual(['Name 4', 'Name 40']);
  expect(cut?.total).toBe(2);
  expect(addUp(groups)).toEqual(addUp((await read(['country'], { filters: { country: ['de'] } })).groups));
});

it('refuses a report that takes too many passes', async () => {
  await expect(
    read(['day', 'creative'], { filters: { country: ['de'] }, maxGroups: 3 }),
  ).rejects.toMatchObject({
    details: [{ path: 'group_by', message: expect.stringContaining('has more than 48 groups') }],
  });
});

it('reads no more than D1 returns in production, in few queries', async () => {
  const limited = new LimitedD1(env.DB);
  const query = PerformanceQuery.parse({
    application_id: tenant.application.id,
    from: FIRST,
    to: LAST,
    group_by: 'creative,country',
  });
  const environment = { ...env, DB: limited.asBinding() };
  const { data } = await reportPerformance(environment, tenant.application, query, Date.parse('2026-04-01'));
  expect(data).toHaveLength((CREATIVES + 1) * COUNTRIES.length);
  expect(limited.queries).toBeLessThan(20);
});

it('rounds half a nano up, even with a rate of infinitely many digits', () => {
  const table = new GroupTable('cohort_revenue');
  const group = table.open();
  // A sixth of a nano, three times, is half a nano.
  const rates = new RateDigits();
  const sixth = rates.add(divideRounded(RATE_SCALE, 6n));
  const sums = [Float64Array.of(1, 1, 1), null, null, null];
  const segments = { values: [], numbers: new Int32Array(3) };
  const chunk = { isOfCosts: false, day: '', size: 3, columns: new Map(), segments, sums };
  table.addEntries(new Int32Array(3).fill(group), chunk, { numbers: new Int32Array(3).fill(sixth), rates });
  expect(table.sumsOf(group).adRevenue).toBe(1n);
});
