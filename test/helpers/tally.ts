import type { LoggedEvent, SegmentBook } from '#catalogue';
import type { CountedRows, DeviceNamed } from '../../src/rollup/adding-up.ts';
import { type DeviceState, RunningDevice } from '../../src/rollup/device/device-state.ts';
import { Journal } from '../../src/rollup/device/journal.ts';
import { type SeenKeys, startTally, type TakenKey } from '../../src/rollup/tally.ts';
import { transactionsInMemory } from '../../src/rollup/transactions.ts';

/** What is known before a run of events is counted. */
export type TallyInput = {
  /** By `deviceKey`; always the same object for a device. A device that is missing was erased. */
  devices: Pick<ReadonlyMap<string, DeviceState>, 'get'>;
  /** By `scopedKey`: the event that was counted under the key. */
  keys: Pick<ReadonlyMap<string, string>, 'get'>;
  /** By token id: when it was revoked, in epoch milliseconds. Tokens that were not revoked are missing. */
  revokedTokens: ReadonlyMap<string, number>;
  segments: SegmentBook;
};

export const deviceKey = (device: { applicationId: string; acquiredDay: string; id: string }) =>
  `${device.applicationId}/${device.acquiredDay}/${device.id}`;

const deviceKeyOf = (of: Parameters<DeviceNamed>[0]) =>
  deviceKey({ applicationId: of.application_id, acquiredDay: of.acquired_day, id: of.device_id });

/** Counts events as a run of a counter does, with all that is known in memory. Returns the rows, and the devices and keys that it changed. */
export function tally(
  events: Iterable<LoggedEvent>,
  { devices, keys, ...known }: TallyInput,
): CountedRows & { devices: DeviceState[]; keys: Omit<TakenKey, 'name'>[] } {
  const taken = new Map<string, Omit<TakenKey, 'name'>>();
  const seen: SeenKeys = {
    eventOf: (name) => keys.get(name) ?? taken.get(name)?.eventId,
    take: ({ name, ...key }) => taken.set(name, key),
  };
  const journal = new Journal();
  const running = new Map<string, { stored: DeviceState; device: RunningDevice }>();
  const deviceOf: DeviceNamed = (of) => {
    const key = deviceKeyOf(of);
    const stored = devices.get(key);
    if (stored && !running.has(key)) running.set(key, { stored, device: new RunningDevice(stored, journal) });
    return running.get(key)?.device;
  };
  const run = startTally({
    ...{ ...known, keys: seen, deviceOf, deviceNamed: deviceOf },
    transactions: transactionsInMemory(),
  });
  for (const event of events) run.count(event);
  const after = [...running.values()].map(({ stored, device }) => device.toState(stored));
  return {
    ...run.counted,
    devices: after.flatMap(({ state, isChanged }) => (isChanged ? [state] : [])),
    keys: [...taken.values()],
  };
}
