import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { beforeAll, expect, it } from 'vitest';
import { listAudit } from '#audit';
import { accessTokens, database, members } from '#db';
import { newId } from '#lib/ids';
import { mayAdminister } from '#members';
import { createAccessToken, listAccessTokens, takeOverAccessToken } from '#teams';
import { createShareLink, listShareLinks } from '#views';
import { type Page, pageOf } from '../helpers/page.ts';
import { type Browser, createPerson, openSession, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// What someone shared or created ends with the role that allowed it.

const worker = startWorker();
let tenant: Tenant;
let owner: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  owner = await signedIn(worker, tenant.team, 'owner');
});

const copied = (page: Page) => page.one('.notice code').text;

/** An admin with a share link and two access tokens. */
async function busyAdmin() {
  const person = await createPerson(tenant.team, 'admin');
  const browser = await openSession(worker, person);
  const address = `/ltv?app=${tenant.application.id}`;
  const made = await pageOf(await browser.submit('/views/links', { address, note: 'The board', days: '7' }));
  const tokenOf = async (name: string) =>
    copied(await pageOf(await browser.submit('/settings/tokens', { name, days: '0' })));
  return {
    ...person,
    browser,
    link: new URL(copied(made)).pathname,
    nightly: await tokenOf(`Nightly of ${person.id.slice(-8)}`),
    board: await tokenOf(`Board of ${person.id.slice(-8)}`),
  };
}

const statusOf = async (teamToken: string) =>
  (await worker.team({ teamToken }, `/v1/applications/${tenant.application.id}`)).status;
const seen = async (link: string) => (await worker.request(link)).status;

it.each([
  ['becomes a viewer', { role: 'viewer' }, '/role'],
  ['is removed', {}, '/remove'],
])(
  'ends the share links and access tokens of an admin who %s, except those taken over',
  async (_, fields, what) => {
    const [admin, colleague] = [await busyAdmin(), await busyAdmin()];
    const members = await pageOf(await owner.get('/settings/members'));
    const row = members.table('Members of the team').rows.find((cells) => cells.includes(admin.email));
    expect(row).toContain(`Board of ${admin.id.slice(-8)}, Nightly of ${admin.id.slice(-8)}`);
    const tokens = await pageOf(await owner.get('/settings/tokens'));
    const takeOver = tokens.row('Access tokens', `Board of ${admin.id.slice(-8)}`).actions[0] ?? '';
    expect(takeOver).toMatch(/take-over$/);
    const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
    expect((await stranger.post(takeOver)).status).toBe(404);
    expect((await owner.post(takeOver)).status).toBe(303);

    expect((await owner.post(`/settings/members/${admin.id}${what}`, fields)).status).toBe(303);
    expect(await seen(admin.link)).toBe(404);
    const again = await pageOf(await owner.get('/settings/tokens'));
    expect(again.row('Access tokens', `Nightly of ${admin.id.slice(-8)}`).text).toContain('Revoked');
    expect(again.row('Access tokens', `Board of ${admin.id.slice(-8)}`).text).toContain('Active');
    expect(await statusOf(admin.board)).toBe(200);
    expect([await seen(colleague.link), await statusOf(colleague.nightly)]).toEqual([200, 200]);
    const log = (await pageOf(await owner.get('/settings/audit'))).text;
    expect(log).toContain(`Nightly of ${admin.id.slice(-8)}`);
    expect(log).toContain('All for The board');
  },
);

it('ends no token of another team that has the same creator, and hands over none that is revoked', async () => {
  const other = await createTenant();
  const admin = await busyAdmin();
  const id = newId('tkn');
  const values = {
    hash: 'a'.repeat(64),
    id,
    teamId: other.team.id,
    name: 'Theirs',
    createdBy: admin.email,
    createdAt: 0,
  };
  await database(env.DB).insert(accessTokens).values(values);
  const tokens = await pageOf(await owner.get('/settings/tokens'));
  const takeOver = tokens.row('Access tokens', `Board of ${admin.id.slice(-8)}`).actions[0] ?? '';
  expect((await owner.post(`/settings/members/${admin.id}/role`, { role: 'viewer' })).status).toBe(303);
  const [theirs] = await listAccessTokens(database(env.DB), other.team.id).then((all) =>
    all.filter((one) => one.id === id),
  );
  expect(theirs?.revokedAt).toBeNull();
  expect(takeOver).toMatch(/take-over$/);
  expect((await owner.post(takeOver)).status).toBe(404);
});

it('keeps the share links and access tokens of an owner who becomes an admin', async () => {
  const admin = await busyAdmin();
  for (const role of ['owner', 'admin']) await owner.post(`/settings/members/${admin.id}/role`, { role });
  expect([await seen(admin.link), await statusOf(admin.nightly)]).toEqual([200, 200]);
});

it('keeps the share links and access tokens of an admin who becomes an owner or stays the last one', async () => {
  const admin = await busyAdmin();
  await owner.post(`/settings/members/${admin.id}/role`, { role: 'owner' });
  expect([await seen(admin.link), await statusOf(admin.nightly)]).toEqual([200, 200]);
  const alone = await createTenant();
  const last = await createPerson(alone.team, 'owner');
  const browser = await openSession(worker, last);
  const made = await pageOf(await browser.submit('/views/links', { address: '/', note: 'Mine', days: '7' }));
  for (const [what, fields] of [
    ['role', { role: 'viewer' }],
    ['remove', {}],
  ] as const) {
    expect((await browser.post(`/settings/members/${last.id}/${what}`, fields)).status).toBe(409);
  }
  expect(await seen(new URL(copied(made)).pathname)).toBe(200);
});

it('creates nothing for someone whose role ends while they create it', async () => {
  const db = database(env.DB);
  const person = await createPerson(tenant.team, 'admin');
  const caller = { db, team: tenant.team, actor: person.email, userId: person.id, now: Date.now() };
  const address = { path: '/ltv', query: `app=${tenant.application.id}` } as const;
  const { id } = await createAccessToken({ ...caller, actor: 'test' }, 'Of someone else', null);
  const attempts = () => [
    createShareLink(caller, { address, note: 'x', days: 7 }, mayAdminister(caller)),
    createAccessToken(caller, 'x', null, mayAdminister(caller)),
    takeOverAccessToken(caller, id, mayAdminister(caller)),
  ];
  for (const result of await Promise.allSettled(attempts())) expect(result.status).toBe('fulfilled');
  const own = async () => [
    (await listAccessTokens(db, tenant.team.id)).filter((token) => token.createdBy === person.email).length,
    (await listShareLinks(db, tenant.team.id)).filter((link) => link.createdBy === person.email).length,
    (await listAudit(db, tenant.team.id, { limit: 200 })).filter(({ actor }) => actor === person.email)
      .length,
  ];
  expect(await own()).toEqual([2, 1, 3]);
  // Their requests were checked before.
  for (const end of [
    db.update(members).set({ role: 'viewer' }).where(eq(members.userId, person.id)),
    db.delete(members).where(eq(members.userId, person.id)),
  ]) {
    await end;
    for (const result of await Promise.allSettled(attempts())) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'forbidden', message: 'Your role no longer allows this' },
      });
    }
    expect(await own()).toEqual([2, 1, 3]);
  }
});
