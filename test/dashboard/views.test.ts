import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import { DAY_MS } from '#lib/time';
import { pruneShareLinks } from '#views';
import { addFigures } from '../helpers/figures.ts';
import { Page, pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const PERIOD = 'from=2026-03-01&to=2026-03-07';

let tenant: Tenant;
let admin: Browser;
let viewer: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  admin = await signedIn(worker, tenant.team, 'admin');
  viewer = await signedIn(worker, tenant.team, 'viewer');
  await addFigures(env.DB, tenant.application.id, 'rollup_daily', [
    { day: '2026-03-02', creative_id: '', currency: 'usd', installs: 3, purchase_revenue: 12_340_000_000 },
  ]);
});

const addressOf = (path: string, more = '') => `${path}?app=${tenant.application.id}&${PERIOD}${more}`;

async function share(address: string): Promise<string> {
  const page = await pageOf(await admin.submit('/views/links', { address, note: 'The board', days: '7' }));
  return new URL(page.one('.notice code').text).pathname;
}

it('saves a view for the whole team until it is removed', async () => {
  const address = addressOf('/breakdown', '&by=day&done=saved&format=csv');
  const offered = await pageOf(await viewer.get(`/views?for=${encodeURIComponent(address)}`));
  expect(offered.buttons).toEqual(['Collapse', 'Sign out', 'Save view']);
  expect((await viewer.post('/views', { address, name: 'Monday 📈' })).status).toBe(303);
  const names = async (browser: Browser) => {
    const page = await pageOf(await browser.get('/views'));
    return page.tables.includes('Saved views') ? page.table('Saved views').rows.map(([name]) => name) : [];
  };
  expect(await names(admin)).toEqual(['Monday 📈']);
  const page = await pageOf(await admin.get('/views'));
  expect(page.link('Monday 📈')).toBe(`/breakdown?app=${tenant.application.id}&${PERIOD}&by=day`);
  expect((await admin.get(page.link('Monday 📈'))).status).toBe(200);
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  expect(await names(stranger)).toEqual([]);
  const remove = page.actions.find((action) => action.endsWith('/remove')) ?? '';
  await stranger.post(remove);
  expect(await names(admin)).toEqual(['Monday 📈']);
  await admin.post(remove);
  expect(await names(admin)).toEqual([]);
});

it('lets a viewer remove only the views that they saved themselves, and an admin any', async () => {
  const save = async (browser: Browser, name: string) => {
    await browser.post('/views', { address: addressOf('/ltv', `&note=${name}`), name });
    const page = await pageOf(await admin.get('/views'));
    return new Page(page.row('Saved views', name).one('form').toString()).actions[0] ?? '';
  };
  const [own, others] = [await save(viewer, 'Mine'), await save(admin, 'Theirs')];
  const page = await pageOf(await viewer.get('/views'));
  expect(page.actions.filter((action) => action.endsWith('/remove'))).toEqual([own]);
  expect((await viewer.post(others)).status).toBe(403);
  expect((await viewer.post(own)).status).toBe(303);
  expect((await pageOf(await viewer.get('/views'))).table('Saved views').rows.map(([name]) => name)).toEqual([
    'Theirs',
  ]);
  const mine = await save(viewer, 'Mine again');
  for (const remove of [mine, others]) expect((await admin.post(remove)).status).toBe(303);
});

it.each(['/settings/tokens', 'https://evil.test/', '//evil.test/', '/\\evil.test', '/debugger', '', 'ltv'])(
  'refuses to save or share %j',
  async (address) => {
    for (const [path, fields] of [
      ['/views', { address, name: 'x' }],
      ['/views/links', { address, note: 'x', days: '7' }],
    ] as const) {
      const answer = await admin.post(path, fields);
      expect(answer.status).toBe(400);
      expect((await pageOf(await admin.get('/views'))).tables).toEqual([]);
    }
  },
);

it('shows the view of a share link to anyone, without links or forms', async () => {
  const path = await share(addressOf('/breakdown', '&by=day'));
  const answer = await worker.request(path);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('X-Robots-Tag')).toBe('noindex, nofollow');
  const html = await answer.text();
  expect(html).not.toContain(tenant.team.id);
  const page = new Page(html);
  expect(page.cells('Figures by day', 'Day', 'Revenue', 'Installs')).toEqual([
    ['Mon 2 Mar', '$12.34 ▲ $12.34 more than $0.00', '3'],
  ]);
  expect(page.texts('main h1')).toEqual(['Breakdown']);
  expect(page.texts('main p')).toEqual([
    'Test game · 1 Mar – 7 Mar',
    '1 Mar – 7 Mar compared with 22 Feb – 28 Feb',
    'Days in UTC.',
    expect.stringMatching(/^Read-only view\. This link works until \d+ \w+, [\d:]+ \(UTC\)\.$/),
  ]);
  expect(page.all('a, form, button, nav, select, input').map(String)).toEqual([]);
  expect(page.text).not.toContain('Save or share');
});

