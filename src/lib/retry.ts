/** How to retry. `waitMs` is the longest wait before the second attempt; it doubles for each later one, less some jitter. */
export type RetryRule = {
  attempts?: number;
  waitMs?: number;
  /** Whether an error may go away by itself. */
  isPassing: (error: unknown) => boolean;
};

/**
 * Retries work while it fails with a passing error, then throws the last one. Safe only for work that may run again after it has
 * actually succeeded. `work` receives the number of the attempt, from 1.
 */
export async function retry<Result>(
  work: (attempt: number) => Promise<Result>,
  { attempts = 3, waitMs = 0, isPassing }: RetryRule,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt === attempts || !isPassing(error)) throw error;
      if (waitMs > 0) await sleep(waitMs * 2 ** (attempt - 1) * (1 - Math.random() * 0.67));
    }
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
