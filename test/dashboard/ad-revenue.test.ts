import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { database, reportedAdRevenue } from '#db';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const PERIOD = 'from=2026-03-01&to=2026-03-05';

it('shows the difference by day and network once there is a connector', async () => {
  const tenant = await createTenant();
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  const path = `/ad-revenue?${PERIOD}`;
  expect((await pageOf(await viewer.get(path))).cards).toEqual(['Ad revenue check']);
  const added = await worker.team(tenant, '/v1/connectors', {
    method: 'POST',
    body: {
      ...{ application_id: tenant.application.id, kind: 'max' },
      settings: { application: 'com.example.game', platform: 'android' },
      credentials: { report_key: 'secret-report-key' },
    },
  });
  const { id } = await added.json<{ id: string }>();
  await database(env.DB)
    .insert(reportedAdRevenue)
    .values({
      ...{ applicationId: tenant.application.id, connectorId: id, day: '2026-03-02' },
      ...{ network: 'applovin', impressions: 1_000, revenue: 12_500_000_000 },
    });
  const shown = await pageOf(await viewer.get(path));
  expect(shown.card('Arrived and reported').texts('tbody tr td, tbody tr th')).toEqual([
    'Mon 2 Mar',
    ...['AppLovin', '0', '1,000', '-1,000', '$0.00', '$12.50', '-$12.50'],
  ]);
});
