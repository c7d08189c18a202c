import { retry } from '#lib/retry';

/** Retries a call to an object if the platform says that this helps. Each attempt gets its own stub, because a stub breaks with its object. */
export const retryCall = <Result>(call: () => Promise<Result>): Promise<Result> =>
  retry(call, {
    isPassing: (error) => {
      const { retryable, overloaded } = error as { retryable?: unknown; overloaded?: unknown };
      return retryable === true && overloaded !== true;
    },
  });
