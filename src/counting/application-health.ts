import { logWarning } from '#lib/log';
import { withTimeout } from '#lib/timeout';
import { isOfDevice, readCountedArrivals } from '#rollup';
import type { CounterHealth } from './api.ts';
import { askAll, type Bindings, type Sharded } from './ask-all.ts';

/** How an application's events get through: `CounterHealth` of all its counters. `counters` is null where one did not answer. */
export type ApplicationHealth = { applicationId: string; counters: CounterHealth | null };

/** How long a page waits to be told how a counter is. */
const MAX_WAIT_MS = 2_000;
/** A busy counter waits up to ten minutes, so that it writes fewer rows: what has waited longer than this is stuck. */
const STUCK_MS = 15 * 60_000;

/** Counts nothing and waits for nothing that is being counted. Never throws. */
export async function readApplicationHealth(env: Bindings, application: Sharded): Promise<ApplicationHealth> {
  try {
    const answers = await withTimeout(
      askAll<CounterHealth>(env, application, async (counter) => await counter.health()),
      MAX_WAIT_MS,
    );
    return { applicationId: application.id, counters: answers.reduce(addHealth) };
  } catch (error) {
    const { id } = application;
    logWarning('no health', error, { application_id: id });
    return { applicationId: application.id, counters: null };
  }
}

/** Whether events of an application wait that should have been counted, or nothing is known of them. */
export function isStuck({ counters }: ApplicationHealth, now: number): boolean {
  if (!counters) return true;
  return counters.oldestPendingAt !== null && now - counters.oldestPendingAt > STUCK_MS;
}

const addHealth = (left: CounterHealth, right: CounterHealth): CounterHealth => ({
  pending: left.pending + right.pending,
  oldestPendingAt: earliest(left.oldestPendingAt, right.oldestPendingAt),
  countedThrough: Math.min(left.countedThrough, right.countedThrough),
  lastAppendedAt: latest(left.lastAppendedAt, right.lastAppendedAt),
  slowestMs: latest(left.slowestMs, right.slowestMs),
  outbox: left.outbox + right.outbox,
  flushError: left.flushError ?? right.flushError,
  devices: left.devices + right.devices,
  hotEvents: left.hotEvents + right.hotEvents,
  bytes: left.bytes + right.bytes,
});

const earliest = (left: number | null, right: number | null) =>
  left === null || right === null ? (left ?? right) : Math.min(left, right);
const latest = (left: number | null, right: number | null) =>
  left === null || right === null ? (left ?? right) : Math.max(left, right);

/** What of an application has arrived so far: any device, and any event of one beyond its acquisition. */
export type Arrivals = { device: boolean; event: boolean };

/** Of how many of the newest events is looked what they are. */
const NEWEST_EVENTS = 50;

/** Looks at what waits too, and at what is never counted because a debug build sent it. */
export async function readArrivals(env: Bindings & Pick<Env, 'DB'>, application: Sharded): Promise<Arrivals> {
  const counted = await readCountedArrivals(env.DB, application.id);
  if (counted.event) return { device: true, event: true };
  const answers = await askAll<Arrivals>(env, application, async (counter) => {
    const { events } = await counter.readLog({}, null, NEWEST_EVENTS);
    const event = events.some((one) => isOfDevice(one) && one.type !== 'install');
    return { device: event || (await counter.health()).devices > 0, event };
  });
  return {
    device: counted.device || answers.some(({ device }) => device),
    event: answers.some(({ event }) => event),
  };
}
