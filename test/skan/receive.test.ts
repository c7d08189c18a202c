import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { listRejections } from '#ingestion';
import { keepPostbacks } from '#skan';
import { AAK_POSTBACK, SKAN_POSTBACKS } from '../../src/cli/simulation/apple-postbacks.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { watchedLimit } from '../helpers/limits.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { startWorker } from '../helpers/worker.ts';
import { makePostback, store } from './postbacks.ts';

// An isolate of its own: one that refused requests a short while ago notes the next ones later.
vi.hoisted(() => vi.resetModules());

const worker = startWorker();
const SKAN = '/.well-known/skadnetwork/report-attribution/';
const AAK = '/.well-known/appattribution/report-attribution/';
const FINE = SKAN_POSTBACKS['4.0 fine'];
/** The App Store ids in Apple's postbacks. */
const [SKAN_APP, AAK_APP] = ['525463029', '10738027756'];
const DAY_MS = 86_400_000;
let minutes = 0;

afterEach(async () => {
  vi.useRealTimers();
  await env.DB.batch([
    env.DB.prepare('DELETE FROM skan_postbacks'),
    env.DB.prepare('UPDATE applications SET ios_store_url = NULL, app_store_id = NULL'),
  ]);
});

const send = async (path: string, body: unknown, on = worker) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await on.request(path, { method: 'POST', body: text });
  return { status: answer.status, body: await answer.json() };
};
const RECEIVED = { status: 200, body: { success: true, message: 'Postback received' } };
const rows = async () =>
  (
    await env.DB.prepare('SELECT * FROM skan_postbacks ORDER BY transaction_id').all<
      Record<string, unknown>
    >()
  ).results;
const withApp = (id: string, more: object = {}) =>
  createTenant({ ios_store_url: `https://apps.apple.com/us/app/chess/id${id}`, ...more });

it.each([
  ['SKAdNetwork', SKAN, FINE, { framework: 'skadnetwork', app_id: SKAN_APP, test: 0, fine: 63 }],
  [
    'AdAttributionKit',
    AAK,
    AAK_POSTBACK,
    { framework: 'adattributionkit', app_id: AAK_APP, test: 1, fine: 24 },
  ],
])(
  'stores a postback of %s for the application that has its App Store id',
  async (_, path, body, expected) => {
    const { application } = await withApp(expected.app_id, { timezone: 'Pacific/Auckland' });
    vi.setSystemTime(Date.parse('2026-03-01T22:00:00Z'));
    expect(await send(path, body)).toEqual(RECEIVED);
    expect(await rows()).toEqual([
      expect.objectContaining({
        ...expected,
        application_id: application.id,
        received_at: Date.parse('2026-03-01T22:00:00Z'),
        day: '2026-03-02',
        repeats: 0,
        conflicts: 0,
      }),
    ]);
    expect(await send(path.slice(0, -1), body)).toEqual(RECEIVED);
    expect(await rows()).toMatchObject([{ repeats: 1, conflicts: 0 }]);
  },
);

it('gives no postback to a URL that only looks like the App Store, even if it was there first', async () => {
  const { application: thief } = await createTenant();
  await env.DB.prepare('UPDATE applications SET ios_store_url = ? WHERE id = ?')
    .bind(`https://evil.example/x.apple.com/y/id${SKAN_APP}`, thief.id)
    .run();
  await keepPostbacks(env.DB, Date.now());
  expect(await send(SKAN, FINE)).toEqual(RECEIVED);
  await keepPostbacks(env.DB, Date.now());
  expect(await rows()).toMatchObject([{ application_id: '' }]);
  const { application } = await withApp(SKAN_APP);
  await keepPostbacks(env.DB, Date.now());
  expect(await rows()).toMatchObject([{ application_id: application.id }]);
});

it('counts a postback once, keeps the value of the first copy, and flags another one', async () => {
  await withApp(SKAN_APP);
  const copies = [63, 63, 1, null].map((value) => ({ ...FINE, 'conversion-value': value }));
  for (const copy of copies) expect(await send(SKAN, copy)).toEqual(RECEIVED);
  expect(await rows()).toMatchObject([{ fine: 63, repeats: 3, conflicts: 2 }]);
  await Promise.all(copies.map((copy) => send(SKAN, copy)));
  expect(await rows()).toMatchObject([{ fine: 63, repeats: 7, conflicts: 4 }]);
  // The same transaction of another window is another postback.
  await send(SKAN, SKAN_POSTBACKS['4.0 coarse']);
  expect(await rows()).toHaveLength(2);
});

