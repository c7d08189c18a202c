import type { AppleAnswer } from '#attribution';
import type { JudgedAmount, LoggedEvent, Segment, TransactionStepKind } from '#catalogue';
import type { TableRows } from '#db';
import type { CountingResult, EventFilter, FileEntry, FileLocation, WrittenParts } from '#lake';
import type { Fault } from '#lib/input/fields';
import type { ToldConsent } from '#networks';
import type { StoredRevenue, TransactionStep } from '#rollup';
import type {
  ClientTotals,
  Cohort,
  DeviceFilter,
  DoubtsAnswer,
  DoubtsQuestion,
  FunnelAnswer,
  FunnelQuestion,
  OutcomesAnswer,
  OutcomesQuestion,
  Payers,
  PayersQuery,
  PurchasesAnswer,
  PurchasesQuestion,
} from './api-questions.ts';

// The types of a counter's calls. A call goes to one object, which belongs to one application or one shard of it. To query a whole
// application, combine the answers of its counters (`countersOf`).

/** A transaction as one counter tells another one of it: all that it counted, or the id of its purchase's event if it has the purchase. */
export type SharedTransaction = { id: string; steps: SharedStep[]; purchase?: string };
export type SharedStep = Omit<TransactionStep, 'deviceId' | 'segments' | 'countedBy' | 'is'> & {
  is: Exclude<TransactionStepKind, 'purchase'>;
  segment: Segment;
  cohort: Segment;
};

/** A device as described by its backend in `/fetch-token`. */
export type DeviceDescription = {
  deviceName: string;
  deviceModel: string;
  osSystem: string;
  /** IANA name; empty if unknown. */
  timezone: string;
  /** At its acquisition. */
  segment: Segment;
  /** The source of the country: the backend, the device's click, or its time zone. */
  countrySource: 'data' | 'click' | 'timezone' | null;
  dpi: number | null;
  windowHeight: number | null;
  windowWidth: number | null;
  /** Created by an editor or a debug build. Nothing of it is counted. */
  test: boolean;
  /** What its messages told of the person's choices. */
  consent?: ToldConsent | undefined;
  /** When it last told a choice after its acquisition, in epoch milliseconds. */
  consentAt?: number | undefined;
  /** What of its message was dropped or replaced. */
  warnings?: readonly Fault[] | undefined;
};

/** The choices that a message of a known device tells, and when it was sent, in epoch milliseconds. */
export type NewConsent = { deviceId: string; consent: ToldConsent; at: number };

/** What a token says about a device. */
export type DeviceIdentity = {
  id: string;
  /** Day 0, `YYYY-MM-DD` in the application's time zone. */
  acquiredDay: string;
  /** Null for an organic device. */
  creativeId: string | null;
  /** The credit is not resolved yet, so the creative may become another: see `CounterApi.resolveCredit`. */
  creditOpen?: true;
};

/** A credit that waits for Apple: the AdServices token of the device, and its install as `eventText` writes it. */
export type OpenCredit = { token: string; install: string };

export type NewDevice = DeviceIdentity & {
  /** Epoch milliseconds. */
  acquiredAt: number;
  description: DeviceDescription;
  /** JSON: why the device was attributed to its creative. */
  attribution: string;
};

export type StoredDevice = NewDevice & {
  /** Day sets, in days since acquisition. */
  activeDays: string;
  activeAges: string;
  paidDays: string;
  /** What it earned so far, and what was refunded of it: see `readRevenue`. */
  revenue: StoredRevenue;
  /** The first time of each funnel step, in epoch milliseconds, to the second. */
  milestones: Record<string, number>;
};

/**
 * `found`: the device exists already, by its alias or because the call was repeated; `clickId` is the click that it is credited with.
 * `moved`: ask again with `shards`.
 */
export type CreatedDevice =
  | { outcome: 'created'; device: DeviceIdentity }
  | { outcome: 'found'; device: DeviceIdentity; clickId: string | null }
  | { outcome: 'moved'; shards: number };

/**
 * A counter's progress. Everything appended before `countedThrough` (epoch milliseconds) is in D1's rollups. `settled` is false if the wait
 * was too short for what had been appended before the call; `uncounted` is then how many appended events may not be in the rollups yet, or
 * null if that is unknown.
 */
export type Settled = { settled: boolean; countedThrough: number; uncounted: number | null };

/**
 * Whether there was a gap, and how many parts are on neither side any more. `shards` is the largest number of the application's shards that
 * the counter has seen, which the database may have forgotten.
 */
export type Resumed = ClosedGap & { shards: number };

