import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { RestoreProgress } from '#backup';
import { beginRestoreSql } from '#backup/begin';
import { counterOf, countersOf } from '#counting';
import { emptyStores } from './empty-stores.ts';
import type { TestWorker } from './worker.ts';

/** Exports everything that an application's counters have counted, as they do within the hour. */
export async function exportAll(applicationId: string, shards: number): Promise<void> {
  for (const counter of countersOf(env, applicationId, shards))
    await counter.whileStill(async () => undefined);
}

/** The objects of the bucket, by key. */
export async function readBucket(): Promise<Map<string, ArrayBuffer>> {
  const objects = new Map<string, ArrayBuffer>();
  const { objects: listed } = await env.RAW_EVENTS.list();
  for (const { key } of listed) {
    const object = await env.RAW_EVENTS.get(key);
    if (object) objects.set(key, await object.arrayBuffer());
  }
  return objects;
}

/** Loses the database, the counters and every other object. Only the bucket is left, or what `keeps` returns of it. */
export async function loseAllButBucket(
  keeps: (objects: Map<string, ArrayBuffer>) => Map<string, ArrayBuffer> = (objects) => objects,
): Promise<void> {
  const objects = keeps(await readBucket());
  await emptyStores();
  for (const [key, bytes] of objects) await env.RAW_EVENTS.put(key, bytes);
}

/** Loses everything that one counter stored. */
export async function loseCounter(applicationId: string, shard = 0): Promise<void> {
  const stub = counterOf(env, applicationId, shard) as unknown as DurableObjectStub<undefined>;
  await runInDurableObject(stub, (_, { storage }) => storage.deleteAll());
  await evictDurableObject(stub);
}

/** Begins a restore as the command line does. Returns its secret, and whether the database accepted it. */
export async function beginRestore(
  applicationId: string | null = null,
): Promise<{ secret: string; begun: boolean }> {
  const { statements, secret } = await beginRestoreSql(Date.now(), applicationId);
  const results = await env.DB.batch(statements.split(';\n').map((sql) => env.DB.prepare(sql)));
  return { secret, begun: (results.at(-1)?.results ?? []).length > 0 };
}

/** One request of a restore. */
export const askRestore = (worker: TestWorker, secret: string, body: object = {}): Promise<Response> =>
  worker.request('/restore', {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Restores everything from the bucket, or one application of a deployment that goes on. */
export async function restoreAll(
  worker: TestWorker,
  applicationId: string | null = null,
): Promise<RestoreProgress> {
  const { secret } = await beginRestore(applicationId);
  for (;;) {
    const answer = await askRestore(worker, secret);
    const progress: RestoreProgress = await answer.json();
    if (answer.status !== 200) throw new Error(JSON.stringify(progress));
    if (progress.finished) return progress;
  }
}
