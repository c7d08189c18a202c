import { isSent } from '#catalogue';
import { newerFormatIn } from '#lib/encoding/store-formats';
import { logWarning } from '#lib/log';
import { earliest } from '#lib/time';
import { withTimeout } from '#lib/timeout';
import { readCountedArrivals } from '#rollup';
import type { CounterHealth, ImplausibleAmount } from '../api.ts';
import { readAllApplied } from '../outbox/sequence-gap.ts';
import { queryCounters } from '../query-counters.ts';
import { type Backlog, readBacklog } from '../queue/delayed.ts';
import { deliveredThrough, readQueues } from '../queue/queue-progress.ts';
import { WAIT_MS } from '../runs/pace.ts';
import { type CounterBindings, counterNames, type ShardedApplication } from '../shards.ts';

/**
 * The health of an application's event processing: `CounterHealth` over all its counters. `counters` is null if one did not respond. `backlog` is
 * what the queues will deliver again. `newerFormat`: why a counter did not, if a newer release wrote its store.
 */
export type ApplicationHealth = {
  applicationId: string;
  counters: CounterHealth | null;
  backlog: Backlog;
  newerFormat?: string | null;
};

/** How long to wait for the counters. */
const MAX_WAIT_MS = 2_000;
/** A counter waits a while to write fewer rows. Events that should have been counted fifteen minutes ago are stuck. */
const STUCK_MS = WAIT_MS + 15 * 60_000;

/** Delivering a message again may take a few seconds, as during a deployment. Events that have waited longer are stuck. */
const STUCK_DELIVERY_MS = 30_000;

/** Does not trigger counting or wait for it. `reading`: the progress of the queues, if it is read for several applications. Throws only if D1 fails. */
export async function readApplicationHealth(
  env: CounterBindings & Pick<Env, 'DB' | 'EVENTS'>,
  application: ShardedApplication,
  reading = readQueues(env, Date.now()),
): Promise<ApplicationHealth> {
  const names = counterNames(application);
  // Before the counters are asked, so that the database is only ahead of one that has lost its storage.
  const [queues, backlog, applied] = await Promise.all([
    reading,
    readBacklog(env.DB, application.id),
    readAllApplied(env.DB, names),
  ]);
  try {
    const answers = await withTimeout(
      queryCounters(env, application, (counter) => counter.health()),
      MAX_WAIT_MS,
    );
    const counters = answers
      .map((own, shard) => ({
        ...own,
        hasGap: own.hasGap || (applied.get(names[shard] ?? '') ?? 0) > own.sequence,
      }))
      .reduce(addHealth);
    const through = Math.min(
      counters.countedThrough,
      deliveredThrough(queues),
      (backlog.oldestAt ?? Number.POSITIVE_INFINITY) - 1,
    );
    return { applicationId: application.id, counters: { ...counters, countedThrough: through }, backlog };
  } catch (error) {
    const { id } = application;
    logWarning('no health', error, { application_id: id });
    return { applicationId: application.id, counters: null, backlog, newerFormat: newerFormatIn(error) };
  }
}

/** Whether an application has events that should have been counted by now, or its counters do not respond. */
export function isStuck({ counters, backlog }: ApplicationHealth, now: number): boolean {
  if (!counters || counters.appendError !== null) return true;
  if (backlog.oldestAt !== null && now - backlog.oldestAt > STUCK_DELIVERY_MS) return true;
  return counters.oldestPendingAt !== null && now - counters.oldestPendingAt > STUCK_MS;
}

const addHealth = (left: CounterHealth, right: CounterHealth): CounterHealth => ({
  pending: left.pending + right.pending,
  oldestPendingAt: earliest(left.oldestPendingAt, right.oldestPendingAt),
  countedThrough: Math.min(left.countedThrough, right.countedThrough),
  lastAppendedAt: latest(left.lastAppendedAt, right.lastAppendedAt),
  slowestMs: latest(left.slowestMs, right.slowestMs),
  outbox: left.outbox + right.outbox,
  sequence: Math.max(left.sequence, right.sequence),
  flushError: left.flushError ?? right.flushError,
  appendError: left.appendError ?? right.appendError,
  hasGap: left.hasGap || right.hasGap,
  exportError: left.exportError ?? right.exportError,
  devices: left.devices + right.devices,
  isLost: left.isLost || right.isLost,
  unknownEvents: left.unknownEvents + right.unknownEvents,
  hotEvents: left.hotEvents + right.hotEvents,
  bytes: Math.max(left.bytes, right.bytes),
  implausible: joinImplausible([...left.implausible, ...right.implausible]),
});

/** One entry per kind and currency, with the largest amount of all counters. */
const joinImplausible = (all: readonly ImplausibleAmount[]): ImplausibleAmount[] =>
  Array.from(Map.groupBy(all, ({ of, currency }) => `${of} ${currency}`).values(), (own) =>
    own.reduce((left, right) => ({
      ...(left.nanos >= right.nanos ? left : right),
      count: left.count + right.count,
    })),
  );

const latest = (left: number | null, right: number | null) =>
  left === null || right === null ? (left ?? right) : Math.max(left, right);

/** What has arrived for an application so far: any device, and any event other than an acquisition. */
export type Arrivals = { device: boolean; event: boolean };

/** How many of the newest events are inspected. */
const NEWEST_EVENTS = 50;

/** Also considers waiting events, and events of debug builds, which are never counted. */
export async function readArrivals(
  env: CounterBindings & Pick<Env, 'DB'>,
  application: ShardedApplication,
): Promise<Arrivals> {
  const counted = await readCountedArrivals(env.DB, application.id);
  if (counted.event) return { device: true, event: true };
  const answers = await queryCounters(env, application, async (counter): Promise<Arrivals> => {
    const { events } = await counter.readLog({}, null, NEWEST_EVENTS);
    const event = events.some(isSent);
    return { device: event || (await counter.health()).devices > 0, event };
  });
  return {
    device: counted.device || answers.some(({ device }) => device),
    event: answers.some(({ event }) => event),
  };
}
