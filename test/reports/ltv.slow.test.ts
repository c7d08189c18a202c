import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addDays } from '#lib/time';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { putCosts, putRates } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import type { Sent } from '../oracle/history.ts';
import * as naive from '../oracle/naive.ts';
import { askReport, expectFigures, type Row } from '../oracle/setup.ts';

// Lifetime value of cohorts of which some days are not over, against its definition.

const worker = startWorker();
const TODAY = new Date().toISOString().slice(0, 10);
const day = (ago: number) => addDays(TODAY, -ago);
const DAYS = [0, 1, 2, 4, 9];

type Cell = {
  ago: number;
  isPaid: boolean;
  devices: number;
  earned: { age: number; nanos: number; currency: 'usd' | 'eur' }[];
};
type History = { cells: Cell[]; spent: { ago: number; cents: number }[] };

const cell = fc.record({
  ago: fc.integer({ min: 0, max: 8 }),
  isPaid: fc.boolean(),
  devices: fc.integer({ min: 1, max: 5 }),
  earned: fc.array(
    fc.record({
      age: fc.integer({ min: 0, max: 8 }),
      // Whole when they are converted, so that nothing is rounded.
      nanos: fc.integer({ min: 1, max: 1_250_000_000 }).map((quarter) => 4 * quarter),
      currency: fc.constantFrom('usd' as const, 'eur' as const),
    }),
    { maxLength: 6 },
  ),
});
const history: fc.Arbitrary<History> = fc.record({
  cells: fc.array(cell, { minLength: 1, maxLength: 8 }),
  spent: fc.array(
    fc.record({ ago: fc.integer({ min: 0, max: 8 }), cents: fc.integer({ min: 1, max: 900 }) }),
    { maxLength: 4 },
  ),
});

const EURO = 1.25;
const rateOn: naive.RateOn = (currency) => (currency === 'usd' ? [1n, 1n] : [5n, 4n]);

/** Stores a history in the rollups of a new application, and says what was sent. */
async function store({ cells, spent }: History) {
  const tenant = await createTenant();
  const creative = await createCreative(worker, tenant, {
    campaign: 'Spring',
    adset: 'Young',
    creative: 'Cat',
  });
  await putRates(worker, tenant, day(30), { eur: EURO });
  const dated = [...new Map(spent.map((own) => [own.ago, own])).values()];
  if (dated.length > 0) {
    await putCosts(
      worker,
      tenant,
      dated.map(({ ago, cents }) => ({ date: day(ago), campaign: 'Spring', amount: cents / 100 })),
    );
  }
  const sent: Sent[] = [];
  const activity: Parameters<typeof addFigures<'cohort_activity'>>[3][number][] = [];
  const revenue: Parameters<typeof addFigures<'cohort_revenue'>>[3][number][] = [];
  for (const { ago, isPaid, devices, earned } of cells) {
    const key = { acquired_day: day(ago), creative_id: isPaid ? creative.id : '' };
    activity.push({ ...key, age: 0, active_devices: devices, last_active_devices: devices });
    const first = sent.length;
    const event = (device: number, rest: object) =>
      sent.push({
        ...{ device, creative: isPaid ? 0 : null, acquired: day(ago), day: day(ago), at: 0 },
        ...{ type: 'install', payload: {}, country: '', os: '', version: '', firstVersion: '' },
        ...rest,
      } as Sent);
    for (let device = 0; device < devices; device++) event(first + device, {});
    for (const { age, nanos, currency } of earned.filter((own) => own.age <= ago)) {
      const payload = { value: nanos / 1e9, currency, status: 'success' };
      event(first, { type: 'custom.purchase', day: day(ago - age), payload });
      revenue.push({ ...key, day: day(ago - age), currency, purchase_revenue: nanos });
    }
  }
  await addFigures(env.DB, tenant.application.id, 'cohort_activity', activity);
  if (revenue.length > 0) await addFigures(env.DB, tenant.application.id, 'cohort_revenue', revenue);
  const costs = dated.map(({ ago, cents }) => ({
    nanos: BigInt(cents) * 10_000_000n,
    currency: 'usd',
    day: day(ago),
  }));
  return { tenant, sent, costs };
}

type LtvRow = Row & { days: Record<string, Row> };
const ask = async (tenant: Tenant, query: string) => {
  const period = { from: day(8), to: TODAY };
  const { data } = await askReport(worker, tenant, 'ltv', `days=${DAYS.join(',')}&${query}`, period);
  return data as unknown as LtvRow[];
};

