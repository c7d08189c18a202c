import { getTableConfig } from 'drizzle-orm/sqlite-core';
import { SETTINGS } from '#db';
import { type FileLocation, type FileOutline, partKey, type WrittenParts } from '#lake';
import {
  type ApplicationCopy,
  applicationFolder,
  counterFolder,
  type Manifest,
  settingsFolder,
} from './layout.ts';

/** One step of a restore. Each is idempotent as long as no later one has begun. */
export type RestoreStep =
  /** Writes a part of a table to the database, or to a counter. */
  | { do: 'rows'; table: string; key: string }
  | { do: 'counter rows'; table: string; key: string; application: string; shard: number }
  /** Adds the devices of an export after the snapshot. */
  | { do: 'new devices'; key: string; application: string; shard: number }
  /** Lets an application's counters continue where they were. */
  | { do: 'counters'; application: string }
  /** Plans the steps for an application's raw event files that its counters do not list; `only`: those of some counters. */
  | { do: 'files'; application: string; shards: number; only?: number[] }
  /** Of one application of a living deployment: see `CounterApi.beginRestore`. */
  | { do: 'hold'; application: string; shard: number }
  | { do: 'told' | 'release'; application: string; shards: number[] }
  /** Counts what a counter lacks of the events of its files in a range of ids. */
  | { do: 'events'; application: string; shard: number; files: FileLocation[]; from: string; to: string }
  /** Lists a file. */
  | { do: 'file'; file: FileLocation; application: string; shard: number }
  /** Erases a device that was erased after the snapshot. */
  | { do: 'erasure'; key: string };

export type RestorePlan = { day: string; manifest: Manifest; steps: RestoreStep[] };

const partsOf = (folder: string, table: string, { parts }: WrittenParts) =>
  Array.from({ length: parts }, (_, part) => ({ table, key: partKey(folder, table, part) }));

/** The keys of what counters wrote about new devices after a copy, by application and shard. */
export type DevicesSince = (application: string, shard: number, countedBatch: number) => readonly string[];

function stepsOf(
  day: string,
  { id: application, tables, counters }: ApplicationCopy,
  newDevices: DevicesSince,
): RestoreStep[] {
  const folder = applicationFolder(day, application);
  return [
    ...Object.entries(tables).flatMap(([table, written]) =>
      partsOf(folder, table, written).map((part): RestoreStep => ({ do: 'rows', ...part })),
    ),
    // Before the copy, whose rows do not replace them: it may have a device as it was before its credit was settled.
    ...counters.flatMap(({ countedBatch }, shard) =>
      newDevices(application, shard, countedBatch).map(
        (key): RestoreStep => ({ do: 'new devices', key, application, shard }),
      ),
    ),
    ...counters.flatMap((copy, shard) =>
      Object.entries(copy.tables).flatMap(([table, written]) =>
        partsOf(counterFolder(day, application, shard), table, written).map(
          (part): RestoreStep => ({ do: 'counter rows', ...part, application, shard }),
        ),
      ),
    ),
    { do: 'counters', application },
    { do: 'files', application, shards: counters.length },
  ];
}

export const blankCounter = (shards: number) => ({
  ...{ countedBatch: 0, sequence: 0, run: 0, shards, raisedBytes: 0, tables: {} },
});

/** Of an application that the snapshot lacks, everything is counted from its raw events. */
const blankCopy = ({ id, shards }: Manifest['missing'][number]): ApplicationCopy => ({
  ...{ id, takenAt: 0, since: 0, tables: {} },
  counters: Array.from({ length: shards }, () => blankCounter(shards)),
});

/** The counters that are restored into a living deployment; none if all of the deployment is. */
export const lostIn = (steps: readonly RestoreStep[]): number[] =>
  steps.flatMap((step) => (step.do === 'hold' ? [step.shard] : []));

