import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import { DAY_MS } from '#lib/time';
import { pruneShareLinks } from '#views';
import { addFigures } from '../helpers/figures.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

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
    { day: '2026-03-02', creative_id: '', currency: 'usd', installs: 3, purchase_revenue: 12_340_000 },
  ]);
});

const addressOf = (path: string, more = '') => `${path}?app=${tenant.application.id}&${PERIOD}${more}`;

async function share(address: string): Promise<string> {
  const page = await (await admin.submit('/views/links', { address, note: 'The board', days: '7' })).text();
  const [, path = ''] = /https:\/\/ingest\.test(\/shared\/[\w-]{43})/.exec(page) ?? [];
  return path;
}

it('saves a view for the whole team, and removes it', async () => {
  const address = addressOf('/breakdown', '&by=day&done=saved&format=csv');
  expect(await (await viewer.get(`/views?for=${encodeURIComponent(address)}`)).text()).toContain('Save view');
  expect((await viewer.post('/views', { address, name: 'Monday 📈' })).status).toBe(303);
  const page = await (await admin.get('/views')).text();
  expect(page).toContain('Monday 📈');
  const [, href = ''] = /href="(\/breakdown\?[^"]+)"/.exec(page) ?? [];
  expect(new URLSearchParams(href.replaceAll('&amp;', '&').split('?')[1]).toString()).toBe(
    `app=${tenant.application.id}&${PERIOD}&by=day`,
  );
  expect((await admin.get(href.replaceAll('&amp;', '&'))).status).toBe(200);
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  expect(await (await stranger.get('/views')).text()).not.toContain('Monday');
  const [, id = ''] = /\/views\/(viw_[0-9a-f]+)\/remove/.exec(page) ?? [];
  await stranger.post(`/views/${id}/remove`);
  expect(await (await admin.get('/views')).text()).toContain('Monday 📈');
  await admin.post(`/views/${id}/remove`);
  expect(await (await admin.get('/views')).text()).not.toContain('Monday 📈');
});

it.each(['/settings/tokens', 'https://evil.test/', '//evil.test/', '/\\evil.test', '/debugger', '', 'ltv'])(
  'refuses to save or share %j',
  async (address) => {
    for (const [path, fields] of [
      ['/views', { address, name: 'x' }],
      ['/views/links', { address, note: 'x', days: '7' }],
    ] as const) {
      const answer = await admin.post(path, fields);
      expect([answer.status, await answer.text()]).toEqual([400, expect.not.stringContaining('/shared/')]);
    }
  },
);

it('a share link shows its one view to anyone, with nothing to follow or to change', async () => {
  const path = await share(addressOf('/breakdown', '&by=day'));
  const answer = await worker.request(path);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('X-Robots-Tag')).toBe('noindex, nofollow');
  const page = await answer.text();
  expect(page).toContain('$12.34');
  expect(page).toContain('Read-only view');
  expect(page).not.toMatch(/<(a|form|button|nav|select)[\s>]/);
  expect(page).not.toContain(tenant.team.id);
});

it('a share link chooses its page and filters by itself', async () => {
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

it('a share link of another team’s application shows nothing of it', async () => {
  const other = await createTenant();
  const path = await share(`/breakdown?app=${other.application.id}&${PERIOD}`);
  expect((await worker.request(path)).status).toBe(404);
});

it('a share link ends: when it is revoked, and at its time', async () => {
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

it('only an admin shares, and it is in the audit log without the secret', async () => {
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