function expectRow(row: LtvRow | undefined, sent: Sent[], costs: naive.Amount[] | null, what: string) {
  const size = new Set(sent.map(({ device }) => device)).size;
  expect(row?.size, what).toBe(size);
  const all = Array.from({ length: 10 }, (_, number) =>
    naive.lifetimeValue(sent, costs, number, TODAY, rateOn),
  );
  let before = { ltv: 0, roas: 0 };
  for (const number of DAYS) {
    const found = row?.days[number];
    expectFigures(found, all[number] ?? {}, `day ${number} of ${what}`);
    const { ltv, roas } = { ltv: found?.ltv ?? before.ltv, roas: found?.roas ?? before.roas };
    expect(Number(ltv), `LTV by day ${number}`).toBeGreaterThanOrEqual(before.ltv);
    expect(Number(roas), `ROAS by day ${number}`).toBeGreaterThanOrEqual(before.roas);
    before = { ltv: Number(ltv), roas: Number(roas) };
  }
  const paidBack = all.findIndex(({ roas, eligible }) => (roas ?? 0) >= 1 && eligible * 2 >= size);
  expect(row?.payback_day, what).toBe(paidBack < 0 ? null : paidBack);
}

it('adds up what was earned per device on each day since the acquisition, and never falls', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (generated) => {
      const { tenant, sent, costs } = await store(generated);
      const [all] = await ask(tenant, '');
      expectRow(all, sent, costs, 'all');
      for (const row of await ask(tenant, 'cohort=week')) {
        const isOwn = (of: string) => of >= String(row.cohort_from) && of <= String(row.cohort_to);
        expectRow(
          row,
          sent.filter(({ acquired }) => isOwn(acquired)),
          costs.filter((cost) => isOwn(cost.day)),
          `the week of ${row.cohort_from}`,
        );
      }
      for (const row of await ask(tenant, 'group_by=campaign')) {
        const isOrganic = row.campaign === null;
        expectRow(
          row,
          sent.filter(({ creative }) => (creative === null) === isOrganic),
          isOrganic ? [] : costs,
          `campaign ${row.campaign}`,
        );
      }
      // The costs state no country, and the devices' is unknown.
      for (const row of await ask(tenant, 'group_by=country')) expectRow(row, sent, costs, 'no country');
      for (const row of await ask(tenant, 'group_by=app_version')) expectRow(row, sent, null, 'a version');
    }),
    { numRuns: 12 },
  );
});

// Ten devices of eight days ago that earned 8 dollars on day 0 and cost 10, and ten of two days ago that cost 20.
const YOUNG: History = {
  cells: [
    { ago: 8, isPaid: true, devices: 10, earned: [{ age: 0, nanos: 8_000_000_000, currency: 'usd' }] },
    { ago: 2, isPaid: true, devices: 10, earned: [] },
  ],
  spent: [
    { ago: 8, cents: 1_000 },
    { ago: 2, cents: 2_000 },
  ],
};

it('does not fall where the devices of fewer days are known', async () => {
  const earned = [
    ...(YOUNG.cells[0]?.earned ?? []),
    { age: 4, nanos: 6_000_000_000, currency: 'usd' as const },
  ];
  const [old, young] = YOUNG.cells;
  if (!old || !young) throw new Error('two cells');
  const { tenant } = await store({ ...YOUNG, cells: [{ ...old, earned }, young] });
  const [row] = await ask(tenant, '');
  // 8 / 20 devices, and 6 / 10 devices from day 2 on; 8 / 30 dollars, and 6 / 10 dollars.
  expect(row?.days[1]).toMatchObject({ eligible: 20, complete: true, revenue: 8, ltv: 0.4 });
  expect(row?.days[1]?.roas).toBeCloseTo(8 / 30, 9);
  expect(row?.days[4]).toMatchObject({ eligible: 10, complete: false, revenue: 14, ltv: 1 });
  expect(row?.days[4]?.roas).toBeCloseTo(8 / 30 + 6 / 10, 9);
  expect(row?.payback_day).toBeNull();
  expect(row?.days[9]).toMatchObject({ eligible: 0, revenue: 0, ltv: null, roas: null });
});

it('finds the day of payback between the days of the answer, for at least half of the devices', async () => {
  // Day 3 is not among the days of the answer.
  const { tenant } = await store({
    cells: [
      { ago: 8, isPaid: true, devices: 3, earned: [{ age: 3, nanos: 5_000_000_000, currency: 'eur' }] },
    ],
    spent: [{ ago: 8, cents: 600 }],
  });
  expect((await ask(tenant, ''))[0]?.payback_day).toBe(3);
  const few = await store({
    cells: [
      { ago: 8, isPaid: true, devices: 3, earned: [{ age: 3, nanos: 5_000_000_000, currency: 'usd' }] },
      { ago: 1, isPaid: true, devices: 4, earned: [] },
    ],
    spent: [{ ago: 8, cents: 100 }],
  });
  expect((await ask(few.tenant, ''))[0]?.payback_day).toBeNull();
  // Of four devices, day 3 is over for two.
  const half = await store({
    cells: [
      { ago: 6, isPaid: true, devices: 2, earned: [{ age: 3, nanos: 4_000_000_000, currency: 'usd' }] },
      { ago: 2, isPaid: true, devices: 2, earned: [] },
    ],
    spent: [{ ago: 6, cents: 100 }],
  });
  expect((await ask(half.tenant, ''))[0]?.payback_day).toBe(3);
  const free = await store({ ...YOUNG, spent: [] });
  expect((await ask(free.tenant, ''))[0]?.payback_day).toBeNull();
});

