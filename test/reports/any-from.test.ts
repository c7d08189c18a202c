import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { addDays } from '#lib/time';
import { LtvQuery, PerformanceQuery, reportLtv, reportPerformance } from '#reports';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { putCosts, putRates } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Devices that earned before their acquisition, too, in currencies whose rates change on most days. What a row says of its day does not depend on
// the day on which the asked period begins.

const [START, TO] = ['2026-03-01', '2026-03-20'];
const NOW = Date.UTC(2026, 3, 10, 12);
const NANOS = 1e9;
const ACQUIRED = [0, 2, 3, 7, 12];
const CURRENCIES = ['eur', 'jpy', 'sek'];
const dayAt = (number: number) => addDays(START, number);

let tenant: Tenant;

beforeAll(async () => {
  const worker = startWorker();
  tenant = await createTenant();
  const { id: creative_id } = await createCreative(worker, tenant, { creative: 'Cat', campaign: 'Campaign' });
  for (let day = -12; day <= 20; day++) {
    // Some days have no rate, and one currency has none before most acquisitions.
    if (day % 5 === 3) continue;
    const rates = { eur: 1 + (day + 20) / 100, jpy: 0.01 + (day + 20) / 10_000 };
    const all = day < 2 ? rates : { ...rates, sek: 0.1 + day / 1_000 };
    await putRates(worker, tenant, dayAt(day), all);
  }
  const { id } = tenant.application;
  const cohorts = ACQUIRED.map((number) => ({ acquired_day: dayAt(number), creative_id }));
  await addFigures(
    env.DB,
    id,
    'rollup_daily',
    cohorts.map(({ acquired_day: day }) => ({ day, creative_id, installs: 9, active_devices: 9 })),
  );
  const active = cohorts.map((own) => ({ ...own, age: 0, active_devices: 9, last_active_devices: 9 }));
  await addFigures(env.DB, id, 'cohort_activity', active);
  await addFigures(
    env.DB,
    id,
    'cohort_revenue',
    ACQUIRED.flatMap((number) =>
      [-11, -8, -4, -1, 0, 2, 5].map((age, index) => ({
        ...{ acquired_day: dayAt(number), creative_id, day: dayAt(number + age) },
        ...{
          currency: CURRENCIES[(number + index) % 3] ?? '',
          purchase_revenue: (1 + number + index) * NANOS,
        },
      })),
    ),
  );
  await putCosts(
    worker,
    tenant,
    cohorts.map(({ acquired_day: date }) => ({ date, campaign: 'Campaign', currency: 'eur', amount: 7 })),
  );
});

const METRICS = 'roas,roas_blended,roas_net,spend,ltv_d0,ltv_d3,roas_d3';

type Rows = Promise<ReadonlyMap<string, object>>;

/** The rows of a period until `TO`, by their day. */
async function performanceFrom(from: string): Rows {
  const of = { application_id: tenant.application.id, from, to: TO };
  const query = PerformanceQuery.parse({ ...of, group_by: 'day', metrics: METRICS });
  const { data } = await reportPerformance(env, tenant.application, query, NOW);
  return new Map(data.map((row): [string, object] => [row.day ?? '', row]));
}

async function ltvFrom(from: string, more: object = {}): Rows {
  const of = { application_id: tenant.application.id, from, to: TO };
  const query = LtvQuery.parse({ ...of, cohort: 'day', days: '0,3,7', ...more });
  const { data } = await reportLtv(env, tenant.application, query, NOW);
  return new Map(data.map((row): [string, object] => [row.cohort_from ?? '', row]));
}

const REPORTS: Record<string, (from: string) => Rows> = {
  performance: performanceFrom,
  ltv: ltvFrom,
  'net ltv in euros': (from) => ltvFrom(from, { net: 'true', currency: 'eur' }),
};

it.each(Object.entries(REPORTS))(
  '%s converts what was earned on any day, wherever the period begins',
  async (_, rowsFrom) => {
    const all = await rowsFrom(START);
    for (const first of ACQUIRED.flatMap((number) => [number - 1, number])) {
      const rows = await rowsFrom(dayAt(first));
      expect(rows.size).toBeGreaterThan(0);
      for (const [day, row] of rows) expect({ first, row }).toEqual({ first, row: all.get(day) });
    }
  },
);

it('leaves out only what no rate of its day or an earlier one converts', async () => {
  const row = (await ltvFrom(dayAt(12))).get(dayAt(12));
  expect(row).not.toHaveProperty('days.7.unconverted');
  const early = (await ltvFrom(START)).get(START);
  expect(early).toHaveProperty('days.7.unconverted', [expect.objectContaining({ currency: 'sek' })]);
});
