import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { afterEach, vi } from 'vitest';
import { pruneCreativeRequests } from '#creatives';
import { database } from '#db';
import { pruneRejections } from '#ingestion';
import { DAY_MS, HOUR_MS } from '#lib/time';
import { createPasswordReset, findInvitation, findPasswordReset, invite, pruneSessions } from '#members';
import { keepPostbacks } from '#skan';
import { pruneNotifications } from '#stores';
import { listKeysInGrace, replaceApiKey } from '#teams';
import { createShareLink, findShareLink, pruneShareLinks } from '#views';
import { type Bound, testBounds } from '../helpers/bounds.ts';
import { createPerson, signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// What ends by itself, one step before its end, at it and one step after it: links, keys, sessions, and rows that are deleted.

const MADE = Date.UTC(2026, 2, 28, 9, 30);
const db = database(env.DB);
const worker = startWorker();

afterEach(() => {
  vi.useRealTimers();
});

/** An owner, who makes the link. */
async function owner() {
  const { team, application } = await createTenant();
  const { id, email } = await createPerson(team, 'owner');
  const caller = { db, team, actor: email, userId: id, role: 'owner' as const, now: MADE };
  return { team, application, caller };
}

const untilEnd = { below: true, exact: false, above: false };

const LINKS: Bound<boolean>[] = [
  {
    ...{ name: 'an invitation works for seven days', at: 7 * DAY_MS, ...untilEnd },
    ask: async (age) => {
      const secret = await invite((await owner()).caller, { role: 'viewer', note: 'for a test' });
      return (await findInvitation(db, secret, MADE + age)) !== null;
    },
  },
  {
    ...{ name: 'a link for a new password works for a day', at: 24 * HOUR_MS, ...untilEnd },
    ask: async (age) => {
      const { team, caller } = await owner();
      const { secret } = await createPasswordReset(caller, (await createPerson(team, 'viewer')).id);
      return (await findPasswordReset(db, secret, MADE + age)) !== null;
    },
  },
  {
    ...{ name: 'a shared view works for its days', at: 30 * DAY_MS, ...untilEnd },
    ask: async (age) => {
      const link = { address: { path: '/', query: '' }, note: 'for a test', days: 30 };
      const secret = await createShareLink((await owner()).caller, link, sql`true`);
      return (await findShareLink(db, secret, MADE + age)) !== null;
    },
  },
];
testBounds('links', LINKS);

testBounds('keys and sessions', [
  {
    ...{ name: 'a replaced API key is listed for its hours of grace', at: 24 * HOUR_MS, ...untilEnd },
    ask: async (age) => {
      const { application, caller } = await owner();
      const row = { ...application, teamId: caller.team.id } as Parameters<typeof replaceApiKey>[1];
      await replaceApiKey(caller, row, 24, env.KEY_ENCRYPTION_SECRET);
      return (await listKeysInGrace(db, row, MADE + age)).length === 1;
    },
  },
  {
    ...{ name: 'a replaced API key is taken for its hours of grace', at: 3 * HOUR_MS, ...untilEnd },
    ask: async (age) => {
      const tenant = await createTenant();
      vi.setSystemTime(MADE);
      await worker.team(tenant, `/v1/applications/${tenant.application.id}/api-key`, {
        ...{ method: 'POST', body: { grace_hours: 3 } },
      });
      vi.setSystemTime(MADE + age);
      const { status } = await worker.post(tenant, '/webhook', {});
      return status !== 401;
    },
  },
  {
    ...{
      name: 'a session lasts seven days',
      at: 7 * DAY_MS,
      step: 1_000,
      below: 200,
      exact: 200,
      above: 302,
    },
    ask: async (age) => {
      const { team } = await createTenant();
      vi.setSystemTime(MADE);
      const browser = await signedIn(worker, team, 'viewer');
      vi.setSystemTime(MADE + age);
      return (await browser.get('/settings/account')).status;
    },
  },
]);

/** Writes a row of a certain age, prunes, and says whether it is still there. */
const keeps =
  (
    table: string,
    columns: Record<string, string | number | null>,
    at: string,
    prune: (now: number) => Promise<void>,
  ) =>
  async (age: number): Promise<boolean> => {
    await env.DB.prepare(`DELETE FROM ${table}`).run();
    const row = { ...columns, [at]: MADE };
    await env.DB.prepare(
      `INSERT INTO ${table} (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => '?')})`,
    )
      .bind(...Object.values(row))
      .run();
    await prune(MADE + age);
    return (await env.DB.prepare(`SELECT 1 FROM ${table}`).first()) !== null;
  };

const keepsOfApplication =
  (...[table, columns, at, prune]: Parameters<typeof keeps>) =>
  async (age: number): Promise<boolean> => {
    const { application } = await createTenant();
    return keeps(table, { ...columns, application_id: application.id }, at, prune)(age);
  };

const POSTBACK = {
  ...{ transaction_id: 't', sequence: 0, test: 0, app_id: '918273645' },
  ...{ framework: 'skadnetwork', network: 'n', source_identifier: '1', conversion: 'download' },
  ...{ day: '2026-03-28', did_win: 1 },
};

const untilAfter = { below: true, exact: true, above: false };

testBounds('rows that are deleted', [
  {
    ...{ name: 'shared views once they have ended', at: 0, ...untilAfter },
    ask: keeps(
      'share_links',
      { hash: 'h', team_id: 't', path: '/', query: '', note: 'n', created_by: 'c', created_at: 0 },
      'expires_at',
      (now) => pruneShareLinks(db, now),
    ),
  },
  {
    ...{ name: 'invitations once they have ended', at: 0, ...untilAfter },
    ask: keeps(
      'invitations',
      { hash: 'h', team_id: 't', role: 'viewer', created_by: 'c', note: 'n', created_at: 0 },
      'expires_at',
      (now) => pruneSessions(env.DB, now),
    ),
  },
  {
    ...{ name: 'first answers to creatives after a week', at: 7 * DAY_MS, ...untilAfter },
    ask: keeps(
      'creative_requests',
      {
        ...{ team_id: 't', key: 'k', request_hash: 'h', answer: '{}', campaign_id: 'c', adset_id: 'a' },
        creative_id: 'x',
      },
      'created_at',
      (now) => pruneCreativeRequests(env.DB, now),
    ),
  },
  ...(
    [
      ['notifications of stores', 32, null],
      ['notifications that are held', 400, '{}'],
    ] as const
  ).map(([name, days, held]) => ({
    ...{ name: `${name} after ${days} days`, at: days * DAY_MS, ...untilAfter },
    ask: keepsOfApplication(
      'store_notifications',
      {
        ...{ store: 'apple', notification_id: 'n', type: 't', kind: 'refund', held },
        ...{ environment: 'production', content_hash: 'h' },
      },
      'received_at',
      (now: number) => pruneNotifications(env.DB, now),
    ),
  })),
  {
    ...{ name: 'refused requests after 14 days', at: 14 * DAY_MS, ...untilAfter },
    ask: keeps(
      'rejections',
      {
        ...{ application_id: 'a', endpoint: '/webhook', status: 400, error: 'e', count: 1, first_at: 0 },
        sample: '{}',
      },
      'last_at',
      (now) => pruneRejections(env.DB, now),
    ),
  },
  {
    ...{ name: 'postbacks of nobody after 30 days', at: 30 * DAY_MS, ...untilAfter },
    ask: keeps('skan_postbacks', { ...POSTBACK, application_id: '' }, 'received_at', (now) =>
      keepPostbacks(env.DB, now),
    ),
  },
  ...[['postbacks', 180, 0] as const, ['tests of postbacks', 30, 1] as const].map(([name, days, test]) => ({
    ...{ name: `${name} of an application after ${days} days`, at: days * DAY_MS, ...untilAfter },
    ask: keepsOfApplication('skan_postbacks', { ...POSTBACK, test }, 'received_at', (now: number) =>
      keepPostbacks(env.DB, now),
    ),
  })),
]);
