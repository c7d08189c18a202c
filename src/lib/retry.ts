/** How work is tried again. `waitMs` is the longest wait before the second try; each later one is twice as long, less some jitter. */
export type RetryRule = {
  attempts?: number;
  waitMs?: number;
  /** Whether an error may go away by itself. */
  isPassing: (error: unknown) => boolean;
};

/**
 * Does work again while it fails with a passing error; throws the last one. Safe only for work that may be repeated after it has in
 * fact succeeded. `work` is told which try this is, from 1.
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
