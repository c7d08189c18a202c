import { readClickId, selectClaim } from '#attribution';
import { counterOf, findDevices, homeShard, possibleShards, type ShardedApplication } from '#counting';
import { database } from '#db';
import { settingsOf } from '#env';
import { hashKeyOf } from '#hashing';
import { testNameOf } from './device-metrics.ts';
import { aliasOf } from './draft.ts';

/** A device as others may know it: by the `device_id` that the backend gave it. */
export type NamedDevice = {
  id: string;
  shard: number;
  acquiredDay: string;
  /** Null for an organic device. */
  creativeId: string | null;
  /** Whether the creative may become another: see `CounterApi.resolveCredit`. */
  creditOpen: boolean;
  country: string;
  os: string;
  network: string;
  test: boolean;
};

/**
 * The device that has one of these names as its `device_id`: that of the first name that any has. Only if none has, that of a test build, so that
 * nothing that is reported of it counts. Null if there is none either.
 */
export async function findNamedDevice(
  env: Env,
  { id, shards }: ShardedApplication,
  names: readonly string[],
): Promise<NamedDevice | null> {
  if (names.length === 0) return null;
  const hashKey = await hashKeyOf(env);
  const all = [...names, ...names.map(testNameOf)];
  const aliases = await Promise.all(all.map((name) => aliasOf(hashKey, id, name)));
  const found = await findDevices(
    env,
    id,
    shards,
    aliases.flatMap((alias) => alias ?? []),
  );
  const first = aliases.flatMap((alias) => found.get(alias ?? '') ?? [])[0];
  if (!first) return null;
  return readNamed(env, id, first.device.id, first.shard);
}

async function readNamed(
  env: Env,
  applicationId: string,
  deviceId: string,
  shard: number,
): Promise<NamedDevice | null> {
  const stored = await counterOf(env, applicationId, shard).readDevice(deviceId);
  if (!stored) return null;
  const { acquiredDay, creativeId, description } = stored;
  const { country, os, network } = description.segment;
  const creditOpen = stored.creditOpen === true;
  return {
    ...{ id: deviceId, shard, acquiredDay, creativeId, creditOpen },
    ...{ country, os, network, test: description.test },
  };
}

/** The counter that creates the device with this `device_id`, as long as the application has as many. */
export async function shardOfName(
  env: Env,
  { id, shards }: ShardedApplication,
  name: string,
): Promise<number> {
  const alias = shards === 1 ? null : await aliasOf(await hashKeyOf(env), id, name);
  return alias === null ? 0 : homeShard(alias, shards);
}

/** The device that is credited with a click, by the click's public id, while the click is kept. Null if there is none. */
export async function findClickedDevice(
  env: Env,
  { id, shards }: ShardedApplication,
  publicClickId: string,
): Promise<NamedDevice | null> {
  const click = await readClickId(settingsOf(env).KEY_ENCRYPTION_SECRET, id, publicClickId);
  if (!click) return null;
  const [claim] = await selectClaim(database(env.DB.withSession()), id, click.id);
  const { deviceId = null, claimedBy = null } = claim ?? {};
  if (deviceId === null || claimedBy === null) return null;
  const found = await Promise.all(
    possibleShards(claimedBy, shards).map((shard) => readNamed(env, id, deviceId, shard)),
  );
  return found.find((device) => device !== null) ?? null;
}
