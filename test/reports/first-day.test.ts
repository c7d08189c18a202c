import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { addDays } from '#lib/time';
import { findFirstDay } from '#reports';
import { addFigures } from '../helpers/figures.ts';
import { putCosts } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const TODAY = '2026-03-20';
/** The days that a report covers at most. */
const MAX_DAYS = 1_100;

const countOn = ({ application }: Tenant, day: string) =>
  addFigures(env.DB, application.id, 'rollup_daily', [{ creative_id: '', day, currency: '', installs: 1 }]);
const firstDay = ({ application }: Tenant) => findFirstDay(env.DB, application.id, TODAY);

it('is the first day with figures or with costs, of the application alone', async () => {
  const [counted, spent, none] = [await createTenant(), await createTenant(), await createTenant()];
  await countOn(counted, '2026-03-02');
  await countOn(counted, '2026-03-05');
  await putCosts(worker, spent, [{ date: '2026-02-10', campaign: 'Spring', amount: 1 }]);
  expect(await firstDay(counted)).toBe('2026-03-02');
  expect(await firstDay(spent)).toBe('2026-02-10');
  expect(await firstDay(none)).toBeNull();
  await putCosts(worker, counted, [{ date: '2026-03-01', campaign: 'Spring', amount: 1 }]);
  expect(await firstDay(counted)).toBe('2026-03-01');
});

it('is no earlier than a report up to today can start', async () => {
  const tenant = await createTenant();
  await countOn(tenant, '2020-01-01');
  const day = (await firstDay(tenant)) ?? '';
  expect(day).toBe(addDays(TODAY, 1 - MAX_DAYS));
  const ask = (from: string) =>
    worker.team(
      tenant,
      `/v1/reports/performance?application_id=${tenant.application.id}&from=${from}&to=${TODAY}&group_by=month`,
    );
  expect((await ask(day)).status).toBe(200);
  expect((await ask(addDays(day, -1))).status).toBe(400);
});
