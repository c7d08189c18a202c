import { MAX_HOT_BYTES, MAX_HOT_MONTHS, NOTIFICATION_DAYS, POSTBACK_DAYS, TOKEN_ROW_DAYS } from '#db';
import { LIMITS, type LimitName } from './limits.ts';
import measured from './measured.json' with { type: 'json' };

// How full each limit of the platform is at a rate of events: what one event costs was measured, the rest is multiplication.

export type Load = {
  eventsPerDay: number;
  /** They share the events evenly. */
  applications: number;
  /** Events per request. */
  batch: number;
  queues: number;
  /** Orgs in the account, each with the same schedules. */
  orgs: number;
  /** Shares of events: one of so many is an install, and so many clicks were made for it. */
  eventsPerInstall: number;
  clicksPerInstall: number;
  /** One of so many events is told by a store; 0: none is. */
  eventsPerNotification: number;
  /** Postbacks of SKAdNetwork per install, of all platforms. */
  postbacksPerInstall: number;
};

export const DEFAULT_LOAD: Load = {
  ...{ eventsPerDay: 10e6, applications: 1, batch: 1, queues: 1, orgs: 1 },
  ...{ eventsPerInstall: 400, clicksPerInstall: 5, eventsPerNotification: 1_000, postbacksPerInstall: 0.1 },
};

export type Fullness = { name: LimitName; used: number; share: number };

const DAY_SECONDS = 86_400;
const YEAR_DAYS = 365;
const CLICK_DAYS = 7;
/** Large months are merged every hour, and what was merged is deleted an hour later. */
const CUBE_HOURS = 2;
const MAX_MESSAGE_BYTES = 128 * 1024;
const MAX_SHARDS = 64;
const CRONS_PER_ORG = 1;
/** A counter requests more shards beyond either. */
const SHARD_EVENTS_PER_SECOND = 5_000;
const SHARD_BYTES = 4e9;
/** Keys and recent events. */
const OBJECT_DAYS = 30;

/** Shards of each application: a power of two, as counters request them. */
export function shardsOf({ eventsPerDay, applications }: Load): number {
  const perApplication = eventsPerDay / applications;
  const wanted = Math.max(
    perApplication / DAY_SECONDS / SHARD_EVENTS_PER_SECOND,
    (perApplication * measured.objectBytesPerEvent * OBJECT_DAYS) / SHARD_BYTES,
  );
  return Math.min(MAX_SHARDS, 2 ** Math.ceil(Math.log2(Math.max(1, wanted))));
}

/** The bytes of each of D1's tables that grow with events, after `days`. */
export function databaseBytes(load: Load, days = YEAR_DAYS): Record<string, number> {
  const installs = load.eventsPerDay / load.eventsPerInstall;
  const kept = (perDay: number, keptDays: number, bytes: number) => perDay * Math.min(days, keptDays) * bytes;
  const { bytesPerRow } = measured;
  const notifications = load.eventsPerNotification > 0 ? load.eventsPerDay / load.eventsPerNotification : 0;
  return {
    tokens: kept(installs, TOKEN_ROW_DAYS, bytesPerRow.tokens),
    clicks: kept(installs * load.clicksPerInstall, CLICK_DAYS, bytesPerRow.clicks),
    store_notifications: kept(notifications, NOTIFICATION_DAYS, bytesPerRow.store_notifications),
    skan_postbacks: kept(installs * load.postbacksPerInstall, POSTBACK_DAYS, bytesPerRow.skan_postbacks),
    rollups: load.applications * measured.databaseGrowthBytesPerYear * (days / YEAR_DAYS),
    cube:
      load.applications * measured.cubePlaces * MAX_HOT_MONTHS * MAX_HOT_BYTES +
      (load.eventsPerDay / 24) * CUBE_HOURS * measured.cubeBytesPerEvent,
  };
}

const sum = (record: Record<string, number>) => Object.values(record).reduce((total, one) => total + one, 0);

/** The day on which the database is full; null if it is not within ten years. */
export function fullOnDay(load: Load): number | null {
  for (let day = 1; day <= 10 * YEAR_DAYS; day++) {
    if (sum(databaseBytes(load, day)) > LIMITS.database_bytes.limit) return day;
  }
  return null;
}

function usage(load: Load): Record<LimitName, number> {
  const perSecond = load.eventsPerDay / DAY_SECONDS;
  const shards = shardsOf(load);
  const counters = load.applications * shards;
  const perMessage = Math.min(load.batch, Math.floor(MAX_MESSAGE_BYTES / measured.eventBytes));
  const installs = perSecond / load.eventsPerInstall;
  const clicks = installs * load.clicksPerInstall;
  const runsPerSecond =
    counters * Math.max(1 / measured.runSeconds, perSecond / counters / measured.runEvents);
  return {
    queue_messages: (perSecond / perMessage + installs + clicks) / load.queues,
    counter_thread: (perSecond / counters) * measured.counterMicrosecondsPerEvent * 1e-6,
    counter_storage: ((load.eventsPerDay * OBJECT_DAYS) / counters) * measured.objectBytesPerEvent,
    database_bytes: sum(databaseBytes(load)),
    // A fetch of a token has two, and clicks are written a hundred at a time.
    database_statements: 2 * installs + clicks / 100 + runsPerSecond * measured.databaseStatementsPerRun,
    database_rows: installs * 4 + clicks * 2 + runsPerSecond * measured.databaseRowsPerRun,
    application_requests: perSecond / load.batch / load.applications,
    bucket_writes: (counters * measured.filesPerCounterAndDay) / DAY_SECONDS,
    statements_per_invocation: measured.databaseStatementsPerRun,
    crons: load.orgs * CRONS_PER_ORG,
  };
}

/** Each limit, the fullest first. */
export function fullnessOf(load: Load): Fullness[] {
  return Object.entries(usage(load))
    .map(([name, used]) => ({
      name: name as LimitName,
      used,
      share: used / LIMITS[name as LimitName].limit,
    }))
    .toSorted((one, other) => other.share - one.share);
}
