import { retry } from '#lib/retry';

/** Calls an object again where the platform says that this helps. Each call takes its own stub, because a stub breaks with its object. */
export const retried = <Result>(call: () => Promise<Result>): Promise<Result> =>
  retry(call, {
    isPassing: (error) => {
      const { retryable, overloaded } = error as { retryable?: unknown; overloaded?: unknown };
      return retryable === true && overloaded !== true;
    },
  });
