import { beforeAll, expect, it } from 'vitest';
import { dashboard } from '../../src/dashboard/app.tsx';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Values of forms and APIs are shown in words.

const worker = startWorker();
let tenant: Tenant;
let owner: Browser;
let admin: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  owner = await signedIn(worker, tenant.team, 'owner');
  admin = await signedIn(worker, tenant.team, 'admin');
});

const open = async (path: string, browser = owner) => pageOf(await browser.get(path));

const PAGES = [
  ...new Set(
    dashboard.routes
      .filter(({ method, path }) => method === 'GET' && !path.includes(':') && path !== '/login')
      .map(({ path }) => path),
  ),
  '/views?for=%2Fltv',
];

it.each(PAGES)('offers no raw value on %s', async (path) => {
  const page = await open(path);
  const raw = page.texts('option, .badge').filter((text) => /^[a-z0-9_.]+$/.test(text));
  expect(raw).toEqual([]);
});

it('names roles wherever it shows them', async () => {
  const members = await open('/settings/members');
  expect(members.texts('#invite option')).toEqual(['Owner', 'Admin', 'Viewer']);
  expect(members.texts('.side-nav .who .muted')).toEqual([`${tenant.team.name} · Owner`]);
  const created = await pageOf(await owner.submit('/settings/members', { note: 'Ann', role: 'viewer' }));
  expect(created.cells('Open invitations', 'Invited', 'Role')).toEqual([['Ann', 'Viewer']]);
  const join = await pageOf(await worker.request(new URL(created.one('.notice code').text).pathname));
  expect(join.texts('form > p')).toEqual(['You are invited to join as Viewer.']);
  // An admin sees an owner's role but cannot change it.
  const roles = (await open('/settings/members', admin)).cells('Members of the team', 'Role').flat();
  expect(roles).toEqual(['Owner', 'Admin Viewer Save']);
  expect((await open('/settings/account', admin)).texts('.card p')[0]).toMatch(/ · Admin of /);
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  expect((await open('/settings/tokens', viewer)).error).toBe(
    'Only the role Admin or above may do this. Ask an owner of your team.',
  );
});

it('names an access token in the audit log, and what was done with it', async () => {
  await worker.team(tenant, '/v1/exchange-rates', {
    method: 'PUT',
    body: { date: '2026-01-05', base: 'usd', rates: { eur: 1.08, gbp: 1.27 } },
  });
  expect((await open('/settings/audit')).cells('Audit log', 'Who', 'What', 'Details')[0]).toEqual([
    'Access token “test”',
    'Uploaded exchange rates',
    '2 rates in usd of 2026-01-05',
  ]);
});

it('narrows the audit log to a person and an action', async () => {
  const whats = async (query: string) => {
    const page = await open(`/settings/audit?${query}`);
    return page.tables.length === 0 ? page.texts('.empty') : page.cells('Audit log', 'What').flat();
  };
  const all = await whats('');
  const rates = await whats('what=exchange_rates.uploaded');
  expect(new Set(rates)).toEqual(new Set(['Uploaded exchange rates']));
  expect(rates.length).toBeLessThan(all.length);
  expect(await whats('who=nobody%40example.test')).toEqual(['Nothing matches.']);
});

it('says whether a token is active', async () => {
  await owner.post('/settings/tokens', { name: 'For good', days: '0' });
  expect((await open('/settings/tokens')).cells('Access tokens', 'Name', 'Expires', 'State')).toEqual([
    ['For good', 'Never', 'Active'],
    ['test', 'Never', 'Active'],
  ]);
});