/** The steps that restore a snapshot: applications first, then everything else, so that nothing is accepted before it can be counted. */
export function planRestore(
  day: string,
  manifest: Manifest,
  { newDevices, erasures }: { newDevices: DevicesSince; erasures: readonly string[] },
): RestorePlan {
  const names = SETTINGS.map((table) => getTableConfig(table).name);
  const settings = names.flatMap((name) => {
    const written = manifest.settings[name];
    return written ? partsOf(settingsFolder(day), name, written) : [];
  });
  return {
    day,
    manifest,
    steps: [
      ...manifest.applications.flatMap((copy) => stepsOf(day, copy, newDevices)),
      ...manifest.missing.flatMap((missing) => stepsOf(day, blankCopy(missing), newDevices)),
      ...settings.map((part): RestoreStep => ({ do: 'rows', ...part })),
      ...erasures.map((key): RestoreStep => ({ do: 'erasure', key })),
    ],
  };
}

/**
 * The steps that restore the lost counters of an application, of which there are `shards`, into a living deployment: from the snapshot that has them,
 * or else from raw events alone.
 */
export function planApplication(
  day: string,
  manifest: Manifest,
  { id: application, shards }: { id: string; shards: number },
  { lost, newDevices, erasures }: { lost: number[]; newDevices: DevicesSince; erasures: readonly string[] },
): RestorePlan {
  const whole = manifest.applications[0] ?? blankCopy({ id: application, shards });
  // The database, and the other counters, have what is theirs.
  const ofLost = whole.counters.map((counter, shard) =>
    lost.includes(shard) ? counter : { ...counter, tables: {} },
  );
  const copy = { ...whole, tables: {}, counters: ofLost };
  const isOfLost = (step: RestoreStep) => 'shard' in step && lost.includes(step.shard);
  return {
    day,
    manifest: { ...manifest, applications: [copy] },
    steps: [
      ...lost.map((shard): RestoreStep => ({ do: 'hold', application, shard })),
      ...stepsOf(day, copy, newDevices).filter(isOfLost),
      { do: 'counters', application },
      { do: 'files', application, shards, only: lost },
      { do: 'told', application, shards: lost },
      { do: 'release', application, shards: lost },
      ...erasures.map((key): RestoreStep => ({ do: 'erasure', key })),
    ],
  };
}

/** A range of events ends with the file that has more events than this, together with those before it. */
const EVENTS_PER_RANGE = 50_000;
/** Sorts after every id. */
const END = '~';

/**
 * The steps that count the events of one counter's files in the order of receipt, and then list the files. The files of several days have events
 * of the same time, so each range of ids reads all files that may have some of them.
 */
export function stepsOfFiles(
  application: string,
  shard: number,
  files: readonly { file: FileLocation; outline: FileOutline }[],
): RestoreStep[] {
  const sorted = [...files].sort((left, right) =>
    left.outline.firstEventId < right.outline.firstEventId ? -1 : 1,
  );
  const starts: string[] = [];
  let events = 0;
  for (const { outline } of sorted) {
    const isFull = events + outline.rows > EVENTS_PER_RANGE && outline.firstEventId !== starts.at(-1);
    if (starts.length === 0 || isFull) {
      starts.push(outline.firstEventId);
      events = 0;
    }
    events += outline.rows;
  }
  const ranges = starts.map((from, index): RestoreStep => {
    const to = starts[index + 1] ?? END;
    const own = sorted.filter(({ outline }) => outline.firstEventId < to && outline.lastEventId >= from);
    return { do: 'events', application, shard, files: own.map(({ file }) => file), from, to };
  });
  return [...ranges, ...sorted.map(({ file }): RestoreStep => ({ do: 'file', file, application, shard }))];
}

/** The number of rows in a snapshot. */
export function rowsIn({ settings, applications }: Manifest): number {
  const all = [
    settings,
    ...applications.flatMap(({ tables, counters }) => [tables, ...counters.map((copy) => copy.tables)]),
  ];
  return all.flatMap((tables) => Object.values(tables)).reduce((sum, { rows }) => sum + rows, 0);
}
