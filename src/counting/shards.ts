import { and, eq, lt } from 'drizzle-orm';
import { applications, database } from '#db';
import { murmur128 } from '#lib/murmur';
import type { CounterApi } from './api.ts';

/** The largest number of counters of an application. */
export const MAX_SHARDS = 64;

export const counterName = (applicationId: string, shard: number) => `${applicationId}:${shard}`;

/** The application and shard in a counter's name. */
export function readCounterName(name: string): { applicationId: string; shard: number } {
  const at = name.lastIndexOf(':');
  return { applicationId: name.slice(0, at), shard: Number(name.slice(at + 1)) };
}

/** What calls go to. `CounterApi` comes first, so that their answers have its types instead of those that RPC makes of them. */
export type CounterStub = CounterApi & ReturnType<Env['COUNTERS']['getByName']>;

export type CounterBindings = Pick<Env, 'COUNTERS'>;

/** An application and the number of its counters, as stored in its row. */
export type ShardedApplication = { id: string; shards: number };

/** The numbers of an application's counters. */
export const shardNumbers = (shards: number): number[] => [...Array(shards).keys()];

/** The names of an application's counters. */
export const counterNames = ({ id, shards }: ShardedApplication): string[] =>
  shardNumbers(shards).map((shard) => counterName(id, shard));

export function counterOf(env: CounterBindings, applicationId: string, shard: number): CounterStub {
  return env.COUNTERS.getByName(counterName(applicationId, shard));
}

/** All counters of an application. */
export function countersOf(env: CounterBindings, applicationId: string, shards: number) {
  return shardNumbers(shards).map((shard) => counterOf(env, applicationId, shard));
}

/** The shard of a new device: by its backend's name for it, or else by its own id. */
export const homeShard = (name: string, shards: number): number => murmur128(name)[0] % shards;

/** The shards that may have a device, by its alias: that of the newest shard count first, then the earlier ones. Counts only double. */
export function possibleShards(alias: string, shards: number): number[] {
  const homes = new Set<number>();
  for (let count = shards; count >= 1; count = Math.floor(count / 2)) homes.add(homeShard(alias, count));
  return [...homes];
}

/** Raises the number of an application's shards. Never lowers it: existing devices stay where they are, new ones are spread over all shards. */
export async function raiseShards(db: D1Database, applicationId: string, shards: number): Promise<unknown> {
  const raised = Math.min(MAX_SHARDS, shards);
  return database(db)
    .update(applications)
    .set({ shards: raised })
    .where(and(eq(applications.id, applicationId), lt(applications.shards, raised)))
    .run();
}
