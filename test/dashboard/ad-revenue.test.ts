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
  const reported = (day: string, network: string, impressions: number, revenue: number) => ({
    ...{ applicationId: tenant.application.id, connectorId: id, day, network, impressions, revenue },
  });
  await database(env.DB)
    .insert(reportedAdRevenue)
    .values([
      reported('2026-03-02', 'applovin', 1_000, 12_500_000_000),
      reported('2026-03-03', 'applovin', 100, 7_250_000_000),
      reported('2026-03-03', 'unity_ads', 3_000, 20_000_000_000),
    ]);
  const shown = await pageOf(await viewer.get(path));
  const cells = 'tbody tr td, tbody tr th';
  expect(shown.card('Arrived and reported').texts(cells)).toEqual([
    ...['Unity Ads', '0', '3,000', '−3,000', '$0.00', '$20.00', '−$20.00'],
    ...['AppLovin', '0', '1,100', '−1,100', '$0.00', '$19.75', '−$19.75'],
  ]);
  expect(shown.card('By day').texts(cells)).toEqual([
    ...['Tue 3 Mar', 'Unity Ads', '0', '3,000', '−3,000', '$0.00', '$20.00', '−$20.00'],
    ...['Tue 3 Mar', 'AppLovin', '0', '100', '−100', '$0.00', '$7.25', '−$7.25'],
    ...['Mon 2 Mar', 'AppLovin', '0', '1,000', '−1,000', '$0.00', '$12.50', '−$12.50'],
  ]);
});