/** Times are epoch milliseconds; null if there is none. */
export type CounterHealth = {
  /** Appended events that are not in reports yet: not tallied, or tallied but not yet in D1. */
  pending: number;
  oldestPendingAt: number | null;
  countedThrough: number;
  lastAppendedAt: number | null;
  /** The longest time from accepting an event to appending it, among the newest batches. */
  slowestMs: number | null;
  /** Parts of the outbox that wait for D1, and why the last attempt failed. */
  outbox: number;
  /** The number of the last part. */
  sequence: number;
  flushError: string | null;
  /** Why the counter accepts neither events nor devices at the moment; null if it does. */
  appendError: string | null;
  /** Whether the database and the counter disagree about what was written: see `resumeFlush`. */
  hasGap: boolean;
  /** Why the last attempt to export raw events to R2 or to rewrite a file failed. It is retried. */
  exportError: string | null;
  devices: number;
  /** Whether what it stored was lost, and nobody has restored it yet. */
  isLost: boolean;
  /** How many events were parked since, because their devices are unknown. */
  unknownEvents: number;
  /** Raw events that are not exported to R2 yet. */
  hotEvents: number;
  /** The size of the object's database in bytes; of several counters, the largest. */
  bytes: number;
  /** Counted amounts of the last days that are implausible, by kind and currency. */
  implausible: ImplausibleAmount[];
};

/**
 * Amounts that were counted but are implausible: more than 100 times what others are, or too much for one impression. The largest is that of
 * `eventId`. `usualNanos` is the 99th percentile of the others; null if there are too few.
 */
export type ImplausibleAmount = {
  of: JudgedAmount['of'];
  currency: string;
  count: number;
  usualNanos: number | null;
  nanos: number;
  eventId: string;
  receivedAt: number;
};

export type LogPage = {
  /** Newest first by event id, which is the order of receipt. */
  events: LoggedEvent[];
  /** `events` has all matches down to this id; continue before it. Null if no older event matches. */
  through: string | null;
};

export type FilePage = {
  /** Files that may contain matches, those with the newest events first. Their device filters have already been checked. */
  files: FileEntry[];
  /** The newest event that a further file may contain; null if there is none. */
  next: string | null;
};

/** How many files were forgotten, and the last key that was examined; null if there are no more. */
export type MissingFiles = { forgotten: number; through: string | null };

export type IndexedFile = FileEntry & { exportedAt: number };

/** The status of an event that this counter accepted. Times are epoch milliseconds. The event is null if its device was erased. */
export type AppendedStatus =
  | { status: 'queued'; appendedAt: number; event: LoggedEvent | null }
  | {
      status: 'counted' | EventOutcome;
      appendedAt: number;
      /** The latest time by which it was counted. */
      countedBy: number;
      event: LoggedEvent | null;
      result: CountingResult;
    }
  | { status: 'erased' }
  /** Exported: it is in one of these files, unless it was erased. */
  | {
      status: 'exported';
      files: IndexedFile[];
      /** False if this counter may never have accepted the event. Ids are remembered for nine days. */
      wasTaken: boolean;
    };

/** What a snapshot says about a counter. */
export type CounterCopy = {
  countedBatch: number;
  /** The last part of its outbox that is in D1. */
  sequence: number;
  run: number;
  shards: number;
  raisedBytes: number;
  /** What was written of its tables, by name. */
  tables: Record<string, WrittenParts>;
};

export type CountedAmount = { nanos: number; currency: string };

/** Why a tallied event was not counted; absent for one that was. */
export type EventOutcome = 'duplicate' | 'ignored' | 'parked';

/** Whether the database and a counter disagreed, and how many parts neither of them has any more. */
export type ClosedGap = { hadGap: boolean; missingParts: number };

/**
 * A counter's RPC interface (`counterOf(env, applicationId, shard)`). Every call is idempotent, so it may be repeated after an unclear
 * failure. Calls throw only if the storage itself fails.
 */
export interface CounterApi {
  /** Appends a packed batch to the log. Skips events that were appended before, by id. `pending` is what waits to be counted. */
  append(batch: PackedBatch): Promise<{ appended: number; pending: number }>;

  /**
   * Counts what was appended before the call and writes it to D1. Returns after at most `waitMs` (up to 2,000); whatever is left is then
   * counted at once, in the background.
   */
  settle(waitMs?: number): Promise<Settled>;

