import { type ApplicationHealth, isStuck } from '#counting';
import { count, duration, moment, percent } from '#lib/format';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time';
import type { Deployment } from './deployment.ts';
import type { ScheduleRun, ScheduleRuns } from './schedule-runs.ts';
import type { Loss } from './store-losses.ts';

// What is wrong with a deployment or with the event processing of an application, in sentences. Pure.

/** What D1 and a Durable Object can hold. Source: https://developers.cloudflare.com/d1/platform/limits/ */
const MAX_STORE_BYTES = 10e9;
/** From this part of the limit on, there is time to act. */
const FULL_FROM = 0.8;
/** The schedule runs every minute. */
const MISSED_AFTER_MS = 5 * MINUTE_MS;
/** Some chores run once an hour. */
const HOURLY_MISSED_AFTER_MS = 125 * MINUTE_MS;
/** A chore that fails is run again the next minute. */
const FAILING_AFTER_MS = 10 * MINUTE_MS;
/** Banks publish no rates on weekends and holidays, but the feed answers. */
const RATES_MISSED_AFTER_MS = 4 * DAY_MS;
/** The queues deliver within seconds. */
const UNDELIVERED_AFTER_MS = 5 * MINUTE_MS;
/** A snapshot is written each night. */
const SNAPSHOT_MISSED_AFTER_MS = 1.5 * DAY_MS;
/** What is not merged is read from the database, which grows. */
const MONTHS_MISSED_AFTER_MS = 2 * DAY_MS;

/** Whether a store needs attention before it is full. */
export const isFilling = (bytes: number): boolean => bytes > FULL_FROM * MAX_STORE_BYTES;

const lasting = (ms: number) => duration(Math.floor(ms / 1000));

const ofLimit = (bytes: number) =>
  `holds ${count(Math.round(bytes / 1e6))} MB, ${percent(bytes / MAX_STORE_BYTES)} of what it can hold`;

function findChoreProblem({ ranAt, succeededAt, failure }: ScheduleRun, now: number): string | null {
  if (now - ranAt > MISSED_AFTER_MS) {
    return `Scheduled work has not run for ${lasting(now - ranAt)}: alerts, digests and clean-up are late.`;
  }
  if (failure === null || now - (succeededAt ?? 0) <= FAILING_AFTER_MS) return null;
  const since = succeededAt === null ? '' : ` for ${lasting(now - succeededAt)}`;
  return `Scheduled work has failed${since}: ${failure}.`;
}

/** A failure remains until the next hour's run. */
function findHourlyProblem({ ranAt, succeededAt, failure }: ScheduleRun, now: number): string | null {
  if (now - ranAt > HOURLY_MISSED_AFTER_MS) return `Hourly work has not run for ${lasting(now - ranAt)}.`;
  if (failure === null) return null;
  const since = succeededAt === null ? '' : ` for ${lasting(now - succeededAt)}`;
  return `Hourly work has failed${since}: ${failure}.`;
}

/** `snapshotAt`: see `Deployment`. */
function findSnapshotProblem(
  { succeededAt, failure }: ScheduleRun,
  snapshotAt: number | null | undefined,
  now: number,
): string | null {
  const at = snapshotAt === undefined ? succeededAt : snapshotAt;
  if (now - (at ?? 0) <= SNAPSHOT_MISSED_AFTER_MS) return null;
  if (at === null && succeededAt !== null)
    return 'There is no complete snapshot: the bucket no longer has the last one.';
  const state =
    at === null ? 'There is no complete snapshot' : `The last complete snapshot is ${lasting(now - at)} old`;
  return `${state}${failure === null ? '' : `: ${failure}`}.`;
}

function findMonthsProblem({ ranAt, succeededAt, failure }: ScheduleRun, now: number): string | null {
  const since = now - (succeededAt ?? ranAt);
  if (since <= MONTHS_MISSED_AFTER_MS && (succeededAt !== null || failure === null)) return null;
  const state = succeededAt === null ? '' : ` for ${lasting(since)}`;
  return `Old figures have not been moved to the bucket${state}${failure === null ? '' : `: ${failure}`}.`;
}

/** Messages that a counter has refused do not count as undelivered: they are a problem of their application. */
export const findQueueProblems = (queues: Deployment['queues'], now: number): string[] =>
  queues
    .filter(({ deliveredThrough }) => now - deliveredThrough > UNDELIVERED_AFTER_MS)
    .map(
      ({ binding, deliveredThrough }) =>
        `Events have waited for ${lasting(now - deliveredThrough)} in the queue ${binding} to be delivered.`,
    );

/** What is parked is a problem of its team. */
export const findParkedProblem = (messages: number): string[] =>
  messages === 0
    ? []
    : [
        `${count(messages)} ${messages === 1 ? 'message is' : 'messages are'} parked. Read the reasons, then replay or discard them.`,
      ];

/**
 * Schedules that have never run although two of their periods are over. Since when they could have run is when the first application was
 * created.
 */
