import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { alertText, listAlerts, readFiringGroups } from '#alerts';
import { alerts, database } from '#db';
import migration from '../../migrations/0028_alert_history.sql?raw';
import { createTenant } from '../helpers/tenant.ts';

const db = database(env.DB);
const SINCE = Date.UTC(2026, 2, 28, 9, 30);

it('turns the alerts of earlier kinds into alerts on a metric, which keep firing', async () => {
  const { application } = await createTenant();
  const KINDS = [
    ['revenue_change', 30],
    ['installs_change', 40],
    ['cpi_above', 2],
    ['roas_below', 50],
    ['spend_without_installs', 20],
    ['no_events', 1],
  ] as const;
  for (const [index, [kind, threshold]] of KINDS.entries()) {
    await db.insert(alerts).values({
      ...{ id: `alr_${index}`, applicationId: application.id, kind, threshold, nextCheckAt: 0, createdAt: 0 },
      firingSince: index === 1 ? null : SINCE,
    });
  }
  const updates = migration.split('--> statement-breakpoint').filter((sql) => /^\s*UPDATE/.test(sql));
  await env.DB.batch(updates.map((sql) => env.DB.prepare(sql)));
  const rows = await listAlerts(db, application.id);
  const fires = { '': { name: '', since: SINCE, day: '2026-03-28' } };
  expect(
    rows.map((row) => [alertText(row, 'usd'), row.threshold, readFiringGroups(row.firingGroups)]),
  ).toEqual([
    ['Revenue over the last day changes by more than 30% from the same weekdays before', 30, fires],
    ['Installs over the last day changes by more than 40% from the same weekdays before', 40, {}],
    ['CPI over the last 7 days is above $2.00', 2, fires],
    ['ROAS over the last 7 days is below 50%', 50, fires],
    ['Installs by campaign over the last day is below 1, with at least $20.00 of spend', 1, {}],
    ['No events arrive for 1 hour', 1, fires],
  ]);
});
