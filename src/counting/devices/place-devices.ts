import type { LoggedEvent } from '#catalogue';
import { eventText } from '#rollup';
import type { CreatedDevice, DeviceIdentity, NewDevice } from '../api.ts';
import { packEvents } from '../log.ts';
import { retryCall } from '../retry.ts';
import { type CounterBindings, counterOf, homeShard, possibleShards } from '../shards.ts';

export type FoundDevice = { shard: number; device: DeviceIdentity };

export type WantedDevice = {
  /** Keyed hash of the backend's name for the device; null if it has none. */
  alias: string | null;
  device: NewDevice;
  /** The install to count if the device is created in this shard. */
  install: (shard: number) => LoggedEvent;
  /** Whether the install waits until Apple was asked about this AdServices token. */
  appleToken?: string | undefined;
};

/** `earlierClickId` is the click that an earlier call credited the device with; null if this call created it. */
export type PlacedDevice = FoundDevice & { earlierClickId: string | null };

/**
 * The devices with these aliases, wherever they were created, with one call per counter. `shards` is the number of the application's counters
 * that the caller knows. The call also tells older counters this number, after which they create no device that belongs elsewhere.
 */
export async function findDevices(
  env: CounterBindings,
  applicationId: string,
  shards: number,
  aliases: Iterable<string>,
): Promise<Map<string, FoundDevice>> {
  const asked = new Map<number, string[]>();
  for (const alias of new Set(aliases)) {
    for (const shard of possibleShards(alias, shards)) asked.set(shard, [...(asked.get(shard) ?? []), alias]);
  }
  const answers = await Promise.all(
    [...asked].map(async ([shard, own]) => {
      const devices = await retryCall(() => counterOf(env, applicationId, shard).findDevices(own, shards));
      return own.flatMap((alias, index): [string, FoundDevice][] => {
        const device = devices[index];
        return device ? [[alias, { shard, device }]] : [];
      });
    }),
  );
  return new Map(answers.flat());
}

/**
 * Creates devices in the counters where they belong, with one call per counter. If a device with the same alias was created in the meantime, that
 * one is returned. For aliases that may be in several counters (`possibleShards`), the caller must have called `findDevices` with the same
 * `shards` before. Returns the devices in the order of `wanted`. Idempotent with the same `wanted`, because the caller mints the ids.
 */
export async function createDevices(
  env: CounterBindings,
  applicationId: string,
  shards: number,
  wanted: readonly WantedDevice[],
): Promise<PlacedDevice[]> {
  const placed = new Map<WantedDevice, PlacedDevice>();
  let known = shards;
  for (let left = wanted; left.length > 0; ) {
    const homes = Map.groupBy(left, ({ alias, device }) => homeShard(alias ?? device.id, known));
    const answers = await Promise.all(
      [...homes].map(([shard, own]) => createAt(env, applicationId, shard, known, own)),
    );
    const moved: WantedDevice[] = [];
    for (const [one, shard, made] of answers.flat()) {
      if (made.outcome === 'moved') {
        known = Math.max(known, made.shards);
        moved.push(one);
      } else {
        const earlierClickId = made.outcome === 'found' ? made.clickId : null;
        placed.set(one, { shard, device: made.device, earlierClickId });
      }
    }
    // A counter knows of more shards than the caller did, so these devices may already exist where they belong.
    const found = await findDevices(
      env,
      applicationId,
      known,
      moved.flatMap(({ alias }) => alias ?? []),
    );
    left = moved.filter((one) => !found.has(one.alias ?? ''));
    for (const one of moved) {
      const earlier = found.get(one.alias ?? '');
      if (earlier) placed.set(one, { ...earlier, earlierClickId: null });
    }
  }
  return wanted.map((one) => {
    const device = placed.get(one);
    if (!device) throw new Error('A counter did not return every device');
    return device;
  });
}

async function createAt(
  env: CounterBindings,
  applicationId: string,
  shard: number,
  shards: number,
  own: readonly WantedDevice[],
): Promise<[WantedDevice, number, CreatedDevice][]> {
  const events = own.map(({ install }) => install(shard));
  const installs = packEvents(applicationId, events);
  const devices = own.map(({ alias, device, appleToken: token }, index) => {
    const install = events[index];
    return {
      ...{ alias, device },
      ...(token && install ? { credit: { token, install: eventText(install) } } : {}),
    };
  });
  const made = await retryCall(() =>
    counterOf(env, applicationId, shard).createOrFindDevices(shards, devices, installs),
  );
  return own.flatMap((one, index): [WantedDevice, number, CreatedDevice][] => {
    const outcome = made[index];
    return outcome ? [[one, shard, outcome]] : [];
  });
}
