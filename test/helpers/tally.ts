import {
  isMoney,
  isOfDevice,
  type LoggedEvent,
  MEASURES,
  ROLLUP_KEYS,
  type RollupTable,
  type SegmentBook,
} from '#catalogue';
import { reasonToIgnore, Tally } from '#rollup';
import type { CountedRows, DeviceNamed } from '../../src/rollup/adding-up.ts';
import { type DeviceState, RunningDevice } from '../../src/rollup/device/device-state.ts';
import { Journal } from '../../src/rollup/device/journal.ts';
import { type Additions, NANOS_PER_HIGH, sumColumnsOf } from '../../src/rollup/tables.ts';
import { transactionsInMemory } from '../../src/rollup/transactions.ts';

/** What is known before a run of events is counted. */
export type TallyInput = {
  /** By `deviceKey`; always the same object for a device. A device that is missing was erased. */
  devices: Pick<ReadonlyMap<string, DeviceState>, 'get'>;
  /** Sessions, and whatever else counts once, that were counted before: see `EventKind.partKeys`. */
  sessions?: readonly string[];
  /** By token id: when it was revoked, in epoch milliseconds. Tokens that were not revoked are missing. */
  revokedTokens: ReadonlyMap<string, number>;
  segments: SegmentBook;
};

export const deviceKey = (device: { applicationId: string; acquiredDay: string; id: string }) =>
  `${device.applicationId}/${device.acquiredDay}/${device.id}`;

const deviceKeyOf = (of: Parameters<DeviceNamed>[0]) =>
  deviceKey({ applicationId: of.application_id, acquiredDay: of.acquired_day, id: of.device_id });

/**
 * Counts events as a run of a counter does, with all that is known in memory, except that it does not recognise duplicates. Returns the rows, the
 * devices that it changed, and the new sessions.
 */
export function tally(
  events: Iterable<LoggedEvent>,
  { devices, sessions = [], revokedTokens, segments }: TallyInput,
): CountedRows & { devices: DeviceState[]; sessions: string[] } {
  const seen = new Set(sessions);
  const journal = new Journal();
  const running = new Map<string, { stored: DeviceState; device: RunningDevice }>();
  const deviceNamed: DeviceNamed = (of) => {
    const key = deviceKeyOf(of);
    const stored = devices.get(key);
    if (stored && !running.has(key)) running.set(key, { stored, device: new RunningDevice(stored, journal) });
    return running.get(key)?.device;
  };
  const run = new Tally({
    ...{ segments, deviceNamed },
    isFirst: (session) => !seen.has(session) && seen.add(session).has(session),
    transactions: transactionsInMemory(),
  });
  for (const event of events) {
    const own = isOfDevice(event) ? event : null;
    const device = own ? deviceNamed(own) : undefined;
    if (own && reasonToIgnore(own, device ?? 'erased', revokedTokens.get(own.token_id ?? ''))) continue;
    run.count(event, device);
  }
  const after = [...running.values()].map(({ stored, device }) => device.toState(stored));
  return {
    ...run.counted,
    devices: after.flatMap(({ state, isChanged }) => (isChanged ? [state] : [])),
    sessions: [...seen].slice(sessions.length),
  };
}

/** The rows with the sums of all segments together, each measure as one number. */
export function rowsOf(additions: Additions<RollupTable>): { key: (string | number)[]; sums: bigint[] }[] {
  const columns: string[] = [...ROLLUP_KEYS[additions.table], ...sumColumnsOf(additions.table)];
  const keys = ROLLUP_KEYS[additions.table].length;
  return Array.from(additions.together({ segment: () => 0 }).rows(), (row) => {
    const sumOf = (name: string) => BigInt(row[columns.indexOf(name)] ?? 0);
    return {
      key: row.slice(0, keys),
      sums: MEASURES[additions.table].map((name) =>
        isMoney(name) ? sumOf(`${name}_high`) * BigInt(NANOS_PER_HIGH) + sumOf(name) : sumOf(name),
      ),
    };
  });
}
