/** Thrown if work does not finish in time. The work keeps running. */
export class TimedOut extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

/** Returns the result of work. Throws `TimedOut` after `milliseconds`. */
export async function withTimeout<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new TimedOut(milliseconds)), milliseconds);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
