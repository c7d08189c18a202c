import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { addFigures } from '../helpers/figures.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// The week around New Year belongs to the ISO year that holds its Thursday, in every report.

const worker = startWorker();

/** The Monday of each week, its ISO name, and a day before and after New Year in it. Source: ISO 8601 calendars. */
const YEARS = [
  { week: '2020-W53', before: '2020-12-31', after: '2021-01-03', next: '2021-W01', nextDay: '2021-01-04' },
  { week: '2025-W01', before: '2024-12-30', after: '2025-01-05', next: '2025-W02', nextDay: '2025-01-06' },
  { week: '2026-W01', before: '2025-12-29', after: '2026-01-04', next: '2026-W02', nextDay: '2026-01-05' },
];

it.each(YEARS)('puts $before and $after into $week', async ({ week, before, after, next, nextDay }) => {
  const tenant = await createTenant();
  const days = [
    [before, 1],
    [after, 2],
    [nextDay, 4],
  ] as const;
  const { id } = tenant.application;
  const events = days.map(([day, count]) => ({
    ...{ day, event_name: 'level', creative_id: '' },
    custom_events: count,
  }));
  await addFigures(env.DB, id, 'rollup_custom', events);
  const devices = days.map(([day, count]) => ({
    ...{ acquired_day: day, creative_id: '', age: 0 },
    active_devices: count,
    last_active_devices: count,
  }));
  await addFigures(env.DB, id, 'cohort_activity', devices);
  const read = async (path: string) => {
    const query = `application_id=${tenant.application.id}&from=${before}&to=${nextDay}`;
    const answer = await worker.team(tenant, `/v1/reports/${path}&${query}`);
    expect(answer.status).toBe(200);
    return (await answer.json<{ data: Record<string, unknown>[] }>()).data;
  };
  const performance = await read('performance?group_by=week,event_name');
  expect(performance.map(({ week: name, events }) => [name, events])).toEqual([
    [week, 3],
    [next, 4],
  ]);
  const retention = await read('retention?cohort=week&days=0');
  expect(retention).toMatchObject([
    { cohort_from: before, cohort_to: after, size: 3 },
    { cohort_from: nextDay, cohort_to: nextDay, size: 4 },
  ]);
});
