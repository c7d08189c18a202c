import { counterOf, findDevices } from '#counting';
import { hashKeyOf } from '#hashing';
import { aliasOf } from './draft.ts';

/** A device as others may know it: by the `device_id` that the backend gave it. */
export type NamedDevice = {
  id: string;
  shard: number;
  acquiredDay: string;
  /** Null for an organic device. */
  creativeId: string | null;
  country: string;
  os: string;
  network: string;
  test: boolean;
};

/** The device that has one of these names as its `device_id`: that of the first name that any has. Null if none has. */
export async function findNamedDevice(
  env: Env,
  { id, shards }: { id: string; shards: number },
  names: readonly string[],
): Promise<NamedDevice | null> {
  if (names.length === 0) return null;
  const hashKey = await hashKeyOf(env);
  const aliases = await Promise.all(names.map((name) => aliasOf(hashKey, id, name)));
  const found = await findDevices(
    env,
    id,
    shards,
    aliases.flatMap((alias) => alias ?? []),
  );
  const first = aliases.flatMap((alias) => found.get(alias ?? '') ?? [])[0];
  if (!first) return null;
  const { shard, device } = first;
  const stored = await counterOf(env, id, shard).readDevice(device.id);
  if (!stored) return null;
  const { country, os, network } = stored.description.segment;
  return {
    id: device.id,
    ...{ shard, acquiredDay: device.acquiredDay, creativeId: device.creativeId },
    ...{ country, os, network, test: stored.description.test },
  };
}
