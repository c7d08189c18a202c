import type { DeviceDimension, DeviceEvent, LoggedEvent, SEGMENT } from '#catalogue';

/** The part of the R2 bucket API that is used here. `put` replaces a whole object; `delete` is idempotent. */
export type Bucket = {
  put(key: string, bytes: Uint8Array): Promise<unknown>;
  get(
    key: string,
    options: { range: { offset: number; length: number } },
  ): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  delete(keys: string[]): Promise<void>;
};

/** Why an event is not counted in reports; absent for one that is. */
export type CountingResult = {
  outcome?: 'duplicate' | 'ignored' | 'parked';
  /** Of an ignored event, and of one that was parked because its device is unknown. */
  reason?: string;
  /** Of a duplicate, if known: the event that was counted. */
  duplicate_of?: string;
};

/**
 * What raw events tell of their device at its acquisition, under the `field` of each dimension; a click tells its own. Reports count an event
 * under it. Absent if unknown.
 */
export type Placed = { [Name in DeviceDimension as (typeof SEGMENT)[Name]['field']]?: string | undefined };

/** An event as stored in files: with the outcome of counting, and the id that its client gave it. */
export type StoredEvent = LoggedEvent & CountingResult & Placed & { client_event_id?: string };
export type StoredDeviceEvent = Extract<StoredEvent, DeviceEvent>;

/** A counter's share of an application. */
export type FileSource = { applicationId: string; shard: number };

/**
 * What an index knows about a raw event file, so that readers open only files that may contain what they look for. About 700 bytes, plus
 * five for each country or network and one for each device in the file. Plain data except for `deviceFilter`.
 */
export type FileEntry = FileSource & {
  /** `events/application=<id>/day=<day of the events>/<first event id>.parquet`; a rewritten one ends in `.r<revision>.parquet`. */
  key: string;
  revision: number;
  rows: number;
  bytes: number;
  /** The length of the footer, so that a single read fetches it. */
  footerBytes: number;
  /** Epoch milliseconds. */
  firstReceivedAt: number;
  lastReceivedAt: number;
  /** Days of the events, in the application's time zone: the same, unless they are not in the calendar. */
  firstDay: string;
  lastDay: string;
  firstEventId: string;
  lastEventId: string;
  /** The number of events of each type. */
  types: Partial<Record<LoggedEvent['type'], number>>;
  /** The values of devices' dimensions in the file, with empty text for unknown ones. It lacks dimensions that are newer than the file. */
  values?: Partial<Record<DeviceDimension, string[]>>;
  deviceFilter: Uint8Array;
  /** Objects that this file replaced and that may still exist. `deleteReplaced` removes them. */
  replaces: string[];
};

/** An entry's object is not in the bucket: the file was rewritten or expired after the index was read. */
export class MissingFileError extends Error {
  readonly key: string;

  constructor(key: string) {
    super(`The raw event file ${key} is missing`);
    this.key = key;
  }
}
