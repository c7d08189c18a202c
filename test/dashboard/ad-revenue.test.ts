import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { database, reportedAdRevenue } from '#db';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const PERIOD = 'from=2026-03-01&to=2026-03-05';
const FIELDS = {
  kind: 'max',
  'settings.application': 'com.example.game',
  'settings.platform': 'android',
  'credentials.report_key': 'secret-report-key',
};

it('adds a connector, names what is wrong with one, and shows the difference by day and network', async () => {
  const tenant = await createTenant();
  const admin = await signedIn(worker, tenant.team, 'admin');
  const path = `/ad-revenue?${PERIOD}`;
  expect((await pageOf(await admin.get(path))).cards).toEqual([
    'Ad revenue check',
    'Add AppLovin MAX',
    'Add Unity LevelPlay',
  ]);
  const refused = await pageOf(await admin.post(path, { ...FIELDS, 'settings.platform': 'web' }));
  expect(refused.card('Add AppLovin MAX').texts('.fault')).toEqual([
    'Platform: android, ios or fireos must be one of android, ios, fireos',
  ]);
  const added = await pageOf(await admin.submit(path, FIELDS));
  expect(added.notices).toContain('Added. It runs within a minute.');
  expect(added.text).not.toContain('secret-report-key');
  const list = await worker.team(tenant, `/v1/connectors?application_id=${tenant.application.id}`);
  const { data }: { data: { id: string }[] } = await list.json();
  const id = data[0]?.id ?? '';
  await database(env.DB)
    .insert(reportedAdRevenue)
    .values({
      ...{ applicationId: tenant.application.id, connectorId: id, day: '2026-03-02' },
      ...{ network: 'applovin', impressions: 1_000, revenue: 12_500_000_000 },
    });
  const shown = await pageOf(await admin.get(path));
  expect(shown.card('Arrived and reported').texts('tbody tr td, tbody tr th')).toEqual([
    'Mon 2 Mar',
    ...['applovin', '0', '1,000', '-1,000', '$0.00', '$12.50', '-$12.50'],
  ]);
  expect((await pageOf(await admin.submit(`/ad-revenue/${id}/run?${PERIOD}`))).notices).toContain(
    'It runs within a minute.',
  );
  const removed = await pageOf(await admin.submit(`/ad-revenue/${id}/delete?${PERIOD}`));
  expect(removed.cards).toContain('Ad revenue check');
});

it('lets a viewer see it and change nothing', async () => {
  const tenant = await createTenant();
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  expect((await pageOf(await viewer.get('/ad-revenue'))).cards).toEqual(['Ad revenue check']);
  expect((await viewer.post('/ad-revenue', FIELDS)).status).toBe(403);
});
