import { expect, it } from 'vitest';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

it('counts a device and a payer of a day under the version of the latest event, over runs that come in any order', async () => {
  const tenant = await createTenant({ timezone: 'Asia/Kolkata' });
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00Z', app_version: '1.0' });
  /** Counted at once, in a run of its own. */
  const send = async (events: object[]) => {
    const answer = await worker.post(tenant, '/webhook/batch', { events });
    expect(await answer.json()).toMatchObject({ rejected: 0 });
    await worker.deliver(worker.queue.take());
    await settleAll(tenant.application.id);
  };
  const at = (time: string, app_version?: string) => ({ created_at: `2026-03-${time}`, app_version });
  const figures = async () => {
    const query = 'from=2026-03-02&to=2026-03-02&group_by=day,app_version';
    const answer = await worker.team(
      tenant,
      `/v1/reports/performance?application_id=${tenant.application.id}&${query}`,
    );
    const { data }: { data: { app_version: string; dau: number; payers: number; purchases: number }[] } =
      await answer.json();
    return data
      .map(({ app_version, dau, payers, purchases }) => ({ app_version, dau, payers, purchases }))
      .sort((left, right) => left.app_version.localeCompare(right.app_version));
  };

  await send([envelope.purchase(token, at('02 12:00:00', '2.0'))]);
  expect(await figures()).toEqual([{ app_version: '2.0', dau: 1, payers: 1, purchases: 1 }]);
  // Events that come later, but happened before, or the other way round. In UTC, this one is of another day.
  await send([envelope.purchase(token, at('01 23:00:00'))]);
  expect(await figures()).toEqual([
    { app_version: '1.0', dau: 0, payers: 0, purchases: 1 },
    { app_version: '2.0', dau: 1, payers: 1, purchases: 1 },
  ]);
  await send([envelope.ad(token, at('02 12:00:01'))]);
  expect(await figures()).toEqual([
    { app_version: '1.0', dau: 1, payers: 0, purchases: 1 },
    { app_version: '2.0', dau: 0, payers: 1, purchases: 1 },
  ]);
  await send([envelope.purchase(token, at('02 12:00:02', '3.0'))]);
  expect(await figures()).toEqual([
    { app_version: '1.0', dau: 0, payers: 0, purchases: 1 },
    { app_version: '2.0', dau: 0, payers: 0, purchases: 1 },
    { app_version: '3.0', dau: 1, payers: 1, purchases: 1 },
  ]);
});
