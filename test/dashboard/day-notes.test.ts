import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { putCosts } from '../helpers/money.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const PERIOD = 'from=2026-03-02&to=2026-03-10&compare=none';
/** Longer than the texts of a chart. */
const LONG = 'Prices raised in Germany, Austria and Switzerland <b>';

let tenant: Tenant;
let browser: Browser;
let creativeId: string;

beforeAll(async () => {
  tenant = await createTenant();
  browser = await signedIn(worker, tenant.team, 'viewer');
  ({ id: creativeId } = await createCreative(worker, tenant, { campaign: 'Spring' }));
  const figures = { creative_id: creativeId, currency: 'usd', installs: 3, purchase_revenue: 2_000_000_000 };
  await addFigures(env.DB, tenant.application.id, 'rollup_daily', [
    { ...figures, day: '2026-03-02' },
    { ...figures, day: '2026-03-03' },
    { ...figures, day: '2026-03-09' },
  ]);
  await putCosts(worker, tenant, [
    { date: '2026-03-02', campaign: 'Spring', amount: 1 },
    { date: '2026-03-03', campaign: 'Spring', amount: 1 },
    { date: '2026-03-09', campaign: 'Spring', amount: 1 },
  ]);
  const other = await createTenant();
  for (const [{ application }, day, text] of [
    [tenant, '2026-03-01', 'Before the period'],
    [tenant, '2026-03-03', 'Version 2.3'],
    [tenant, '2026-03-03', LONG],
    [tenant, '2026-03-11', 'After the period'],
    [other, '2026-03-02', 'Of another team'],
  ] as const) {
    const of = application === tenant.application ? tenant : other;
    const body = { application_id: application.id, day, text };
    expect((await worker.team(of, '/v1/notes', { method: 'POST', body })).status).toBe(201);
  }
});

const read = async (path: string) => {
  const answer = await browser.get(`${path}${path.includes('?') ? '&' : '?'}${PERIOD}`);
  expect(answer.status).toBe(200);
  return pageOf(answer);
};
const firstCells = async (path: string, caption: string) =>
  (await read(path)).table(caption).rows.map(([first]) => first);

it.each([
  ['/', 'Figures by day'],
  ['/costs', 'Costs by day'],
  ['/breakdown?by=day', 'Figures by day'],
  ['/creatives/{creative}', 'Figures by day'],
])('stand by their day in the table of %s and in its chart', async (path, caption) => {
  const page = await read(path.replace('{creative}', creativeId));
  const isBreakdown = path.startsWith('/breakdown');
  const newestFirst = ['Mon 9 Mar', `Tue 3 Mar Version 2.3 ${LONG}`, 'Mon 2 Mar'];
  expect(page.table(caption).rows.map(([first]) => first)).toEqual(
    isBreakdown ? newestFirst.toReversed() : newestFirst,
  );
  // The chart of a breakdown compares groups.
  if (isBreakdown) return;
  const notes = page.chart.notes.filter((note) => note.includes('Version 2.3'));
  expect(notes).toEqual([expect.stringMatching(/^Version 2\.3, Prices raised.*…/)]);
});

it('name their day in a row of a week or month', async () => {
  expect(await firstCells('/breakdown?by=week', 'Figures by week')).toEqual([
    `Week of 2 Mar Tue 3 Mar: Version 2.3 Tue 3 Mar: ${LONG}`,
    'Week of 9 Mar',
  ]);
  expect(await firstCells('/?unit=month', 'Figures by month')).toEqual([
    `Mar 2026 Tue 3 Mar: Version 2.3 Tue 3 Mar: ${LONG}`,
  ]);
});

it('are not repeated in each of several rows of a day', async () => {
  expect(new Set(await firstCells('/breakdown?by=day&and=campaign', 'Figures by day and campaign'))).toEqual(
    new Set(['Mon 2 Mar', 'Tue 3 Mar', 'Mon 9 Mar']),
  );
});

it('stand by the first hour of their day in a table by hour', async () => {
  const own = await createTenant();
  const reader = await signedIn(worker, own.team, 'viewer');
  const day = new Date().toISOString().slice(0, 10);
  const at = (hour: string) => `${day}T${hour}:00:00+00:00`;
  await addFigures(env.DB, own.application.id, 'rollup_daily', [
    { day, creative_id: '', currency: 'usd', installs: 2 },
  ]);
  await addFigures(env.DB, own.application.id, 'rollup_hours', [
    { day, hour: at('02'), creative_id: '', currency: 'usd', installs: 1 },
    { day, hour: at('05'), creative_id: '', currency: 'usd', installs: 1 },
  ]);
  const note = { application_id: own.application.id, day, text: 'Version 3' };
  expect((await worker.team(own, '/v1/notes', { method: 'POST', body: note })).status).toBe(201);
  for (const sort of ['hour', '-hour']) {
    const page = await pageOf(await reader.get(`/breakdown?by=hour&from=${day}&to=${day}&sort=${sort}`));
    const cells = page.table('Figures by hour').rows.map(([first]) => first);
    expect(cells.sort()).toEqual([
      expect.stringMatching(/, 02:00 Version 3$/),
      expect.stringMatching(/, 05:00$/),
    ]);
  }
});

it('are said to be saved and removed', async () => {
  const own = await createTenant();
  const admin = await signedIn(worker, own.team, 'admin');
  const said = async (answer: Response) => (await pageOf(answer)).text;
  const added = await admin.submit('/notes', { day: '2026-03-03', text: 'Version 3' });
  expect(await said(added)).toContain('Saved.');
  const { data } = await (await worker.team(own, `/v1/notes?application_id=${own.application.id}`)).json<{
    data: { id: string }[];
  }>();
  const removed = await admin.submit(`/notes/${data[0]?.id}/remove`);
  expect(await said(removed)).toContain('Removed.');
});
