import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { dashboard } from '../../src/dashboard/app.tsx';
import { pageOf } from '../helpers/page.ts';
import { cookieOf, FORM, ORIGIN, signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { isThorough } from '../helpers/thorough.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

/** Changes that are requested by a button alone. */
const WITHOUT_FIELDS = new Set([
  '/logout',
  '/login/passkey/challenge',
  '/settings/account/passkeys/:id/remove',
  '/get-started',
  '/settings/applications/:id/key',
  '/settings/tokens/:id/revoke',
  '/settings/tokens/:id/take-over',
  '/settings/members/:id/remove',
  '/settings/members/invitations/:id/withdraw',
  '/status/resume',
  '/creatives/:id/key',
  '/status/:id/replay',
  '/status/:id/discard',
  '/settings/members/:id/password-reset',
  '/alerts/:id/remove',
  '/connectors/:id/run',
  '/connectors/:id/delete',
  '/settings/destinations/:id/test',
  '/settings/destinations/:id/rotate',
  '/settings/destinations/:id/on',
  '/settings/destinations/:id/off',
  '/settings/destinations/:id/remove',
  '/alerts/:id/on',
  '/alerts/:id/off',
  '/alerts/channels/:id/test',
  '/alerts/channels/:id/remove',
  '/notes/:id/remove',
  '/views/:id/remove',
  '/views/links/:id/revoke',
  // JSON of the page's own script.
  '/costs/rows',
  '/costs/columns',
]);
const POSTS = [
  ...new Set(dashboard.routes.filter(({ method }) => method === 'POST').map(({ path }) => path)),
];
// A password reset needs its own link: test/members/password-reset.slow.test.ts.
const FORMS = POSTS.filter((path) => !WITHOUT_FIELDS.has(path) && !path.startsWith('/reset-password'));

const MALFORMED = [
  ['multipart without a boundary', 'multipart/form-data', 'email=a'],
  ['multipart that never begins', 'multipart/form-data; boundary=x', 'no boundary here'],
  [
    'multipart that breaks off',
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; na',
  ],
  ['multipart without a name', 'multipart/form-data; boundary=x', '--x\r\nA: b\r\n\r\nvalue\r\n--x--\r\n'],
] as const;

function post(path: string, type: string, body: string, cookie = '') {
  return worker.request(path, {
    method: 'POST',
    headers: { Origin: ORIGIN, 'Content-Type': type, Cookie: cookie },
    body,
  });
}

describe('a malformed form', () => {
  it.each(MALFORMED)('of %s is a 400 at the setup, which stays open', async (_, type, body) => {
    const answer = await post('/setup', type, body);
    expect(answer.status).toBe(400);
    expect((await pageOf(answer)).error).toBe('The form could not be read.');
    expect((await worker.request('/setup')).status).toBe(200);
  });

  // Some sixty forms each: the fast tier tries one.
  const TRIED = isThorough ? MALFORMED : MALFORMED.slice(0, 1);
  it.each(TRIED)('of %s is a 400 wherever a form is read, and changes nothing', async (_, type, body) => {
    const { team, application } = await createTenant();
    const browser = await signedIn(worker, team, 'owner');
    const page = await pageOf(await browser.submit('/settings/members', { note: 'x', role: 'viewer' }));
    const secret = page.one('.notice code').text.split('/').at(-1) ?? '';
    const audit = () =>
      env.DB.prepare('SELECT count(*) AS n FROM audit_log WHERE team_id = ?').bind(team.id).first('n');
    const before = await audit();
    for (const route of FORMS.filter((path) => path !== '/setup')) {
      const path = route
        .replace('/settings/applications/:id', `/settings/applications/${application.id}`)
        .replace(':secret', secret)
        .replace(/:\w+/, 'unknown');
      const answer = await post(path, type, body, browser.cookie);
      expect([route, answer.status]).toEqual([route, 400]);
      expect((await pageOf(answer)).error).toBe('The form could not be read.');
    }
    expect(await audit()).toBe(before);
  });
});

it.each([
  ['/settings/members', { note: 'x', role: 'king' }, { role: 'Role must be one of owner, admin, viewer' }],
  ['/settings/members', { note: ' ', role: 'viewer' }, { note: 'Name or email is required' }],
  ['/settings/members/usr_1/role', { role: 'king' }, 'role must be one of owner, admin, viewer.'],
  ['/settings/applications/:id/new-key', { grace_hours: '73' }, 'grace_hours must be a number from 0 to 72.'],
  ['/settings/applications/:id/new-key', {}, 'grace_hours must be a number from 0 to 72.'],
  ['/settings/tokens', { name: 'x', days: '31' }, { days: 'Expires after must be one of the lifetimes' }],
])('%s answers 400 to %j and names the fault', async (route, fields, expected) => {
  const { team, application } = await createTenant();
  const browser = await signedIn(worker, team, 'owner');
  const answer = await browser.post(route.replace(':id', application.id), fields as Record<string, string>);
  expect(answer.status).toBe(400);
  const page = await pageOf(answer);
  expect(typeof expected === 'string' ? page.error : page.faults).toEqual(expected);
});

it('accepts a form that is sent as multipart', async () => {
  const { team } = await createTenant();
  const browser = await signedIn(worker, team, 'owner');
  const body = new FormData();
  body.set('name', 'multipart');
  body.set('days', '30');
  const { 'Content-Type': _, ...headers } = FORM;
  const answer = await worker.request('/settings/tokens', {
    method: 'POST',
    headers: { ...headers, Cookie: browser.cookie },
    body,
  });
  expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/settings/tokens']);
  const page = await pageOf(await browser.get('/settings/tokens', cookieOf(answer)));
  expect(page.cells('Access tokens', 'Name')).toEqual([['multipart'], ['test']]);
});

it('leads to an error page if the page of a refused form is refused, too', async () => {
  const { team, application } = await createTenant();
  const browser = await signedIn(worker, team, 'owner');
  const answer = await browser.post(`/notes?app=${application.id}&attribution=nonsense`, { day: 'never' });
  expect([answer.status, (await pageOf(answer)).error]).toEqual([
    400,
    expect.stringContaining('attribution'),
  ]);
});
