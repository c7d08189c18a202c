import {
  applyD1Migrations,
  type D1Migration,
  evictDurableObject,
  reset,
  runInDurableObject,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encryptWebhooks, listChannels, sendNotices, sendTestMessage } from '#alerts';
import { writeSnapshot } from '#backup';
import counterMigrations from '#counter-migrations';
import { counterOf } from '#counting';
import { applications, channels, database } from '#db';
import { newId } from '#lib/ids';
import { getApplication } from '#teams';
import { loseCounter, restoreAll } from '../helpers/backup.ts';
import { settleAll } from '../helpers/settle.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { isThorough } from '../helpers/thorough.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import { type ApiDocument, factsOf, questionsIn, settledPart } from './questions.ts';
import { BREAKPOINT, type CountryTotals, type StoredHistory } from './stores.ts';

const { MIGRATIONS } = env as unknown as { MIGRATIONS: D1Migration[] };

const files = import.meta.glob<string>('./fixtures/*/*.{json,sql}', {
  query: '?raw',
  import: 'default',
  eager: true,
});
const released = [...new Set(Object.keys(files).map((file) => file.split('/')[2] ?? ''))].sort();
/** The fast tier opens the last release alone. */
const versions = isThorough ? released : released.slice(-1);

type SchemaRow = { type: string; name: string; sql: string };

/** Without what the runtime and the migrators keep for themselves. */
const SCHEMA = `SELECT type, name, trim(sql, char(10)) AS sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '*_migrations' ORDER BY type, name`;

const schemaOfD1 = async () => (await env.DB.prepare(SCHEMA).all<SchemaRow>()).results;

const schemaOfCounter = (stub: ReturnType<typeof counterOf>) =>
  runInDurableObject(stub, (_, { storage }) => storage.sql.exec<SchemaRow>(SCHEMA).toArray());

const freshD1 = await schemaOfD1();
const freshCounter = await schemaOfCounter(counterOf(env, newId('app'), 0));

type ReportAnswer = { status: number; body: unknown };

/** Without what depends on when it was asked. Earlier releases answered countries in lower case. */
const comparable = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(settledPart(answer)), (name, value) =>
    name === 'country' && typeof value === 'string' ? value.toLowerCase() : value,
  );

function fixture(version: string, name: string): string {
  const text = files[`./fixtures/${version}/${name}`];
  if (text === undefined) throw new Error(`${version} has no ${name}`);
  return text;
}

const statements = (version: string, name: string) => fixture(version, name).split(BREAKPOINT);

/** Puts a release's stores in place of this test's, as that release left them. */
async function restore(version: string, { counter }: StoredHistory): Promise<void> {
  await reset();
  await env.DB.batch(statements(version, 'd1.sql').map((sql) => env.DB.prepare(sql)));
  const bucket: Record<string, string> = JSON.parse(fixture(version, 'bucket.json'));
  for (const [key, content] of Object.entries(bucket))
    await env.RAW_EVENTS.put(key, Buffer.from(content, 'base64'));
  const stub = env.COUNTERS.getByName(counter);
  await runInDurableObject(stub, (_, { storage }) => {
    const tables =
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'";
    for (const { name } of storage.sql.exec(tables).toArray()) storage.sql.exec(`DROP TABLE "${name}"`);
    for (const sql of statements(version, 'counter.sql')) storage.sql.exec(sql);
  });
  await evictDurableObject(stub);
}

it('has the stores of a release', () => {
  expect(versions.length).toBeGreaterThan(0);
});