function findNeverRun({ runs, since, ratesOff }: Deployment, now: number): string[] {
  if (since === null) return [];
  const never = (schedule: keyof ScheduleRuns, periodMs: number) =>
    runs[schedule] === undefined && now - since > 2 * periodMs;
  return [
    // One of the chores keeps a record of its own.
    never('chores', MISSED_AFTER_MS / 2) && runs['watch stores'] === undefined
      ? 'Scheduled work has never run: alerts, digests and clean-up do not happen. The Worker lacks its cron triggers.'
      : [],
    never('hourly chores', HOUR_MS) ? 'Hourly work has never run.' : [],
    never('exchange rates', DAY_MS) && !ratesOff ? 'Exchange rates have never been fetched.' : [],
    never('snapshot', DAY_MS)
      ? 'There is no complete snapshot: the schedule that writes them has never run.'
      : [],
    never('months', HOUR_MS) ? 'Old figures have never been moved to the bucket.' : [],
  ].flat();
}

/** The problems of a deployment. A schedule that has never run is one after two of its periods. */
export function findDeploymentProblems(deployment: Deployment, now: number): string[] {
  const { runs, databaseBytes, filed, queues, missingQueues, invalidSettings } = deployment;
  const { chores, snapshot, months, 'hourly chores': hourly, 'exchange rates': rates } = runs;
  return [
    findNeverRun(deployment, now),
    (chores && findChoreProblem(chores, now)) ?? [],
    (hourly && findHourlyProblem(hourly, now)) ?? [],
    rates && now - (rates.succeededAt ?? 0) > RATES_MISSED_AFTER_MS
      ? `Exchange rates could not be fetched for ${count(RATES_MISSED_AFTER_MS / DAY_MS)} days or longer${rates.failure === null ? '' : `: ${rates.failure}`}.`
      : [],
    (snapshot && findSnapshotProblem(snapshot, deployment.snapshotAt, now)) ?? [],
    (months && findMonthsProblem(months, now)) ?? [],
    isFilling(databaseBytes) ? `The database ${ofLimit(databaseBytes)}.` : [],
    filed === null ? 'The bucket for raw events does not respond.' : [],
    missingQueues.length > 0
      ? `EVENT_QUEUES includes queues that are not bound: ${missingQueues.join(', ')}. The others take their events. Run \`npm run org -- deploy\`.`
      : [],
    (deployment.newerFormats ?? []).map((fault) => `${fault}.`),
    invalidSettings.map((fault) => `A setting is invalid, so it is not used: ${fault}.`),
    findQueueProblems(queues, now),
  ].flat();
}

function describeLoss({ store, lostFrom }: Loss): string {
  const at = lostFrom === null ? 'an unknown time' : `${moment(lostFrom, 'UTC')} UTC`;
  return store === 'database'
    ? `The database was restored to an earlier state. What was written after ${at} is missing until counting is resumed.`
    : `The bucket for raw events was emptied or replaced. Raw events exported before ${at} are missing. Resume counting to continue without them.`;
}

function describeLost(applicationId: string, unknownEvents: number): string {
  const parked =
    unknownEvents === 0
      ? 'Events of devices that it does not know are parked'
      : `${count(unknownEvents)} events of devices that it does not know are parked`;
  return `A counter has lost what it stored. ${parked}, until the application is restored: npm run restore -- --application ${applicationId}.`;
}

/**
 * The problems of an application's event processing. `filed` is the number of its messages that were filed in R2, `losses` what stores have
 * lost of it.
 */
export function findApplicationProblems(
  health: ApplicationHealth,
  { filed, losses }: { filed: number; losses: readonly Loss[] },
  now: number,
): string[] {
  const { counters, backlog } = health;
  const left = [
    ...losses.map(describeLoss),
    ...(filed > 0
      ? [`${count(filed)} messages wait in the bucket: the database did not accept them for four days.`]
      : []),
  ];
  if (!counters)
    return [...left, health.newerFormat ? `${health.newerFormat}.` : 'Counting does not respond.'];
  const oldestAt = Math.min(counters.oldestPendingAt ?? now, backlog.oldestAt ?? now);
  const isKnown = losses.some(({ store }) => store === 'database');
  return [
    ...left,
    // As long as counting has stopped, the first thing to do is to resume it.
    counters.isLost && (!counters.hasGap || counters.unknownEvents > 0)
      ? describeLost(health.applicationId, counters.unknownEvents)
      : [],
    counters.hasGap && !isKnown
      ? 'Counting has stopped: the database or counting was restored to an earlier time, or lost what it stored. Resume it.'
      : [],
    counters.appendError ?? [],
    counters.exportError ?? [],
    isStuck(health, now) && counters.appendError === null
      ? `Events have waited for ${lasting(now - oldestAt)} to be counted.`
      : [],
    isFilling(counters.bytes) ? `A counter ${ofLimit(counters.bytes)}.` : [],
  ].flat();
}
