import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { WatchedD1 } from '../helpers/d1.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const watched = new WatchedD1(env.DB);
const worker = startWorker({ DB: watched.asBinding() });
/** What a browser sends when someone opens an address. */
const OPENED = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let tenant: Tenant;
let admin: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  admin = await signedIn(worker, tenant.team, 'admin');
});

afterEach(() => vi.restoreAllMocks());

const open = (path: string, cookie = admin.cookie) =>
  worker.request(path, { headers: { ...OPENED, Cookie: cookie } });

const NO_PAGE = 'Page not found.';

it.each([
  ['/dashboard/nope', NO_PAGE],
  ['/creativs', NO_PAGE],
  ['/settings/nope', NO_PAGE],
  ['/docs/nope', NO_PAGE],
  ['/creatives/crv_unknown', 'Creative not found.'],
  ['/settings/applications/app_unknown', 'Application not found.'],
  ['/debugger/device?device_id=unknown', 'Device not found.'],
  ['/debugger/device?device_id=dev_0192c6a0b7d07cc5a1f2a3b4c5d6e7f8', 'Device not found.'],
  ['/debugger/event?id=evt_unknown', 'Event not found.'],
  ['/retention?app=app_unknown', 'Application not found.'],
])('shows in the frame of the dashboard that %s does not exist', async (path, message) => {
  const answer = await open(path);
  expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([404, 'no-store']);
  const page = await pageOf(answer);
  expect([page.texts('h1'), page.error]).toEqual([['Not found'], message]);
  expect(page.link('Go to the overview')).toBe('/');
  expect([page.all('.side-nav a').length > 10, page.texts('.side-nav [aria-current]')]).toEqual([true, []]);
});

it.each(['/dashboard/nope', '/creativs', '/settings/nope/'])(
  'shows someone who is not signed in that %s does not exist',
  async (path) => {
    const answer = await open(path, '');
    expect(answer.status).toBe(404);
    const page = await pageOf(answer);
    expect([page.error, page.link('Go to the sign-in')]).toEqual([NO_PAGE, '/']);
    expect(page.all('.side-nav')).toEqual([]);
  },
);

it.each([
  ['GET', '/dashboard/nope', {}, { success: false, error: 'Not found' }],
  ['POST', '/dashboard/nope', OPENED, { success: false, error: 'Not found' }],
  ['GET', '/v1/nope', OPENED, { message: 'Not found' }],
])('answers %s %s with JSON as the APIs do', async (method, path, headers, body) => {
  const answer = await worker.request(path, { method, headers: headers as Record<string, string> });
  expect([answer.status, await answer.json()]).toEqual([404, body]);
});

it('shows in the frame that a page failed, with the id that the log has, and nothing of the cause', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue();
  watched.failOn(/from "alerts"/, 'D1_ERROR: no such table: hidden_detail');
  const answer = await open('/alerts');
  expect(answer.status).toBe(500);
  const page = await pageOf(answer);
  expect([page.texts('h1'), page.error]).toEqual([['Something went wrong'], 'This page could not be shown.']);
  expect(page.text).not.toContain('hidden_detail');
  expect(page.all('.side-nav a').length).toBeGreaterThan(10);
  const id = page.texts('p.muted').at(-1)?.replace('Request id: ', '') ?? '';
  expect(id).toMatch(/^[\w-]{30,}$/);
  expect(log.mock.calls.flat().some((line) => line.includes(id) && line.includes('hidden_detail'))).toBe(
    true,
  );
  expect((await open('/alerts')).status).toBe(200);
});

it('shows without the frame that the sign-in could not be checked', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  watched.failOn(/from "members"/, 'D1_ERROR: overloaded');
  const answer = await open('/alerts');
  expect(answer.status).toBe(500);
  const page = await pageOf(answer);
  expect([page.error, page.all('.side-nav')]).toEqual(['This page could not be shown.', []]);
});

it('shows a guest of a share link that its page failed, without the frame', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const address = `/ltv?app=${tenant.application.id}`;
  const made = await pageOf(await admin.submit('/views/links', { address, note: 'The board', days: '7' }));
  const link = new URL(made.one('.notice code').text).pathname;
  watched.failOn(/from "applications"/, 'D1_ERROR: overloaded');
  const answer = await open(link, '');
  expect(answer.status).toBe(500);
  const page = await pageOf(answer);
  expect([page.error, page.all('.side-nav')]).toEqual(['This page could not be shown.', []]);
  expect((await open(link, '')).status).toBe(200);
});
