import { beforeAll } from 'vitest';
import { testBounds } from '../helpers/bounds.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { makePostback, store } from './postbacks.ts';

// A report has the postbacks of its days, on the application's calendar, and none of the days beside them.

const worker = startWorker();
const ZONES = { 'Asia/Tokyo': 9, 'America/New_York': -5, UTC: 0, 'Pacific/Kiritimati': 14 };
let app = 77_000;
const tenants = new Map<string, { tenant: Tenant; appId: string }>();

beforeAll(async () => {
  for (const timezone of Object.keys(ZONES)) {
    const appId = String(++app);
    const tenant = await createTenant({ ios_store_url: `https://apps.apple.com/app/id${appId}`, timezone });
    tenants.set(timezone, { tenant, appId });
  }
});

/** How many postbacks the report of two days has after one has arrived at a time, and by which day it shows that one. */
const reportedAt = (timezone: string) => async (at: number) => {
  const { tenant, appId } = tenants.get(timezone) ?? {};
  if (!tenant || !appId) throw new Error('no such zone');
  const sourceIdentifier = String(at % 9_973).padStart(4, '0');
  await store(makePostback({ appId, sourceIdentifier }), at);
  const answer = await worker.team(
    tenant,
    `/v1/reports/skan?application_id=${tenant.application.id}&from=2026-02-10&to=2026-02-11&source_identifier=${sourceIdentifier}`,
  );
  const { data, totals } = await answer.json<{ data: { day: string }[]; totals: { postbacks: number } }>();
  return [totals.postbacks, ...data.map(({ day }) => day)];
};

testBounds(
  'days of a report of postbacks',
  Object.entries(ZONES).flatMap(([zone, hours]) => {
    const midnight = (date: number) => Date.UTC(2026, 1, date) - hours * 3_600_000;
    const ask = reportedAt(zone);
    return [
      {
        name: `the first begins in ${zone}`,
        ...{ at: midnight(10), ask },
        ...{ below: [0], exact: [1, '2026-02-10'], above: [1, '2026-02-10'] },
      },
      {
        name: `the second begins in ${zone}`,
        ...{ at: midnight(11), ask },
        ...{ below: [1, '2026-02-10'], exact: [1, '2026-02-11'], above: [1, '2026-02-11'] },
      },
      {
        name: `the second ends in ${zone}`,
        ...{ at: midnight(12), ask },
        ...{ below: [1, '2026-02-11'], exact: [0], above: [0] },
      },
      {
        name: `a day after in ${zone}`,
        ...{ at: midnight(13), ask },
        ...{ below: [0], exact: [0], above: [0] },
      },
    ];
  }),
);
