/** Cloudflare's list prices beyond the included usage, in dollars per million, or per GB and month where noted. */
export const PRICE = {
  request: 0.3,
  cpuMillisecond: 0.02,
  queueOperation: 0.4,
  rowWritten: 1,
  logLine: 0.6,
  objectCall: 0.15,
  objectGbSecond: 12.5,
  fileWrite: 4.5,
  gbMonth: { d1: 0.75, parts: 0.75, object: 0.2, file: 0.015 },
};

/** What the defaults of wrangler.toml keep, in months; rollups, which are kept for ever, count as long as raw events. */
const KEPT_MONTHS = { d1: 400 / 30, parts: 66 / 30, object: 1, file: 400 / 30 };

/** A counter that is awake all day, on 10 million events of that day. */
const OBJECT_GB_SECONDS = (0.128 * 86_400) / 10_000_000;

/** Per event. */
export type Consumption = {
  requests: number;
  cpuMilliseconds: number;
  queueOperations: number;
  rows: number;
  logLines: number;
  objectCalls: number;
  files: number;
  /** `parts`: those of the cube, which are in D1 first and then in R2. */
  bytes: { d1: number; parts: number; object: number; file: number };
};

/** Dollars for a million events, and what they are for. */
export function priceOfAMillion(one: Consumption): { total: number; parts: Record<string, number> } {
  const storage = (['d1', 'parts', 'object', 'file'] as const).reduce(
    (sum, store) => sum + (one.bytes[store] / 1e3) * KEPT_MONTHS[store] * PRICE.gbMonth[store],
    0,
  );
  const parts = {
    requests: PRICE.request * one.requests,
    cpu: PRICE.cpuMillisecond * one.cpuMilliseconds,
    queue: PRICE.queueOperation * one.queueOperations,
    rows: PRICE.rowWritten * one.rows,
    objects: PRICE.objectCall * one.objectCalls + PRICE.objectGbSecond * OBJECT_GB_SECONDS,
    files: PRICE.fileWrite * one.files,
    storage,
    logs: PRICE.logLine * one.logLines,
  };
  return { total: Object.values(parts).reduce((sum, part) => sum + part, 0), parts };
}

/** Ten minutes of 10 million events a day: what a counter counts in one run if someone asks that often. */
export const LIVE_RUN = 70_000;
const RUNS_OF_A_DAY = 143;

/** Its blocks are merged after 16 runs, and then after every 15, because the merged one is one of the next 16. */
export const RUNS_PER_MERGE = 15;

/**
 * D1's bytes per event at the end of a day, at most: further runs add fewer sums than earlier ones, because they find most of them there.
 * `sizes`: before the first run, and after each. After fewer runs than two cycles of merges, it is what they would be without merges.
 */
export function bytesOfADay(sizes: readonly number[]): number {
  const runs = sizes.length - 1;
  const cycle = runs > 2 * RUNS_PER_MERGE ? RUNS_PER_MERGE : 1;
  const sizeAfter = (run: number) => sizes[run] ?? 0;
  const grown = sizeAfter(runs) - sizeAfter(0);
  const grownInCycle = sizeAfter(runs) - sizeAfter(runs - cycle);
  const furtherCycles = (RUNS_OF_A_DAY - runs) / cycle;
  return (grown + furtherCycles * grownInCycle) / (RUNS_OF_A_DAY * LIVE_RUN);
}
