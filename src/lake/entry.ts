import type { LoggedEvent, OsFamily } from '#catalogue';

/** What of an R2 bucket is used here; `put` replaces an object whole, `delete` may be repeated. */
export type Bucket = {
  put(key: string, bytes: Uint8Array): Promise<unknown>;
  get(
    key: string,
    options: { range: { offset: number; length: number } },
  ): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  delete(keys: string[]): Promise<void>;
};

/** Why an event counts in no report; absent for one that counts. */
export type Fate = {
  outcome?: 'duplicate' | 'ignored' | 'parked';
  /** Of an ignored event. */
  reason?: string;
  /** Of a repeat, where it is known: the event that was counted. */
  duplicate_of?: string;
};

/**
 * Where an event counts in reports: the country and OS of its device at its acquisition, or a click's own. Absent where they are
 * not known.
 */
export type Placed = { country?: string | undefined; os_family?: OsFamily | undefined };

/** An event as the files keep it: with what counting it has found. */
export type StoredEvent = LoggedEvent & Fate & Placed;

/** A counter's part of an application. */
export type Source = { applicationId: string; shard: number };

/**
 * What an index knows of a raw event file, so that readers open only files that may hold what they look for. Some 700 bytes, five for each
 * country, and a byte for each device in the file. Plain data but for `deviceFilter`.
 */
export type FileEntry = Source & {
  /** `events/<application>/<UTC day of receipt>/<first event id>.parquet`; `.r<revision>` stands before the ending of a rewritten one. */
  key: string;
  revision: number;
  rows: number;
  bytes: number;
  /** The length of the footer at the file's end, so that one read fetches it. */
  footerBytes: number;
  /** Epoch milliseconds. */
  firstReceivedAt: number;
  lastReceivedAt: number;
  /** Days of the events in the application's time zone. */
  firstDay: string;
  lastDay: string;
  firstEventId: string;
  lastEventId: string;
  /** How many events there are of each type. */
  types: Partial<Record<LoggedEvent['type'], number>>;
  /** The countries and operating systems in the file; empty text where one is not known. */
  countries: string[];
  oses: string[];
  deviceFilter: Uint8Array;
  /** Objects that this file replaced and that may still be there: `deleteReplaced` removes them. */
  replaces: string[];
};

/** The object of an entry is not in the bucket: the file was rewritten or expired since the index was read. */
export class MissingFileError extends Error {
  readonly key: string;

  constructor(key: string) {
    super(`The raw event file ${key} is missing`);
    this.key = key;
  }
}

/** The name of a file's next revision. */
export function revisedKey(key: string, revision: number): string {
  return `${key.replace(/(?:\.r\d+)?\.parquet$/, '')}.r${revision}.parquet`;
}