  /**
   * Creates devices and appends their installs, or finds existing ones by alias; returns them in order. `installs` has the install of each,
   * in the same order. `shards` is the number of shards by which the caller chose this counter: once a counter knows of a larger number, it
   * creates no device that belongs elsewhere. A device with an open `credit` is created without its install: see `resolveCredit`.
   */
  createOrFindDevices(
    shards: number,
    wanted: { alias: string | null; device: NewDevice; credit?: OpenCredit }[],
    installs: PackedBatch,
  ): Promise<CreatedDevice[]>;
  /**
   * The devices with these aliases, in order. From now on, this counter creates none whose home under `shards` is another counter.
   */
  findDevices(aliases: string[], shards: number): Promise<(DeviceIdentity | null)[]>;
  /**
   * Takes events (`eventText`) that were sent with tokens from before their device's credit was resolved. Those of devices whose credit is still
   * open wait for it; the others are appended with the device's creative.
   */
  appendOpen(events: string[]): Promise<void>;
  /**
   * The token to ask Apple about, null unless the device's credit is open, and the guessed click that the device had before Apple attributed
   * it, which may be given to another.
   */
  readCredit(deviceId: string): Promise<{ token: string | null; replacedClickId: string | null }>;
  /**
   * Settles the open credit of a device with Apple's answer and the creative of the ad that it names, by default as not asked. Appends the install
   * and the events that waited. If the credit is not open, it changes nothing. A credit that nobody resolves within ten minutes is resolved as
   * not asked. `replacedClickId`: see `readCredit`.
   */
  resolveCredit(
    deviceId: string,
    resolved?: { answer: AppleAnswer; creativeId: string | null },
  ): Promise<{ replacedClickId: string | null }>;
  /** Null for an unknown or erased device. */
  readDevice(id: string): Promise<StoredDevice | null>;
  /**
   * Erases a device with its aliases and its raw events in the hot log. What arrived before is counted first, and what was counted stays in all
   * figures, without the device's id; what arrives later is not counted. Returns how many events were erased, and whether the device existed. Raw event files are rewritten in the background; until
   * then, the device's events are hidden: see `filesToRewrite`. A repeat also erases what arrived since. `clickEventId`: see `erasedClick`. `told` are the ids of
   * the events by which stores told of its transactions, which are erased too.
   */
  eraseDevice(
    id: string,
    clickEventId?: string | null,
  ): Promise<{ found: boolean; events: number; told: string[] }>;
  /** The raw event of an erased device's click, as `eraseDevice` was told; null if there is none, or after the raw events' retention. */
  erasedClick(deviceId: string): Promise<string | null>;
  /** Erases events by their own ids, such as clicks, in the same way. Returns how many were in the hot log. */
  eraseEvents(ids: string[]): Promise<number>;
  /** How many files may still contain erased devices or events with these ids; 0 once the erasure is complete. */
  filesToRewrite(ids: string[]): Promise<number>;
  /**
   * Keeps what known devices tell of the person's choices. What permits more than before counts if it is the newest, what permits less in any case.
   * Destinations learn of it, also for events that wait there.
   */
  tellConsent(told: NewConsent[]): Promise<void>;
  /** Events with this token that were received (`received_at`) after `at` are not counted. */
  revokeToken(tokenId: string, at: number): Promise<void>;

  /**
   * Raw events in the hot log that were received before the event with an id. Reads a bounded part of the log per call. Erased events are left
   * out. Read the log before the files: an event may be exported in the meantime, and is then in both.
   */
  readLog(filter: EventFilter, before: string | null, limit: number): Promise<LogPage>;
  /**
   * The files to read for events after one id and before another: all that contain the latter, and a bounded number of older ones. `next` is
   * null after the last one, and otherwise far enough before `before` that the list always advances.
   */
  listFiles(filter: EventFilter, range: { before: string | null; after: string | null }): Promise<FilePage>;
  /** Which of these device and event ids were erased but may still be in a file. */
  erasedAmong(ids: string[]): Promise<string[]>;
  /** Forgets files that are no longer in the bucket, among the next 500 after a key. */
  forgetMissingFiles(after: string): Promise<MissingFiles>;
  /** Returns null for an event that this counter never accepted, or that was erased. */
  eventStatus(eventId: string): Promise<AppendedStatus | null>;
  /** The statuses of some events, in order; null where `eventStatus` returns null. */
  eventStatuses(eventIds: string[]): Promise<(AppendedStatus['status'] | null)[]>;

  /**
   * Of events that were not counted because they repeat another one: the amount of that one, as far as it is in the hot log; null for all others. In
   * order. Ask once an event is settled: the answer is kept.
   */
  countedAmounts(eventIds: string[]): Promise<(CountedAmount | null)[]>;

  /** Which of these transactions have a purchase that was counted: one that a client sent, or that a store told. */
  knownPurchases(ids: string[]): Promise<string[]>;

  /**
   * Learns what another counter, of a number of shards that it knows, has counted of transactions, and returns what this one has. Takes over what
   * concerns a purchase that was sent here: see `shared-transactions.ts`.
   */
  shareTransactions(from: number, shards: number, told: SharedTransaction[]): Promise<SharedTransaction[]>;