describe.each(versions)('the stores of %s', (version) => {
  const history: StoredHistory = JSON.parse(fixture(version, 'history.json'));
  const tenant = { apiKey: history.api_key, teamToken: history.team_token };
  const { application_id: applicationId, counter } = history;

  beforeEach(async () => {
    // Keys and tokens have an end, which is not to come while the fixture grows old.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(history.written_at) + 60_000 });
    await restore(version, history);
    await applyD1Migrations(env.DB, MIGRATIONS);
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  async function report<Row>(worker: ReturnType<typeof startWorker>, groupBy: string): Promise<Row[]> {
    await settleAll(applicationId);
    const query = `application_id=${applicationId}&from=${history.from}&to=${history.to}&group_by=${groupBy}`;
    const answer = await worker.team(tenant, `/v1/reports/performance?${query}`);
    expect(answer.status).toBe(200);
    return (await answer.json<{ data: Row[] }>()).data;
  }

  async function totals(worker: ReturnType<typeof startWorker>): Promise<CountryTotals[]> {
    const data = await report<CountryTotals>(worker, 'country');
    // Earlier releases answered countries in lower case.
    return data
      .map((row) => ({ ...row, country: row.country.toLowerCase() }))
      .sort((one, other) => one.country.localeCompare(other.country));
  }

  it('are migrated to this release, by each migration once', async () => {
    const applied = await env.DB.prepare('SELECT name FROM d1_migrations ORDER BY id').all<{
      name: string;
    }>();
    expect(applied.results.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
    const stub = env.COUNTERS.getByName(counter);
    const inCounter = await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec('SELECT created_at FROM __drizzle_migrations').toArray(),
    );
    expect(inCounter).toEqual(counterMigrations.journal.entries.map(({ when }) => ({ created_at: when })));
    expect(await schemaOfD1()).toEqual(freshD1);
    expect(await schemaOfCounter(stub)).toEqual(freshCounter);
  });

  it.each(['devices', 'files', 'log', 'outbox', 'recent_keys', 'seen_ids', 'segments'])(
    'have rows of %s in the counter',
    (table) => {
      expect(fixture(version, 'counter.sql')).toContain(`INSERT INTO "${table}"`);
    },
  );

  it('contain what was counted, what was on its way to D1, and what was waiting', async () => {
    expect(await env.COUNTERS.getByName(counter).health()).toMatchObject({ devices: history.totals.length });
    expect(await totals(startWorker())).toMatchObject(history.totals);
  });

  it('answer every report and list as the release did', async () => {
    const worker = startWorker();
    await settleAll(applicationId);
    const ask = async (path: string): Promise<ReportAnswer> => {
      const answer = await worker.team(tenant, path);
      return { status: answer.status, body: await answer.json() };
    };
    const before: Record<string, ReportAnswer> = JSON.parse(fixture(version, 'answers.json'));
    for (const [path, { status, body }] of Object.entries(before)) {
      expect(status, path).toBe(200);
      expect(comparable(await ask(path)), path).toMatchObject({ status, body: comparable(body) as object });
    }
    // What the release did not have yet is answered all the same.
    const document: ApiDocument = await (await worker.request('/openapi.json')).json();
    const added = questionsIn(document, factsOf(history)).filter((path) => !(path in before));
    for (const path of added) expect(await ask(path), path).toMatchObject({ status: 200 });
  });

  it('recognise repeated events and redelivered messages', async () => {
    const worker = startWorker();
    await worker.deliver(history.messages.map((body) => ({ id: crypto.randomUUID(), body })));
    const recognisable = history.recognisable.filter(({ type }) => type !== 'retention');
    for (const body of recognisable) expect((await worker.post(tenant, '/webhook', body)).status).toBe(200);
    await worker.deliver(worker.queue.take());
    expect(await totals(worker)).toMatchObject(history.totals);
  });

  it('count new events of old and new devices', async () => {
    const worker = startWorker();
    // The same device_id is the same device.
    const known = await fetchToken(worker, tenant, { data: { device_id: 'device-us' } });
    const fresh = await fetchToken(worker, tenant, { data: { country: 'us' } });
    const purchase = (token: string | undefined) => ({
      type: 'custom.purchase',
      created_at: new Date().toISOString(),
      creativeToken: token,
      payload: { item_id: 'gold', value: 1, currency: 'usd', status: 'completed' },
    });
    for (const token of [known, history.tokens.us, fresh])
      expect((await worker.post(tenant, '/webhook', purchase(token))).status).toBe(200);
    await worker.deliver(worker.queue.take());
    const expected = history.totals.map((row) =>
      row.country === 'us'
        ? {
            ...row,
            installs: row.installs + 1,
            purchases: row.purchases + 3,
            purchase_revenue: expect.closeTo(row.purchase_revenue + 3, 6),
          }
        : row,
    );
    expect(await totals(worker)).toMatchObject(expected);
    // Their devices are known, so nothing is parked.
    const parked = await worker.team(tenant, '/v1/parked');
    expect(await parked.json()).toMatchObject({ data: [] });
    expect(await env.COUNTERS.getByName(counter).health()).toMatchObject({ isLost: false, unknownEvents: 0 });
  });

  it('are restored from their snapshot and files once their counter has lost what it stored', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    vi.spyOn(console, 'error').mockReturnValue();
    const worker = startWorker();
    await settleAll(applicationId);
    await writeSnapshot(env, Date.now());
    await loseCounter(applicationId);
    const ad = {
      ...{ type: 'custom.ad', created_at: new Date().toISOString(), creativeToken: history.tokens.us },
      payload: { ad_id: 'main', source: 'banner', media_source: 'admob', value: 0.25, currency: 'usd' },
    };
    expect((await worker.post(tenant, '/webhook', ad)).status).toBe(200);
    await worker.deliver(worker.queue.take());
    await restoreAll(worker, applicationId);
    const expected = history.totals.map((row) =>
      row.country === 'us'
        ? { ...row, impressions: row.impressions + 1, ad_revenue: expect.closeTo(row.ad_revenue + 0.25, 6) }
        : row,
    );
    expect(await totals(worker)).toMatchObject(expected);
    expect(await env.COUNTERS.getByName(counter).health()).toMatchObject({
      ...{ isLost: false, unknownEvents: 0 },
      devices: history.totals.length,
    });
  });

  it('count a refund where its purchase was counted, in a segment that no new event has', async () => {
    const worker = startWorker();
    const net = async () =>
      (await report<{ app_version: string; net_revenue: number }>(worker, 'app_version'))
        .map((row) => [row.app_version, Math.round(row.net_revenue * 100) / 100] as const)
        .sort();
    const before = new Map(await net());
    const refund = {
      type: 'custom.purchase',
      created_at: new Date().toISOString(),
      creativeToken: history.tokens.us,
      app_version: '1.6',
      payload: { item_id: 'gold', value: 1, currency: 'usd', status: 'refunded', tr_id: 'tr-us-0' },
    };
    expect((await worker.post(tenant, '/webhook', refund)).status).toBe(200);
    await worker.deliver(worker.queue.take());
    expect(await net()).toEqual([...before.set('1.5', Number(before.get('1.5')) - 1).set('1.6', 0)].sort());
  });

  it('send messages to webhooks that they have as they are', async () => {
    await restore(version, history);
    const target = 'https://hooks.example.com/services/T/B/secret';
    await env.DB.prepare(
      `INSERT INTO channels (id, application_id, kind, target, digest, origin, created_at)
        VALUES (?, ?, 'webhook', ?, 'never', 'https://dash.test', 0)`,
    )
      .bind(newId('chn'), applicationId, target)
      .run();
    await applyD1Migrations(env.DB, MIGRATIONS);
    const db = database(env.DB);
    const [row] = await db.select().from(applications).where(eq(applications.id, applicationId));
    const application = await getApplication(db, row?.teamId ?? '', applicationId);
    const [channel] = await listChannels(db, applicationId);
    if (!channel) throw new Error('not there');
    const posted: unknown[] = [];
    answerFetch(async (url) => {
      posted.push(url);
      return new Response('ok');
    });
    for (const encrypt of [false, true]) {
      if (encrypt) await encryptWebhooks(db, env.KEY_ENCRYPTION_SECRET);
      await sendTestMessage(db, application, channel.id, Date.now() + Number(encrypt));
      await sendNotices(env, Date.now() + Number(encrypt));
    }
    expect(posted).toEqual([target, target]);
    expect(JSON.stringify(await db.select().from(channels))).not.toContain('T/B');
  });

  it('return their raw events, exported or not', async () => {
    const worker = startWorker();
    const answer = await worker.team(tenant, `/v1/events?application_id=${applicationId}&limit=200`);
    expect(answer.status).toBe(200);
    const { data }: { data: { event_id: string }[] } = await answer.json();
    expect(new Set(data.map(({ event_id }) => event_id)).size).toBe(history.raw_events);
  });

  it('lose an erased device, in their files too', async () => {
    const worker = startWorker();
    const erase = async () => {
      const answer = await worker.team(tenant, `/v1/devices/${history.tokens.us}`, { method: 'DELETE' });
      expect(answer.status).toBe(200);
      return answer.json<{ files: string }>();
    };
    // What a restore takes from the bucket is not rewritten: it has the erased devices of its time in a list.
    const before = Object.keys(JSON.parse(fixture(version, 'bucket.json'))).filter(
      (key) => !key.startsWith('snapshots/'),
    );
    expect(await erase()).toMatchObject({ files: 'pending' });
    await runInDurableObject(env.COUNTERS.getByName(counter), (object) => object.alarm());
    expect(await erase()).toMatchObject({ files: 'done' });
    const { objects } = await env.RAW_EVENTS.list();
    expect(objects.map(({ key }) => key).filter((key) => before.includes(key))).toEqual([]);
    const answer = await worker.team(tenant, `/v1/events?application_id=${applicationId}&limit=200`);
    const { data }: { data: { country: string }[] } = await answer.json();
    expect(new Set(data.map(({ country }) => country.toLowerCase()))).toEqual(new Set(['de']));
    expect(data).toHaveLength(history.raw_events / 2);
  });
});