it('does not let a test take the place of a real postback', async () => {
  const { application } = await withApp('1');
  const postback = makePostback({ appId: '1', fine: 7 });
  await store({ ...postback, test: true, fine: 0 });
  await store(postback);
  expect(await rows()).toHaveLength(2);
  expect(await rows()).toContainEqual(
    expect.objectContaining({ test: 0, fine: 7, repeats: 0, application_id: application.id }),
  );
});

it.each([
  ['a changed field', SKAN, { ...FINE, 'source-identifier': '5238' }, /signature is not Apple's/],
  ['version 2.0', SKAN, { ...FINE, version: '2.0' }, /version 2.0 is signed with a P-192 key/],
  [
    'a forged JWS',
    AAK,
    { 'jws-string': `${AAK_POSTBACK['jws-string'].slice(0, -6)}AAAAAA` },
    /signature is not/,
  ],
])('refuses %s, and shows it to the team whose app it names', async (_, path, body, error) => {
  const [{ application }, other] = [await withApp(path === SKAN ? SKAN_APP : AAK_APP), await createTenant()];
  // An isolate writes the rejections of requests without a credential every 10 s.
  vi.setSystemTime(Date.now() + 60_000 * ++minutes);
  const refused = await send(path, body);
  expect(refused).toEqual({ status: 400, body: expect.objectContaining({ success: false }) });
  expect((refused.body as { error: string }).error).toMatch(error);
  expect(await rows()).toEqual([]);
  expect(await listRejections(env.DB, application.id)).toMatchObject([
    { endpoint: `POST ${path}`, status: 400, error: expect.stringMatching(error), count: 1 },
  ]);
  expect(await listRejections(env.DB, other.application.id)).toEqual([]);
});

it.each([
  ['no JSON', 'x', 400],
  ['no object', '[]', 400],
  ['null', 'null', 400],
  ['nothing', '', 400],
  ['too much', `{"version":"${'x'.repeat(70_000)}"}`, 413],
])('refuses a body that is %s', async (_, body, status) => {
  for (const path of [SKAN, AAK]) expect((await send(path, body)).status).toBe(status);
  expect(await rows()).toEqual([]);
});

it('keeps every digit of an id beyond 2^53', async () => {
  const text = JSON.stringify(FINE).replace('525463029', '9007199254740993');
  expect((await send(SKAN, text)).status).toBe(400);
  await store(makePostback({ appId: '9007199254740993' }));
  const { application } = await withApp('9007199254740993');
  await keepPostbacks(env.DB, Date.now());
  expect(await rows()).toMatchObject([{ app_id: '9007199254740993', application_id: application.id }]);
});

const secretOf = async (tenant: Tenant) => {
  const path = `/v1/applications/${tenant.application.id}/intake-secret`;
  const answer = await worker.team(tenant, path, { method: 'POST', body: {} });
  return (await answer.json<{ intake_secret: string }>()).intake_secret;
};

it('takes what a network forwards with the application’s intake secret, limited apart from addresses and API keys', async () => {
  const tenant = await withApp(SKAN_APP);
  const path = `${SKAN}?key=${await secretOf(tenant)}`;
  const [address, key] = [watchedLimit(), watchedLimit()];
  const limited = startWorker({ CLICK_LIMIT: address.binding, API_KEY_LIMIT: key.binding });
  expect(await send(path, FINE, limited)).toEqual(RECEIVED);
  expect([address.keys, key.keys]).toEqual([[], [`intake:${tenant.application.id}`]]);
  expect(await send(SKAN, FINE)).toEqual(RECEIVED);
  expect(await rows()).toMatchObject([{ application_id: tenant.application.id, repeats: 1, conflicts: 0 }]);
  const refusing = startWorker({ API_KEY_LIMIT: watchedLimit(() => true).binding });
  expect((await send(path, FINE, refusing)).status).toBe(429);
  expect(await rows()).toMatchObject([{ repeats: 1 }]);
});

it('keeps what is forwarded for an application without a store URL until one has it', async () => {
  const path = `${AAK}?key=${await secretOf(await createTenant())}`;
  expect(await send(path, AAK_POSTBACK)).toEqual(RECEIVED);
  expect(await rows()).toMatchObject([{ application_id: '', app_id: AAK_APP }]);
});

it.each([
  ['a wrong key', 'wrong', FINE, 401, 'Unknown or replaced intake secret'],
  ['an empty key', '', FINE, 401, 'Unknown or replaced intake secret'],
  ['a key of another app', 'other', FINE, 400, 'The postback is of another app'],
  ['a changed field', 'own', { ...FINE, redownload: true }, 400, "The signature is not Apple's"],
])(
  'refuses a forward with %s, and shows it to the team that it concerns',
  async (_, kind, body, status, why) => {
    const [own, other] = [await withApp(SKAN_APP), await withApp('77')];
    const keys: Record<string, string> = { own: await secretOf(own), other: await secretOf(other) };
    vi.setSystemTime(Date.now() + 60_000 * ++minutes);
    const answer = await send(`${SKAN}?key=${keys[kind] ?? (kind && 'iks_0123456789abcdefghijkl')}`, body);
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(why) } });
    expect(await rows()).toEqual([]);
    const [concerned, stranger] = kind === 'other' ? [other, own] : [own, other];
    expect(await listRejections(env.DB, concerned.application.id)).toMatchObject([
      { endpoint: `POST ${SKAN}`, status, error: expect.stringContaining(why), count: 1 },
    ]);
    expect(await listRejections(env.DB, stranger.application.id)).toEqual([]);
  },
);

