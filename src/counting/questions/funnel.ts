import { walkSteps } from '#rollup';
import type { FunnelAnswer, FunnelQuestion } from '../api-questions.ts';
import { queryCounters } from '../query-counters.ts';
import type { CounterBindings, ShardedApplication } from '../shards.ts';
import type { ObjectStore } from '../store.ts';
import { devicesOf } from './cohort-devices.ts';
import { keyFor, largestGroups } from './largest-groups.ts';

type FunnelGroup = { devices: number[]; seconds: number[][]; incomplete: number };

/** See `CounterApi.funnel`. Reads the row of every device in the cohort, but none of their events. */
export async function countFunnel(store: ObjectStore, question: FunnelQuestion): Promise<FunnelAnswer> {
  const { cohort, filter, groupBy, steps, windowSeconds, maxDurations } = question;
  const groups = new Map<string | null, FunnelGroup>();
  const keyOf = keyFor(groupBy);
  const hasRow = await largestGroups(store, { ...question, cohortBy: 'all' });
  for await (const page of devicesOf(store, cohort, filter)) {
    for (const device of page) {
      const { seconds, isComplete } = walkSteps(device.steps, steps, windowSeconds);
      if (seconds.length === 0 && isComplete) continue;
      const own = keyOf(device);
      const key = hasRow('', own) ? own : null;
      let group = groups.get(key);
      if (!group) {
        group = { devices: steps.map(() => 0), seconds: steps.map(() => []), incomplete: 0 };
        groups.set(key, group);
      }
      if (!isComplete) group.incomplete++;
      for (const [index, duration] of seconds.entries()) {
        group.devices[index] = (group.devices[index] ?? 0) + 1;
        if (index > 0) group.seconds[index]?.push(duration);
      }
    }
  }
  const packed = packDurations(
    [...groups.values()].flatMap(({ seconds }) => seconds),
    maxDurations,
  );
  return [...groups].map(([key, { devices, incomplete }], index) => ({
    key,
    devices,
    incomplete,
    durations: packed.slice(index * steps.length, (index + 1) * steps.length),
  }));
}

/** Rounded durations keep this many significant bits at first, an error of at most a thousandth, then fewer. */
const ROUNDED_BITS = 10;

/**
 * Packs lists of durations in seconds as `[seconds, count, …]`, shortest first, with at most `limit` different ones in all. If there are more,
 * the long ones are rounded; otherwise they are exact to the second.
 */
export function packDurations(lists: readonly number[][], limit: number): Uint32Array[] {
  for (let bits = 32; ; bits = Math.min(bits - 1, ROUNDED_BITS)) {
    const packed = lists.map((list) => packList(list, bits));
    const different = packed.reduce((sum, { length }) => sum + length / 2, 0);
    if (different <= limit || bits <= 1) return packed;
  }
}

function packList(list: readonly number[], bits: number): Uint32Array {
  const sorted = Uint32Array.from(list, (seconds) => roundTo(seconds, bits)).sort();
  const packed: number[] = [];
  for (const seconds of sorted) {
    if (packed.length > 0 && packed.at(-2) === seconds) packed.push((packed.pop() ?? 0) + 1);
    else packed.push(seconds, 1);
  }
  return Uint32Array.from(packed);
}

/** The middle of the numbers with the same leading significant bits. */
function roundTo(seconds: number, bits: number): number {
  const dropped = Math.max(0, 32 - Math.clz32(seconds) - bits);
  if (dropped === 0) return seconds;
  return ((seconds >>> dropped) << dropped) + 2 ** (dropped - 1);
}

/** Over all counters of an application; 8 bytes each. */
const MAX_DURATIONS = 1_000_000;
/** Over all counters of an application; each has the durations of a group. */
const MAX_GROUP_STEPS = 100_000;

/**
 * The answers of all counters of an application; a group may be in several of them, and the devices of the smallest groups may be together in
 * groups with the key null. Durations are exact to the second unless there are more than `MAX_DURATIONS` different ones.
 */
export async function queryFunnel(
  env: CounterBindings,
  application: ShardedApplication,
  question: Omit<FunnelQuestion, 'maxDurations' | 'maxGroups'>,
): Promise<FunnelAnswer> {
  const maxDurations = Math.floor(MAX_DURATIONS / application.shards);
  const maxGroups = Math.floor(MAX_GROUP_STEPS / application.shards / question.steps.length);
  const answers = await queryCounters(env, application, (counter) =>
    counter.funnel({ ...question, maxDurations, maxGroups }),
  );
  return answers.flat();
}

/** Merges parts of an answer. For each step: devices, and the median of the seconds since the previous step. */
export function sumFunnel(steps: readonly string[], parts: FunnelAnswer) {
  return {
    steps: steps.map((step, index) => ({
      step,
      devices: sum(parts.map(({ devices }) => devices[index] ?? 0)),
      medianSeconds: medianOf(parts.map(({ durations }) => durations[index] ?? new Uint32Array())),
    })),
    incomplete: sum(parts.map(({ incomplete }) => incomplete)),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** The median of packed durations, the mean of the middle two if their number is even. Null if there are none. */
function medianOf(packed: readonly Uint32Array[]): number | null {
  const total = countUpTo(packed, Number.POSITIVE_INFINITY);
  if (total === 0) return null;
  const longest = packed.reduce((longest, list) => Math.max(longest, list.at(-2) ?? 0), 0);
  const [low, high] = [Math.floor((total - 1) / 2), Math.floor(total / 2)].map((rank) =>
    nthOf(packed, rank, longest),
  );
  return ((low ?? 0) + (high ?? 0)) / 2;
}

/** The duration with so many others before it, by bisection: without a list of all, of which there may be a million. */
function nthOf(packed: readonly Uint32Array[], rank: number, longest: number): number {
  let [from, to] = [0, longest];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (countUpTo(packed, middle) > rank) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** How many packed durations are at most `limit`. */
function countUpTo(packed: readonly Uint32Array[], limit: number): number {
  let count = 0;
  for (const list of packed) {
    for (let index = 0; index < list.length && (list[index] ?? 0) <= limit; index += 2) {
      count += list[index + 1] ?? 0;
    }
  }
  return count;
}
