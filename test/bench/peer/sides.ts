import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import pg from 'pg';
import { bundleWorker } from '../../../src/cli/bundle.ts';
import { migrate } from '../../helpers/workerd.ts';
import { type Credentials, makeCredentials } from '../credentials.ts';
import { cpuSeconds, cpuSecondsOfAll, findWorkerd } from '../processes.ts';
import { OUT, workerOptions } from '../rig.ts';
import { makeTenant } from '../tenant.ts';
import type { BenchDevice } from '../workload.ts';
import type { Cluster } from './postgres.ts';

/** What has been counted. */
export type Sums = {
  impressions: number;
  ad_revenue_nanos: number;
  purchases: number;
  sessions: number;
  custom_events: number;
};

/** One of the two services that are compared. */
export type Side = {
  url: URL;
  /** Returns once that many events in all have been counted, which takes no longer than it must. */
  untilCounted: (events: number) => Promise<void>;
  sums: () => Promise<Sums>;
  cpuSeconds: () => Promise<number>;
  stop: () => Promise<void>;
};

/** The last batch of a turn is not full; that it waits longer in production is a delay, and no cost. */
const QUEUE = { maxBatchSize: 100, maxBatchTimeout: 0.1 };

/** How often it is asked whether all events have been consumed: rarely enough to cost nothing. */
const POLL_MS = 10;

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** The service in one workerd, with the application, devices and tokens that both sides are sent events for. */
export async function startOurs(
  devices: readonly BenchDevice[],
): Promise<Side & { credentials: Credentials }> {
  const modules = await bundleWorker(path.join(import.meta.dirname, 'worker.ts'), path.join(OUT, 'peer'));
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [{ ...workerOptions('service', modules, 'service'), queueConsumers: { events: QUEUE } }],
    }),
  );
  const db = await miniflare.getD1Database('DB', 'service');
  await migrate(db);
  const credentials = await makeCredentials(db, await makeTenant(db), 'Peer', devices);
  const url = await miniflare.unsafeGetDirectURL('service');
  const call = async (at: string, method = 'POST') => {
    const response = await fetch(new URL(`/bench/${at}`, url), { method });
    if (!response.ok) throw new Error(`${at} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const { applicationId } = credentials;
  await call(`devices/${applicationId}/${devices.length}`);
  const workerd = await findWorkerd();
  return {
    credentials,
    url,
    untilCounted: async (events) => {
      const consumed = async () => ((await call('consumed', 'GET')) as { events: number }).events;
      while ((await consumed()) < events) await pause(POLL_MS);
      await call(`ring/${applicationId}`);
    },
    sums: async () => {
      const sums = await db
        .prepare(
          `SELECT sum(impressions) AS impressions, sum(ad_revenue + ad_revenue_high * 1000000000000) AS ad_revenue_nanos,
             sum(purchases) AS purchases, sum(sessions) AS sessions, sum(custom_events) AS custom_events
           FROM rollup_daily WHERE application_id = ?`,
        )
        .bind(applicationId)
        .first<Sums>();
      if (!sums) throw new Error('there are no sums');
      return sums;
    },
    cpuSeconds: () => cpuSeconds(workerd),
    stop: () => miniflare.dispose(),
  };
}

/** The Fastify server over this Postgres, with the same application, devices and tokens. */
export async function startPeer(
  cluster: Cluster,
  devices: readonly BenchDevice[],
  { applicationId, apiKey, tokens }: Credentials,
): Promise<Side> {
  const db = new pg.Client({ host: cluster.host, user: cluster.user, database: 'postgres' });
  // Postgres ends connections when the whole group of processes is interrupted. A query that fails rejects all the same.
  db.on('error', () => undefined);
  await db.connect();
  await db.query(await readFile(path.join(import.meta.dirname, 'schema.sql'), 'utf8'));
  await db.query('INSERT INTO applications VALUES ($1, $2)', [applicationId, apiKey]);
  await db.query(
    'INSERT INTO devices SELECT token, $1, device, creative FROM unnest($2::text[], $3::text[], $4::text[]) AS sent(token, device, creative)',
    [applicationId, tokens, devices.map(({ id }) => id), devices.map(({ creativeId }) => creativeId)],
  );
  const server = spawn(process.execPath, [path.join(import.meta.dirname, 'server.ts')], {
    env: { ...process.env, PGHOST: cluster.host, PGUSER: cluster.user, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  const failed = ended.then(([code]) => {
    throw new Error(`the peer ended with code ${code}`);
  });
  failed.catch(() => undefined);
  const [address] = await Promise.race([once(createInterface(server.stdout), 'line'), failed]);
  const pid = server.pid ?? Number.NaN;
  return {
    url: new URL(String(address)),
    // An event is counted when it is acknowledged.
    untilCounted: async () => undefined,
    sums: async () => {
      // Texts become numbers: sums of bigint are numeric.
      const { rows } = await db.query<Record<keyof Sums, string>>(
        `SELECT sum(impressions) AS impressions, sum(ad_revenue_nanos) AS ad_revenue_nanos, sum(purchases) AS purchases,
           sum(sessions) AS sessions, sum(custom_events) AS custom_events
         FROM rollup_daily WHERE application_id = $1`,
        [applicationId],
      );
      return Object.fromEntries(
        Object.entries(rows[0] ?? {}).map(([name, sum]) => [name, Number(sum)]),
      ) as unknown as Sums;
    },
    cpuSeconds: async () => (await cpuSeconds(pid)) + (await cpuSecondsOfAll(cluster.pid)),
    stop: async () => {
      server.kill('SIGTERM');
      await ended;
      await db.end();
    },
  };
}