it('answers GET with 405 and limits requests by address', async () => {
  expect((await worker.request(SKAN)).status).toBe(405);
  const limit = watchedLimit(() => true);
  const limited = startWorker({ CLICK_LIMIT: limit.binding });
  expect((await send(SKAN, FINE, limited)).status).toBe(429);
  expect(limit.keys).toEqual(['postback:unknown']);
  expect(await rows()).toEqual([]);
});

it('answers 500 if a postback could not be stored, so that Apple sends it again', async () => {
  const d1 = new WatchedD1(env.DB);
  const failing = startWorker({ DB: d1.asBinding() });
  d1.failWhen((sql) => sql.startsWith('insert into "skan_postbacks"'), 'Exceeded maximum DB size');
  expect(await send(SKAN, FINE, failing)).toEqual({
    status: 500,
    body: { success: false, error: 'Unexpected error' },
  });
  expect(await rows()).toEqual([]);
  expect(await send(SKAN, FINE)).toEqual(RECEIVED);
});

it('keeps a postback of an unknown app until an application has it, for 30 days', async () => {
  const arrived = Date.parse('2026-03-01T23:30:00Z');
  vi.setSystemTime(arrived);
  expect(await send(SKAN, FINE)).toEqual(RECEIVED);
  expect(await send(AAK, AAK_POSTBACK)).toEqual(RECEIVED);
  expect(await rows()).toMatchObject([
    { application_id: '', day: '2026-03-01' },
    { application_id: '', day: '2026-03-01' },
  ]);
  vi.useRealTimers();
  const { application } = await withApp(SKAN_APP, { timezone: 'Europe/Berlin' });
  await keepPostbacks(env.DB, arrived + 30 * DAY_MS);
  const claimed = { application_id: application.id, day: '2026-03-02', fine: 63 };
  expect(await rows()).toMatchObject([claimed, { application_id: '', day: '2026-03-01' }]);
  // A copy that arrives now is a repeat.
  await send(SKAN, FINE);
  expect(await rows()).toMatchObject([{ ...claimed, repeats: 1 }, { application_id: '' }]);
  await keepPostbacks(env.DB, arrived + 30 * DAY_MS + 1);
  expect(await rows()).toMatchObject([claimed]);
});

slowIt('deletes tests after 30 days, and claims and deletes any number in one run', async () => {
  const { application } = await withApp('7');
  const now = Date.now();
  const insert = env.DB.prepare(
    `INSERT INTO skan_postbacks (transaction_id, sequence, test, application_id, app_id, framework, network, source_identifier, conversion,
       did_win, received_at, day)
     SELECT ?1 || value, 0, ?2, ?3, ?4, 'skadnetwork', 'n', '1', 'download', 1, ?5, '2026-03-01'
     FROM (WITH RECURSIVE numbers(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < 2500) SELECT value FROM numbers)`,
  );
  await env.DB.batch([
    insert.bind('claimed', 0, '', '7', now),
    insert.bind('old', 0, '', '8', now - 31 * DAY_MS),
    insert.bind('test', 1, application.id, '7', now - 31 * DAY_MS),
    insert.bind('kept', 1, application.id, '7', now - 29 * DAY_MS),
  ]);
  await keepPostbacks(env.DB, now);
  const { results } = await env.DB.prepare(
    'SELECT application_id, test, count(*) AS count FROM skan_postbacks GROUP BY 1, 2 ORDER BY 2',
  ).all();
  expect(results).toEqual([
    { application_id: application.id, test: 0, count: 2500 },
    { application_id: application.id, test: 1, count: 2500 },
  ]);
});
