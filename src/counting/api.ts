import type { LoggedEvent, OsFamily } from '#catalogue';
import type { EventFilter, Fate, FileEntry } from '#lake';
import type {
  ClientTotals,
  Cohort,
  DeviceFilter,
  FunnelAnswer,
  FunnelQuestion,
  OutcomesAnswer,
  OutcomesQuestion,
  Payers,
  PayersQuery,
  PurchasesAnswer,
  PurchasesQuestion,
} from './questions.ts';

// What a counter answers: the types of its calls. A call goes to one object, which is one application's (or one shard of it);
// whoever asks for a whole application adds up the answers of its counters (`countersOf`).

/** A device as its backend described it in `/fetch-token`. */
export type DeviceDescription = {
  deviceName: string;
  deviceModel: string;
  osSystem: string;
  /** IANA name; empty where it is not known. */
  timezone: string;
  /** ISO 3166 code in lower case. */
  country: string | null;
  /** What told the country: the backend, the click that brought the device, or its time zone. */
  countrySource: 'data' | 'click' | 'timezone' | null;
  /** The family of its system, such as `android`. */
  os: OsFamily;
  appVersion: string | null;
  dpi: number | null;
  windowHeight: number | null;
  windowWidth: number | null;
  /** Made by an editor or a debug build: nothing of it is counted. */
  test: boolean;
};

/** What a token says of a device. */
export type DeviceIdentity = {
  id: string;
  /** Day 0, `YYYY-MM-DD` in the application's time zone. */
  acquiredDay: string;
  /** Null for an organic device. */
  creativeId: string | null;
};

export type NewDevice = DeviceIdentity & {
  /** Epoch milliseconds. */
  acquiredAt: number;
  description: DeviceDescription;
  /** JSON: why the device was credited to its creative. */
  attribution: string;
};

export type StoredDevice = NewDevice & {
  /** Day sets, counted from the acquisition day. */
  activeDays: string;
  activeAges: string;
  paidDays: string;
  /** Funnel step → epoch milliseconds of its first time, to the second. */
  milestones: Record<string, number>;
};

/**
 * `found`: it was there already, by its alias or because this call is repeated; `clickId` is the click that it is credited to.
 * `moved`: ask again with `shards`.
 */
export type CreatedDevice =
  | { outcome: 'created' | 'found'; device: DeviceIdentity; clickId: string | null }
  | { outcome: 'moved'; shards: number };

/**
 * How far a counter is. `countedThrough` is the time (epoch milliseconds) up to which everything that was appended stands in
 * the rollups of D1; `settled` is false where the wait was not long enough for what had been appended before the call.
 */
export type Settled = { settled: boolean; countedThrough: number };

/** Times are epoch milliseconds; null where there is none. */
export type CounterHealth = {
  /** Appended events that no report has counted yet: not tallied, or tallied and not yet in D1. */
  pending: number;
  oldestPendingAt: number | null;
  countedThrough: number;
  lastAppendedAt: number | null;
  /** The longest time from taking an event to its append, of the newest batches. */
  slowestMs: number | null;
  /** Parts of the outbox that wait for D1, and why the last try failed. */
  outbox: number;
  flushError: string | null;
  /** The database and the counter disagree about what was written: see `resumeFlush`. */
  hasGap: boolean;
  /** Why raw events could not be written to R2, or a file not be rewritten, the last time; the counter tries again. */
  exportError: string | null;
  devices: number;
  /** Raw events that have not left for R2. */
  hotEvents: number;
  /** Size of the object's database in bytes. */
  bytes: number;
};

export type LogPage = {
  /** Newest first by event id, which is the order of receipt. */
  events: LoggedEvent[];
  /** All matches down to this id are among `events`: ask on before it. Null: nothing that matches is older. */
  through: string | null;
};

export type FilePage = {
  /** Files that may hold what is asked for, those with the newest events first. Their device filters have been asked here. */
  files: FileEntry[];
  /** The newest event that a further file may hold; null when there is none. */
  next: string | null;
};

export type IndexedFile = FileEntry & { exportedAt: number };

/** What became of an event that this counter took. Times are epoch milliseconds; the event is null where its device was erased. */
export type AppendedStatus =
  | { status: 'queued'; appendedAt: number; event: LoggedEvent | null }
  | {
      status: 'counted' | Outcome;
      appendedAt: number;
      /** It was counted at this time at the latest. */
      countedBy: number;
      event: LoggedEvent | null;
      fate: Fate;
    }
  | { status: 'erased' }
  /** It is no longer in the hot log, but in one of these files unless it was erased. */
  | {
      status: 'exported';
      files: IndexedFile[];
      /** False: it may be an event that this counter never took. Ids are remembered for nine days. */
      wasTaken: boolean;
    };

/** Why an event that was tallied did not count; absent for one that did. */
export type Outcome = 'duplicate' | 'ignored' | 'parked';