it('leaves out what has no rate, and says so from its day on', async () => {
  const { tenant } = await store({
    cells: [
      { ago: 8, isPaid: true, devices: 1, earned: [{ age: 0, nanos: 1_000_000_000, currency: 'usd' }] },
    ],
    spent: [{ ago: 8, cents: 50 }],
  });
  const key = { acquired_day: day(8), creative_id: '', currency: 'chf' };
  await addFigures(env.DB, tenant.application.id, 'cohort_revenue', [
    { ...key, day: day(5), purchase_revenue: 7 },
  ]);
  const [row] = await ask(tenant, '');
  expect(row?.days[2]).toMatchObject({ ltv: 1, roas: 2 });
  expect(row?.days[2]).not.toHaveProperty('unconverted');
  expect(row?.days[4]).toMatchObject({
    ...{ revenue: 1, ltv: 1, roas: 2 },
    unconverted: [{ currency: 'chf', amount: 7e-9 }],
  });
  expect(row?.payback_day).toBe(0);
  // Day 9 is not over, so nothing is missing from it.
  expect(row?.days[9]).not.toHaveProperty('unconverted');
  const query = `application_id=${tenant.application.id}&from=${day(8)}&to=${TODAY}&days=2,4,9&format=csv`;
  const csv = await worker.team(tenant, `/v1/reports/ltv?${query}`);
  expect(JSON.parse(csv.headers.get('X-Unconverted') ?? '')).toEqual([{ currency: 'chf', amount: 7e-9 }]);
  const lines = (await csv.text()).trim().split('\r\n');
  expect(lines.map((line) => line.split(',').slice(6).join(','))).toEqual([
    'day,eligible,complete,revenue,ltv,roas,unconverted',
    '2,1,true,1,1,2,',
    '4,1,true,1,1,2,"[{""currency"":""chf"",""amount"":7e-9}]"',
    '9,0,false,0,,,',
  ]);
});

it.each(['campaign', 'adset', 'creative'])(
  'leaves spend on unknown names out of every cohort by %s, and without names too',
  async (group) => {
    const earned = [{ age: 0, nanos: 4_000_000_000, currency: 'usd' as const }];
    const { tenant } = await store({
      cells: [
        { ago: 6, isPaid: true, devices: 3, earned },
        { ago: 6, isPaid: false, devices: 2, earned },
      ],
      spent: [],
    });
    const [known, unknown] = [{ campaign: 'Spring', adset: 'Young', creative: 'Cat' }, 'Nobody'];
    const date = day(6);
    const spend = (rows: readonly object[]) =>
      putCosts(
        worker,
        tenant,
        rows.map((row) => ({ date, campaign: unknown, amount: 8, ...row })),
      );
    await spend([{ ...known, amount: 2 }]);
    const csv = async (limit: number) => {
      const query = `application_id=${tenant.application.id}&from=${day(8)}&to=${TODAY}&format=csv`;
      const answer = await worker.team(
        tenant,
        `/v1/reports/ltv?${query}&days=0,1&group_by=${group}&limit=${limit}`,
      );
      return await answer.text();
    };
    const read = async () => [
      await ask(tenant, `group_by=${group}&limit=1`),
      await ask(tenant, `group_by=${group}`),
      await ask(tenant, `group_by=${group}&attribution=paid`),
      await csv(1),
      await csv(10),
    ];
    const before = await read();
    const [cut] = before as LtvRow[][];
    expect(cut?.map((row) => [row.size, row.is_other ?? false, row.days[1]?.roas])).toEqual([
      [3, false, 2],
      [2, true, null],
    ]);
    await spend([
      { adset: 'Young', creative: 'Cat' },
      { ...known, ...(group === 'campaign' ? { campaign: unknown } : { [group]: unknown }) },
    ]);
    expect(await read()).toEqual(before);
    // Spend on what has a name, but not the one that is grouped by.
    if (group === 'campaign') return;
    await spend([{ campaign: 'Spring' }]);
    expect(await read()).toEqual(before);
  },
);
