import { retry } from '#lib/retry';

/** Retries a call to an object if the platform says that this helps. Each attempt gets its own stub, because a stub breaks with its object. */
export const retryCall = <Result>(call: () => Promise<Result>): Promise<Result> =>
  retry(call, {
    isPassing: (error) => {
      const { retryable, overloaded } = error as { retryable?: unknown; overloaded?: unknown };
      return retryable === true && overloaded !== true;
    },
  });

export const MAX_BACKOFF_MS = 300_000;
/** The wait after a number of failures in a row: 1 s after none, 5 minutes at most. */
export const backoffMs = (failures: number): number => Math.min(1_000 * 2 ** failures, MAX_BACKOFF_MS);