it('shows the filters of a shared view, and neither what is left to set up nor alerts', async () => {
  const { application } = tenant;
  await fetchToken(worker, tenant, { data: { country: 'de' } });
  await worker.deliver(worker.queue.take());
  await admin.post(`/alerts/new?app=${application.id}`, { metric: 'no_events', threshold: '1' });
  await env.DB.prepare('UPDATE alerts SET firing_since = 1 WHERE application_id = ?')
    .bind(application.id)
    .run();
  const address = addressOf('/', '&country=de&os=ios');
  const own = await pageOf(await admin.get(address));
  expect([own.all('#setup').length, own.notices.length]).toEqual([1, 1]);
  const shared = await pageOf(await worker.request(await share(address)));
  expect(shared.texts('.page-head')).toEqual([
    expect.stringMatching(
      /^Overview Test game · 1 Mar – 7 Mar · 2 filters Country Germany OS iOS Complete through [\d:]+ UTC$/,
    ),
  ]);
  expect([shared.all('#setup').length, shared.notices]).toEqual([0, []]);
  // Nor the texts of links that chose what a chart shows or led elsewhere.
  expect(own.texts('.seg, .card-head a').length).toBeGreaterThan(2);
  expect(shared.all('.seg').length).toBe(0);
  expect(shared.text).not.toMatch(/All campaigns|Other groupings/);
});

it('says in the application’s time zone until when a share link works', async () => {
  const made = await createTenant({ timezone: 'Pacific/Kiritimati' });
  const owner = await signedIn(worker, made.team, 'owner');
  const address = `/breakdown?app=${made.application.id}&${PERIOD}`;
  const answer = await owner.submit('/views/links', { address, note: 'x', days: '7' });
  const path = new URL((await pageOf(answer)).one('.notice code').text).pathname;
  await env.DB.prepare('UPDATE share_links SET expires_at = ? WHERE team_id = ?')
    .bind(Date.UTC(2099, 4, 9, 22, 30), made.team.id)
    .run();
  expect((await pageOf(await worker.request(path))).texts('main p').at(-1)).toBe(
    'Read-only view. This link works until 10 May 2099, 12:30 (Pacific/Kiritimati).',
  );
  await env.DB.prepare('DELETE FROM share_links WHERE team_id = ?').bind(made.team.id).run();
});

it('ignores the filters that someone adds to a share link', async () => {
  const path = await share(addressOf('/breakdown', '&by=day'));
  const other = await createTenant();
  const plain = await (await worker.request(path)).text();
  const asked = await worker.request(`${path}?app=${other.application.id}&from=2020-01-01&to=2020-01-02`);
  expect(await asked.text()).toBe(plain);
  const signedOut = await worker.request(addressOf('/breakdown'), { redirect: 'manual' });
  expect(signedOut.status).toBe(302);
  expect(
    (await worker.request(path, { method: 'POST', headers: { Origin: 'https://ingest.test' } })).status,
  ).toBe(405);
});

it('shows nothing of another team’s application by a share link', async () => {
  const other = await createTenant();
  const path = await share(`/breakdown?app=${other.application.id}&${PERIOD}`);
  expect((await worker.request(path)).status).toBe(404);
});

it('binds a link made on a page without an application to the one that it shows', async () => {
  const own = await createTenant({ name: 'First game' });
  const { team } = own;
  const owner = await signedIn(worker, team, 'owner');
  const made = await pageOf(await owner.submit('/views/links', { address: '/', note: 'x', days: '7' }));
  const link = new URL(made.one('.notice code').text).pathname;
  expect((await pageOf(await worker.request(link))).text).toContain('First game');
  await owner.post('/settings/applications', { name: 'Second game', timezone: 'UTC', currency: 'usd' });
  const gone = await worker.team(own, `/v1/applications/${own.application.id}`, {
    method: 'DELETE',
    body: { name: 'First game' },
  });
  expect(gone.status).toBe(200);
  expect((await pageOf(await owner.get('/'))).text).toContain('Second game');
  expect((await worker.request(link)).status).toBe(404);
});

it('keeps a link until it ends, however old it is', async () => {
  const path = await share(addressOf('/'));
  const now = Date.now();
  await env.DB.prepare('UPDATE share_links SET created_at = ?')
    .bind(now - 400 * DAY_MS)
    .run();
  await pruneShareLinks(database(env.DB), now);
  expect((await worker.request(path)).status).toBe(200);
});

it('ends a share link when it is revoked, and when it expires', async () => {
  const [revoked, ended] = [await share(addressOf('/')), await share(addressOf('/'))];
  const hash = async (path: string) => {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(path.split('/')[2]));
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  };
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  await stranger.post(`/views/links/${await hash(revoked)}/revoke`);
  expect((await worker.request(revoked)).status).toBe(200);
  await admin.post(`/views/links/${await hash(revoked)}/revoke`);
  expect((await worker.request(revoked)).status).toBe(404);

  await env.DB.prepare('UPDATE share_links SET expires_at = ? WHERE hash = ?')
    .bind(Date.now() - 1, await hash(ended))
    .run();
  expect((await worker.request(ended)).status).toBe(404);
  await pruneShareLinks(database(env.DB), Date.now() + 8 * DAY_MS);
  expect(await env.DB.prepare('SELECT count(*) AS n FROM share_links').first('n')).toBe(0);
});

it('lets only an admin share, and writes it into the audit log without the secret', async () => {
  const refused = await viewer.post('/views/links', { address: addressOf('/'), note: 'x', days: '7' });
  expect(refused.status).toBe(403);
  const path = await share(addressOf('/ltv'));
  const [entry] = await listAudit(database(env.DB), tenant.team.id, { limit: 1 });
  expect(entry).toMatchObject({
    action: 'share_link.created',
    subject: `${addressOf('/ltv')} for The board`,
  });
  expect(JSON.stringify(entry)).not.toContain(path.split('/')[2]);
  expect((await worker.request('/shared/made-up')).status).toBe(404);
});
