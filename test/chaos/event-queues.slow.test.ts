import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { queueBinding, queueName } from '#lib/event-queues';
import { bundleWorker } from '../../src/cli/bundle.ts';
import { ROOT } from '../../src/cli/local-state.ts';
import { pick, seededRandom } from '../helpers/random.ts';
import { esModules, migrate } from '../helpers/workerd.ts';
import { JournalClient, type Tenant } from './client.ts';
import { verify } from './verify.ts';

// Three queues of workerd, of which the service sends to one, then to three, then to two, while clients send without a pause.

const NUMBERS = [0, 1, 2];
const CLIENTS = 6;
const STEPS = 24;
const nameOf = (number: number) => queueName('events', number);

let folder: string;
let miniflare: Miniflare;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'queues-'));
  const modules = await bundleWorker(path.join(ROOT, 'test/chaos/queues-worker.ts'), folder);
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [
        {
          name: 'queues',
          ...esModules(modules),
          compatibilityDate: '2026-10-01',
          compatibilityFlags: ['nodejs_compat'],
          bindings: {
            TOKEN_SECRET: 'a-token-secret-of-the-queues-test-00000000',
            KEY_ENCRYPTION_SECRET: 'a-key-encryption-secret-of-the-queues-test',
            SESSION_SECRET: 'a-session-secret-of-the-queues-test-000000',
          },
          d1Databases: { DB: 'queues' },
          r2Buckets: { RAW_EVENTS: 'queues' },
          versionMetadata: 'CF_VERSION_METADATA',
          durableObjects: { COUNTERS: { className: 'Counter', useSQLite: true } },
          queueProducers: Object.fromEntries(
            NUMBERS.map((number) => [queueBinding(number), { queueName: nameOf(number) }]),
          ),
          queueConsumers: Object.fromEntries(
            NUMBERS.map((number) => [nameOf(number), { maxBatchSize: 20, maxBatchTimeout: 0.1 }]),
          ),
          unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
        },
      ],
    }),
  );
  await migrate(await miniflare.getD1Database('DB', 'queues'));
  url = String(await miniflare.unsafeGetDirectURL('queues')).replace(/\/$/, '');
});
afterAll(async () => {
  await miniflare.dispose();
  await rm(folder, { recursive: true });
});

it('counts each event once while the number of queues changes', async () => {
  const random = seededRandom(1);
  const read = async <Answer>(name: string) => (await (await fetch(`${url}/${name}`)).json()) as Answer;
  const tenant = await read<Tenant>('tenant');
  let sentTo: readonly number[] = [1];
  const client = new JournalClient(random, tenant, () => `${url}/sent-to/${pick(random, sentTo)}`);
  const through = async () => {
    for (let step = 0; step < STEPS; step++) await client.step();
  };
  for (sentTo of [[1], [1, 3], [3], [3, 2], [2]]) {
    await Promise.all(Array.from({ length: CLIENTS }, through));
  }
  const queued = async () => {
    const headers = { 'Service-Token': tenant.teamToken };
    const answer = await fetch(`${url}/sent-to/2/v1/health`, { headers });
    return ((await answer.json()) as { queued_messages: number }).queued_messages;
  };
  await expect.poll(queued, { timeout: 60_000 }).toBe(0);
  const judge = () => verify(`${url}/sent-to/2`, tenant, { client, receiver: null }, {});
  await expect.poll(async () => (await judge()).violations, { timeout: 60_000 }).toEqual([]);
  const verdict = await judge();
  expect(verdict.acknowledged).toBe(verdict.sent);
  expect(verdict.sent).toBeGreaterThan(1_000);
  const delivered = await read<Record<string, number>>('delivered');
  for (const number of NUMBERS) expect(delivered[nameOf(number)], nameOf(number)).toBeGreaterThan(25);
});