/**
 * What a counter offers by RPC (`counterOf(env, applicationId, shard)`). Every call may be repeated after an unclear failure.
 * Calls throw only when storage itself fails.
 */
export interface CounterApi {
  /** Takes a packed batch into the log. Events that it took before, by id, add nothing. `pending` is what waits to be counted. */
  append(batch: PackedBatch): Promise<{ appended: number; pending: number }>;

  /** Counts what was appended before the call and brings it to D1; answers after `waitMs` (at most 2,000) at the latest. */
  settle(waitMs?: number): Promise<Settled>;

  /**
   * Makes devices and appends their installs, or finds those that their aliases name already; answers in their order. `installs`
   * has the install of each, in the same order. `shards` is the number of shards by which the caller chose this counter: once a
   * counter knows of a larger one, it creates no device that belongs elsewhere.
   */
  createOrFindDevices(
    shards: number,
    wanted: { alias: string | null; device: NewDevice }[],
    installs: PackedBatch,
  ): Promise<CreatedDevice[]>;
  /**
   * The devices of these aliases, in their order; from now on this counter creates none whose home under `shards` is another
   * counter.
   */
  findDevices(aliases: string[], shards: number): Promise<(DeviceIdentity | null)[]>;
  /** Null for an unknown or erased device. */
  readDevice(id: string): Promise<StoredDevice | null>;
  /**
   * Erases a device with its aliases and its raw events of the hot log; what arrived before is counted first, what arrives later
   * is not counted. Answers how many events were erased, and whether there was such a device. Raw event files are rewritten in
   * the background; until then its events are not shown: see `filesToRewrite`.
   */
  eraseDevice(id: string): Promise<{ found: boolean; events: number }>;
  /** Erases events by their own ids, as of clicks, in the same way; answers how many were in the hot log. */
  eraseEvents(ids: string[]): Promise<number>;
  /** How many files may still hold devices or events of these ids that were erased; 0 when their erasure is done. */
  filesToRewrite(ids: string[]): Promise<number>;
  /** Events that were taken (`received_at`) after `at` with this token are not counted. */
  revokeToken(tokenId: string, at: number): Promise<void>;

  /**
   * Raw events of the hot log that were received before the event of an id. Reads a bounded part of the log per call; what was
   * erased is not shown. Read the log before the files: an event may move meanwhile, and is then in both.
   */
  readLog(filter: EventFilter, before: string | null, limit: number): Promise<LogPage>;
  /** Which files to read for events after one id and before another. Answers and looks at a bounded number of entries. */
  listFiles(filter: EventFilter, range: { before: string | null; after: string | null }): Promise<FilePage>;
  /** Which of these ids of devices and of events are erased here but may still stand in a file. */
  erasedAmong(ids: string[]): Promise<string[]>;
  /** Null for an event that this counter never took, or that was erased. */
  eventStatus(eventId: string): Promise<AppendedStatus | null>;
  /** What became of some events of this counter, in their order: the status alone; null where `eventStatus` has none. */
  eventStatuses(eventIds: string[]): Promise<(AppendedStatus['status'] | null)[]>;

  clientTotals(cohort: Cohort, filter?: DeviceFilter): Promise<ClientTotals>;
  /** How many devices of each group reach each step, in order and within the window, and how long they take: see `walkSteps`. */
  funnel(question: FunnelQuestion): Promise<FunnelAnswer>;
  /** What a prediction of purchases needs to know of the devices of each cohort and group. */
  purchases(question: PurchasesQuestion): Promise<PurchasesAnswer>;
  /** Retention, conversion and revenue per device of a cohort. */
  outcomes(question: OutcomesQuestion): Promise<OutcomesAnswer>;
  payers(query: PayersQuery): Promise<Payers>;

  /**
   * Goes on after a gap between what this counter wrote and what the database has, as a restore of one of them leaves it: what
   * waits is written after what the database has. What was lost stays lost. Answers whether there was a gap; without one it
   * only flushes.
   */
  resumeFlush(): Promise<boolean>;

  health(): Promise<CounterHealth>;

  /** Deletes all that this counter holds, but for its raw event files. The next call finds an empty counter. Repeatable. */
  deleteAll(): Promise<void>;
}

/**
 * Events of one application as they travel to a counter and stay in its log. Made by `packEvents`, so that the object that
 * counts need not parse what only the consumer has to look at.
 */
export type PackedBatch = {
  applicationId: string;
  rows: PackedRow[];
};

/** At most 1.5 MB of events, which is one row of the log. */
export type PackedRow = {
  count: number;
  /** 16 bytes per event. */
  ids: Uint8Array;
  /** JSON array of the events without their `application_id`. */
  events: string;
  /** The hashes of the events' keys: see `pack.ts`. */
  keys: Uint8Array;
  /** The earliest `received_at`. */
  receivedAt: number;
};
