import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { listAudit } from '#audit';
import { database } from '#db';
import { type CreativeAnswer, postCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
afterEach(() => vi.restoreAllMocks());

/** Puts another database into the application's object. */
async function swapDatabase(tenant: Tenant, db: D1Database): Promise<void> {
  await runInDurableObject(env.CREATIVES.getByName(tenant.application.id), (registry) => {
    registry.db = db;
  });
}

const post = (tenant: Tenant, names: { campaign: string; adset: string }, creative = 'Dragon') =>
  postCreative(worker, tenant, { creative, app_api_key: tenant.apiKey, ...names });

const rowsOf = async (tenant: Tenant) => {
  const count = async (sql: string) =>
    (await env.DB.prepare(sql).bind(tenant.application.id).first<{ n: number }>())?.n;
  return {
    campaigns: await count('SELECT count(*) AS n FROM campaigns WHERE application_id = ?'),
    adsets: await count('SELECT count(*) AS n FROM adsets WHERE application_id = ?'),
    creatives: await count('SELECT count(*) AS n FROM creatives WHERE application_id = ?'),
    links: await count('SELECT count(DISTINCT token) AS n FROM creatives WHERE application_id = ?'),
    orphans: await count(
      `SELECT (SELECT count(*) FROM campaigns WHERE application_id = ?1 AND id NOT IN (SELECT campaign_id FROM adsets))
         + (SELECT count(*) FROM adsets WHERE application_id = ?1 AND (id NOT IN (SELECT adset_id FROM creatives)
             OR campaign_id NOT IN (SELECT id FROM campaigns)))
         + (SELECT count(*) FROM creatives WHERE application_id = ?1 AND adset_id NOT IN (SELECT id FROM adsets)) AS n`,
    ),
  };
};

/** What the audit log says was created. */
const created = async (tenant: Tenant) =>
  (await listAudit(database(env.DB), tenant.team.id, { limit: 300 }))
    .filter(({ action }) => action === 'creative.created')
    .map(({ subject }) => subject);

/** Fails some batches before they begin and loses the answer of others after they are kept. */
class UnreliableD1 extends WatchedD1 {
  failures = 0;
  private calls = 0;

  override async batch<T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> {
    const call = ++this.calls;
    if (call % 7 === 3) return this.fail('Network connection lost');
    if (call % 31 === 5) return this.fail('D1_ERROR: disk I/O error');
    const results = await super.batch<T>(statements);
    return call % 11 === 4 ? this.fail('Network connection lost') : results;
  }

  private fail(message: string): never {
    this.failures++;
    throw new Error(message);
  }
}

it.each([1, 2, 3])(
  'reports a new name to one of 200 simultaneous calls with D1 errors, round %i',
  async (round) => {
    const tenant = await createTenant();
    const unreliable = new UnreliableD1(env.DB);
    await swapDatabase(tenant, unreliable.asBinding());
    const names = (index: number) => ({ campaign: `Launch ${round}`, adset: `Set ${index % 4}` });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => post(tenant, names(index), `Creative ${index}`)),
    );
    expect(unreliable.failures).toBeGreaterThan(20);
    const made: CreativeAnswer[] = await Promise.all(
      answers.filter(({ status }) => status === 201).map((answer) => answer.json<CreativeAnswer>()),
    );
    const failed = answers.filter(({ status }) => status !== 201);
    expect(failed.length).toBeGreaterThan(0);
    for (const answer of failed) {
      expect([answer.status, await answer.json()]).toEqual([500, { message: 'Unexpected error' }]);
    }
    expect(made.filter(({ campaign }) => campaign.is_new)).toHaveLength(1);
    for (let set = 0; set < 4; set++) {
      const ofSet = made.filter(({ adset }) => adset.name === `Set ${set}`);
      expect(ofSet.filter(({ adset }) => adset.is_new)).toHaveLength(1);
    }
    expect(new Set(made.map(({ creative }) => creative.tracking_link)).size).toBe(made.length);
    expect(await rowsOf(tenant)).toEqual({
      campaigns: 1,
      adsets: 4,
      creatives: made.length,
      links: made.length,
      orphans: 0,
    });
    expect(await created(tenant)).toHaveLength(made.length);
  },
);

const STATEMENTS = ['creative_requests', 'campaigns', 'adsets', 'creatives', 'audit_log'];

it.each([...STATEMENTS.map((table) => `into "${table}"`), 'campaign_is_new'])(
  'leaves nothing behind when the statement "%s" fails, and works on',
  async (statement) => {
    const tenant = await createTenant();
    const failing = new WatchedD1(env.DB);
    failing.failOn(new RegExp(statement), 'D1_ERROR: disk I/O error');
    await swapDatabase(tenant, failing.asBinding());
    const names = { campaign: 'Launch', adset: 'Video' };
    const create = () =>
      postCreative(
        worker,
        tenant,
        { creative: 'Dragon', app_api_key: tenant.apiKey, ...names },
        { 'Idempotency-Key': 'launch' },
      );
    const refused = await create();
    expect(failing.faultsLeft).toBe(0);
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([500, '1']);
    expect(await rowsOf(tenant)).toMatchObject({ campaigns: 0, adsets: 0, creatives: 0 });
    expect(await created(tenant)).toEqual([]);
    const taken: CreativeAnswer = await (await create()).json();
    expect(await created(tenant)).toEqual(['Dragon in Launch › Video']);
    expect(taken).toMatchObject({ campaign: { is_new: true }, adset: { is_new: true } });
  },
);

it('answers normally when the answer of D1 is lost', async () => {
  const tenant = await createTenant();
  let lost = 0;
  const forgetful = {
    prepare: (sql: string) => env.DB.prepare(sql),
    batch: async <T>(statements: D1PreparedStatement[]) => {
      const results = await env.DB.batch<T>(statements);
      if (lost++ === 0) throw new Error('Network connection lost');
      return results;
    },
  };
  await swapDatabase(tenant, forgetful as unknown as D1Database);
  const answer: CreativeAnswer = await (await post(tenant, { campaign: 'Launch', adset: 'Video' })).json();
  expect(lost).toBe(2);
  expect(answer).toMatchObject({ campaign: { is_new: true }, adset: { is_new: true } });
  expect(await created(tenant)).toHaveLength(1);
  expect(await rowsOf(tenant)).toMatchObject({ campaigns: 1, adsets: 1, creatives: 1 });
});

it('calls the object again when a call is lost, and creates nothing twice', async () => {
  const tenant = await createTenant();
  const stub = env.CREATIVES.getByName(tenant.application.id);
  let calls = 0;
  const flaky = {
    getByName: () => ({
      create: async (wanted: Parameters<typeof stub.create>[0]) => {
        const made = await stub.create(wanted);
        if (calls++ === 0) throw Object.assign(new Error('Network connection lost'), { retryable: true });
        return made;
      },
    }),
  };
  const own = startWorker({ CREATIVES: flaky as unknown as Env['CREATIVES'] });
  const body = { creative: 'Dragon', app_api_key: tenant.apiKey };
  const answer: CreativeAnswer = await (await postCreative(own, tenant, body)).json();
  expect(calls).toBe(2);
  expect(answer).toMatchObject({ campaign: { is_new: true }, adset: { is_new: true } });
  expect(await rowsOf(tenant)).toMatchObject({ campaigns: 1, adsets: 1, creatives: 1 });
});
