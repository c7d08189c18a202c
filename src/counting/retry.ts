const ATTEMPTS = 3;

/** Calls an object again where the platform says that this helps. Each call takes its own stub, because a stub breaks with its object. */
export async function retried<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const { retryable, overloaded } = error as { retryable?: unknown; overloaded?: unknown };
      if (attempt === ATTEMPTS || retryable !== true || overloaded === true) throw error;
    }
  }
}
