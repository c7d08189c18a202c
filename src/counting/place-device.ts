import type { LoggedEvent } from '#rollup';
import type { CreatedDevice, DeviceIdentity, NewDevice } from './api.ts';
import { packEvents } from './pack.ts';
import { retried } from './retry.ts';
import { counterOf, homeShard, possibleShards } from './shards.ts';

export type WantedDevice = {
  applicationId: string;
  /** Keyed hash of what its backend calls the device; null where it has no name. */
  alias: string | null;
  /** How many counters the application has, as far as the caller knows: one that knows of more says so. */
  shards: number;
  device: NewDevice;
  /** The install to count if the device is made in this shard. */
  install: (shard: number) => LoggedEvent;
};

export type PlacedDevice = { shard: number; device: DeviceIdentity; created: boolean };

/**
 * Makes a device in the counter where it belongs, or finds the one of its alias, wherever that was made when the application
 * had fewer counters. Of calls at once under one alias one makes the device. Repeatable after an unclear failure with the same
 * `wanted`: the ids are minted by the caller, and so the same device is found.
 */
export async function placeDevice(env: Pick<Env, 'COUNTERS'>, wanted: WantedDevice): Promise<PlacedDevice> {
  const { applicationId, alias, device, install } = wanted;
  for (let { shards } = wanted; ; ) {
    const home = homeShard(alias ?? device.id, shards);
    if (alias !== null) {
      // Asking tells an older counter of the newer number, after which it makes no device that belongs here.
      const earlier = possibleShards(alias, shards).filter((shard) => shard !== home);
      const found = await Promise.all(
        earlier.map(async (shard) => ({
          shard,
          device: await retried(() => counterOf(env, applicationId, shard).findDevice(alias, shards)),
        })),
      );
      for (const one of found)
        if (one.device) return { shard: one.shard, device: one.device, created: false };
    }
    const batch = packEvents(applicationId, [install(home)]);
    const made = await retried<CreatedDevice>(
      async () => await counterOf(env, applicationId, home).createOrFindDevice(alias, shards, device, batch),
    );
    if (made.outcome !== 'moved') {
      return { shard: home, device: made.device, created: made.outcome === 'created' };
    }
    shards = made.shards;
  }
}
