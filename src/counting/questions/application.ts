import { logWarning } from '#lib/log';
import { withTimeout } from '#lib/timeout';
import type { MissingFiles, Resumed, Settled } from '../api.ts';
import type { ClientTotals, Cohort, DeviceFilter, Payers, PayersQuery } from '../api-questions.ts';
import { queryCounters } from '../query-counters.ts';
import { forgetBacklog, readBacklog } from '../queue/delayed.ts';
import { deliveredThrough, readQueues } from '../queue/queue-progress.ts';
import { retryCall } from '../retry.ts';
import {
  type CounterBindings,
  counterOf,
  raiseShards,
  type ShardedApplication,
  shardNumbers,
} from '../shards.ts';
import { largestGaps } from './queries.ts';

// Queries by reports over a whole application: they combine the answers of its counters.

/** How long a counter may count for a report, and how long a report waits for all counters. */
const SETTLE_MS = 1_500;
export const MAX_WAIT_MS = 2_000;

export type CountingProgress = Omit<Settled, 'countedThrough'> & { countedThrough: number | null };

/**
 * Counts what an application's counters accepted before this call and writes it to D1, so that subsequent reads include it. Waits at most 2 s
 * and never throws. `countedThrough` (epoch milliseconds) is the progress of all counters, and never passes what a queue still has to
 * deliver, for the first time or again; null if a counter did not respond in time. `settled` is false if some events were not counted yet; `uncounted` is how many,
 * null if unknown. Counting continues after this returns.
 */
export async function settleCounters(
  env: CounterBindings & Pick<Env, 'DB' | 'EVENTS'>,
  application: ShardedApplication,
): Promise<CountingProgress> {
  const settleAll = async () => {
    const [queues, backlog] = await Promise.all([
      readQueues(env, Date.now()),
      readBacklog(env.DB, application.id),
    ]);
    const answers = await queryCounters(env, application, (counter) => counter.settle(SETTLE_MS));
    return { backlog, through: deliveredThrough(queues), answers };
  };
  try {
    const { backlog, through, answers } = await withTimeout(settleAll(), MAX_WAIT_MS);
    return {
      settled: backlog.events === 0 && answers.every(({ settled }) => settled),
      countedThrough: Math.min(
        through,
        ...answers.map(({ countedThrough }) => countedThrough),
        ...(backlog.oldestAt === null ? [] : [backlog.oldestAt - 1]),
      ),
      uncounted: answers.reduce<number | null>(
        (sum, { uncounted }) => (sum === null || uncounted === null ? null : sum + uncounted),
        backlog.events,
      ),
    };
  } catch (error) {
    const { id } = application;
    logWarning('not settled', error, { application_id: id });
    return { settled: false, countedThrough: null, uncounted: null };
  }
}

/** How many counters had stopped, and how many parts of their sums are neither in the database nor kept by them any more. */
export type ResumedCounting = { counters: number; missingParts: number };

/**
 * See `CounterApi.resumeFlush`. Also gives the application the shards back that a restored database does not know of, and forgets which
 * messages the queue was delivering again: those that it still has are noted at their next attempt. `isRestored`: the database is known to have
 * been restored, even if no counter has stopped yet. Idempotent.
 */
export async function resumeCounting(
  env: CounterBindings & Pick<Env, 'DB'>,
  { id, shards }: ShardedApplication,
  { isRestored }: { isRestored: boolean },
): Promise<ResumedCounting> {
  const answers: Resumed[] = [];
  let known = shards;
  for (let asked = 0; asked < known; asked = answers.length) {
    const next = shardNumbers(known).slice(asked);
    const resume = (shard: number) => retryCall(() => counterOf(env, id, shard).resumeFlush());
    answers.push(...(await Promise.all(next.map(resume))));
    known = Math.max(known, ...answers.map((own) => own.shards));
  }
  if (known > shards) await raiseShards(env.DB, id, known);
  const stopped = answers.filter(({ hadGap }) => hadGap);
  if (isRestored || stopped.length > 0) await forgetBacklog(env.DB, id);
  return {
    counters: stopped.length,
    missingParts: stopped.reduce((sum, { missingParts }) => sum + missingParts, 0),
  };
}

/** Forgets the raw event files of an application that are no longer in the bucket. Returns how many. Idempotent. */
export async function forgetMissingFiles(
  env: CounterBindings,
  application: ShardedApplication,
): Promise<number> {
  const answers = await queryCounters(env, application, async (counter) => {
    let forgotten = 0;
    for (let after: string | null = ''; after !== null; ) {
      const page: MissingFiles = await counter.forgetMissingFiles(after);
      forgotten += page.forgotten;
      after = page.through;
    }
    return forgotten;
  });
  return answers.reduce((sum, forgotten) => sum + forgotten, 0);
}

/**
 * Deletes everything in an application's counters except its raw event files. An object without storage costs nothing and ceases to exist once
 * it is evicted. Idempotent. Throws if a counter does not respond.
 */
export const deleteCounters = (env: CounterBindings, application: ShardedApplication): Promise<unknown> =>
  queryCounters(env, application, (counter) => counter.deleteAll());

/** See `CounterApi.payers`. A device is in one counter, so all answers add up; equal groups are not merged. */
export async function countPayers(
  env: CounterBindings,
  application: ShardedApplication,
  query: PayersQuery,
): Promise<Payers> {
  const answers = await queryCounters(env, application, (counter) => counter.payers(query));
  return answers.flat();
}

/** See `CounterApi.clientTotals`. Keeps the largest of all gaps. */
export async function sumClientTotals(
  env: CounterBindings,
  application: ShardedApplication,
  cohort: Cohort,
  filter: DeviceFilter = {},
): Promise<ClientTotals> {
  const answers = await queryCounters(env, application, (counter) => counter.clientTotals(cohort, filter));
  const groups = Map.groupBy(
    answers.flatMap(({ totals }) => totals),
    ({ kind, currency }) => `${kind}/${currency ?? ''}`,
  );
  const totals = [...groups].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, own]) => addUp(own));
  return { totals, gaps: largestGaps(answers.flatMap(({ gaps }) => gaps)) };
}

type Total = ClientTotals['totals'][number];

const addUp = (totals: readonly Total[]): Total =>
  totals.reduce((left, right) => ({
    kind: left.kind,
    currency: left.currency,
    devices: left.devices + right.devices,
    devicesWithGap: left.devicesWithGap + right.devicesWithGap,
    client: addAmounts(left.client, right.client),
    counted: addAmounts(left.counted, right.counted),
  }));

const addAmounts = (left: string | null, right: string | null): string | null =>
  left === null || right === null ? null : `${BigInt(left) + BigInt(right)}`;
