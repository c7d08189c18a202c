import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { packEvents } from '#counting';
import { newId } from '#lib/ids';
import { addDays, DAY_MS } from '#lib/time';
import { eventOf, installOf, newDevice, startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pick, seededRandom } from '../helpers/random.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const TODAY = new Date().toISOString().slice(0, 10);
const day = (ago: number) => addDays(TODAY, -ago);

type Row = Record<string, number | string | null>;

async function ask(tenant: Tenant, query = '', from = day(60), to = TODAY) {
  const answer = await worker.team(
    tenant,
    `/v1/reports/predicted-ltv?application_id=${tenant.application.id}&from=${from}&to=${to}&${query}`,
  );
  return { status: answer.status, body: (await answer.json()) as { data: Row[]; message?: string } & Row };
}

/** Devices acquired `ago` days ago. `payers` of them purchase occasionally, some of them on many days. */
async function sendCohort(
  tenant: Tenant,
  options: {
    ago: number;
    devices: number;
    payers: number;
    creativeId?: string;
    currency?: string;
    once?: boolean;
  },
) {
  const { ago, devices, payers, creativeId = null, currency = 'usd', once = false } = options;
  const random = seededRandom(ago + devices);
  const counter = startCounter(tenant.application.id);
  const acquiredDay = day(ago);
  const made = Array.from({ length: devices }, () =>
    newDevice({ acquiredDay, acquiredAt: Date.parse(`${acquiredDay}T10:00:00Z`), creativeId }),
  );
  const installs = made.map((device) => installOf(tenant.application.id, device));
  await counter.stub().createOrFindDevices(
    1,
    made.map((device) => ({ alias: null, device })),
    packEvents(tenant.application.id, installs),
  );
  const events: LoggedEvent[] = [];
  let revenue = 0;
  for (const device of made.slice(0, payers)) {
    const leaves = once ? 1 : 0.05 + 0.3 * random();
    for (let age = Math.floor(Math.min(5, ago) * random()); age <= ago; age += 1 + Math.floor(8 * random())) {
      const value = pick(random, [1.99, 4.99, 9.99]);
      revenue += value;
      events.push(
        eventOf(tenant.application.id, device, 'custom.purchase', {
          id: newId('evt'),
          day: addDays(acquiredDay, age),
          occurred_at: Date.parse(`${acquiredDay}T12:00:00Z`) + age * DAY_MS,
          value_nanos: Math.round(value * 1e9),
          currency,
        }),
      );
      if (random() < leaves) break;
    }
  }
  await counter.append(events);
  // A report waits two seconds for them to be counted, which a busy machine exceeds.
  await settleAll(tenant.application.id);
  return { revenue };
}

describe('GET /v1/reports/predicted-ltv', () => {
  it('predicts a cohort’s purchases, more over a longer time, with an interval', async () => {
    const tenant = await createTenant();
    const creative = await createCreative(worker, tenant, {
      campaign: 'Spring',
      adset: 'Young',
      creative: 'Cat',
    });
    const paid = await sendCohort(tenant, { ago: 40, devices: 400, payers: 100, creativeId: creative.id });
    const organic = await sendCohort(tenant, { ago: 30, devices: 300, payers: 60 });
    const { status, body } = await ask(tenant, 'horizon_days=30');
    expect(status, JSON.stringify(body)).toBe(200);
    const [row = {}] = body.data;
    expect(body).toMatchObject({ horizon_days: 30, currency: 'usd', rate_day: TODAY, total_rows: 1 });
    expect(row).toMatchObject({
      cohort_from: day(60),
      cohort_to: TODAY,
      size: 700,
      payers: 160,
      reason: null,
    });
    expect(row.revenue).toBeCloseTo(paid.revenue + organic.revenue, 6);
    const { predicted_revenue_low: low, predicted_revenue: middle, predicted_revenue_high: high } = row;
    expect([0, low, middle, high].toSorted((a, b) => Number(a) - Number(b))).toEqual([0, low, middle, high]);
    expect(row.predicted_ltv).toBeCloseTo((Number(row.revenue) + Number(middle)) / 700, 9);
    expect(row.predicted_ltv_low).toBeCloseTo((Number(row.revenue) + Number(low)) / 700, 9);
    const [longer = {}] = (await ask(tenant, 'horizon_days=180')).body.data;
    expect(Number(longer.predicted_revenue)).toBeGreaterThan(Number(middle));

    const groups = (await ask(tenant, 'group_by=campaign&horizon_days=30')).body.data;
    expect(groups.map(({ campaign, size, reason }) => ({ campaign, size, reason }))).toEqual([
      { campaign: 'Spring', size: 400, reason: null },
      { campaign: null, size: 300, reason: null },
    ]);
    const days = (await ask(tenant, 'cohort=day')).body.data;
    expect(days.map(({ cohort_from, size }) => [cohort_from, size])).toEqual([
      [day(40), 400],
      [day(30), 300],
    ]);
    // Everything without a row of its own is in one row.
    const limited = (await ask(tenant, 'cohort=day&limit=1')).body;
    expect(limited.data.map(({ size, is_other }) => [size, is_other])).toEqual([
      [300, undefined],
      [400, true],
    ]);
    expect(limited.total_rows).toBe(2);
    const organicOnly = (await ask(tenant, 'attribution=organic')).body.data;
    expect(organicOnly.map(({ size }) => size)).toEqual([300]);
  });

  it.each([
    { reason: 'too_young', cohort: { ago: 3, devices: 80, payers: 70 } },
    { reason: 'too_few_payers', cohort: { ago: 30, devices: 100, payers: 49 } },
    { reason: 'too_few_repeat_payers', cohort: { ago: 30, devices: 100, payers: 80, once: true } },
    { reason: 'unconverted_amounts', cohort: { ago: 30, devices: 100, payers: 80, currency: 'eur' } },
  ])('makes no prediction and says why: $reason', async ({ reason, cohort }) => {
    const tenant = await createTenant();
    await sendCohort(tenant, cohort);
    const { body } = await ask(tenant);
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      size: cohort.devices,
      payers: cohort.payers,
      reason,
      predicted_purchases: null,
      predicted_revenue: null,
      predicted_ltv: null,
    });
    expect(body.data[0]?.revenue === null).toBe(reason === 'unconverted_amounts');
  });

  it('predicts nothing without devices', async () => {
    expect((await ask(await createTenant())).body).toMatchObject({ data: [], total_rows: 0 });
  });

  it.each([
    ['horizon_days=0', 'horizon_days must be a whole number of days from 1 to 1095'],
    ['horizon_days=1.5', 'horizon_days must be a whole number of days from 1 to 1095'],
    ['limit=51', 'limit must be a whole number from 1 to 50'],
    ['group_by=item', 'group_by must be one of creative, adset, campaign, country, os, app_version'],
    ['cohort=year', 'cohort must be one of day, week, month, all'],
    ['currency=xyz', 'currency must be a currency code (ISO 4217), such as eur'],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await ask(await createTenant(), query);
    expect(status).toBe(400);
    expect(body.message).toBe(message);
  });
});