  /** Whether a counted event is a refund, or the reversal of one, whose purchase this counter does not know yet. */
  isWaiting(event: LoggedEvent): Promise<boolean>;
  /** Whether the amount of a counted event is implausible: see `ImplausibleAmount`. */
  countsImplausibly(event: LoggedEvent): Promise<boolean>;

  clientTotals(cohort: Cohort, filter?: DeviceFilter): Promise<ClientTotals>;
  /** Asks the rules that doubt installs again, with these settings, about the devices of a cohort. Reads all devices since its start. */
  doubts(question: DoubtsQuestion): Promise<DoubtsAnswer>;
  /** How many devices of each group reach each step, in order and within the window, and how long they take: see `walkSteps`. */
  funnel(question: FunnelQuestion): Promise<FunnelAnswer>;
  /** The data for predicting purchases, for each cohort and group. */
  purchases(question: PurchasesQuestion): Promise<PurchasesAnswer>;
  /** Retention, conversion and revenue per device of a cohort. */
  outcomes(question: OutcomesQuestion): Promise<OutcomesAnswer>;
  payers(query: PayersQuery): Promise<Payers>;

  /** Reads the application's destinations again. Call it once they have changed. Throws if D1 does not respond. */
  refreshDestinations(): Promise<void>;

  /**
   * Continues after a gap between what this counter wrote and what the database has, as after restoring one of them: the parts that the
   * database lost and those that wait are added after the last one in the database. Without a gap, it only flushes. Waits up to 2 s; what is
   * left is added in the background.
   */
  resumeFlush(): Promise<Resumed>;

  /**
   * Counts what was appended before the call, writes it to D1 and exports it. Then does `work`, while this counter counts nothing, writes nothing
   * to D1 and erases nothing: all of that waits, so D1 and the counter agree. It still accepts events and devices. Ends with the call, however
   * that ends.
   */
  whileStill(work: () => Promise<void>): Promise<void>;
  /** Writes a copy of this counter's tables to R2, under a prefix. Call it in `whileStill`. Repeating it replaces the copy. */
  copyTables(prefix: string): Promise<CounterCopy>;

  /** Inserts rows of a copy; rows that exist stay as they are. Throws if this counter has counted anything. */
  restoreRows(rows: TableRows): Promise<void>;
  /** Continues where the counter was when its copy was made, once all rows are back. */
  finishRestore(copy: CounterCopy): Promise<void>;
  /** Forgets the listed files that are not among these keys, which are those in R2, and returns the keys that are not listed. */
  compareFiles(keys: string[]): Promise<string[]>;
  /**
   * Counts events of raw event files that this counter lacks, among those with ids from one on and before another: installs of devices whose install
   * is not counted, and events with an id from `since` (epoch milliseconds) on that were not appended before. Devices that are missing are
   * created from their events. Returns how many events it counted.
   */
  restoreEvents(
    locations: FileLocation[],
    range: { from: string; to: string },
    since: number,
  ): Promise<number>;
  /**
   * The first step of restoring an application into a living deployment: from now on, this counter accepts neither events nor devices, and reports lack
   * what it knew. What it has counted meanwhile is in D1 and in R2 when this returns, and the counter is empty except for new devices,
   * erasures and revocations. Repeating it is safe until rows were restored. Throws if D1 or R2 does not respond.
   */
  beginRestore(): Promise<void>;
  /** Which of these raw event files are not listed here. */
  unlistedAmong(keys: string[]): Promise<string[]>;
  /** From now on, a counter that is being restored hears of transactions from the others: see `settleTold`. */
  acceptTold(): Promise<void>;
  /** Hears from the other counters of all transactions that the restored one has. Those that it had taken over before are not added to D1 again. */
  settleTold(): Promise<void>;
  /** Ends a restore: the counter accepts events and devices again. */
  endRestore(): Promise<void>;
  /** Lists a raw event file that is in R2, once its events are counted. */
  listFile(location: FileLocation): Promise<void>;

  health(): Promise<CounterHealth>;

  /** Deletes everything in this counter except its raw event files. The next call finds an empty counter. Idempotent. */
  deleteAll(): Promise<void>;
}

/**
 * Events of one application, as they are sent to a counter and stored in its log. Created by `packEvents`, so that the counter need not parse
 * what only the consumer needs.
 */
export type PackedBatch = {
  applicationId: string;
  rows: PackedRow[];
};

/** One row of the log: at most 1.5 MB of events. */
export type PackedRow = {
  count: number;
  /** 16 bytes per event. */
  ids: Uint8Array;
  /** JSON array of the events without their `application_id`. */
  events: string;
  /** The hashes of the events' keys, and of each event's device: see `pack.ts`. */
  keys: Uint8Array;
  devices: Uint8Array;
  /** The earliest `received_at`. */
  receivedAt: number;
};
