const ATTEMPTS = 3;
/** Sends were seen to hang for a minute; a caller is told to try again long before. */
const TIME_LIMIT_MS = 5_000;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

class SendTimedOut extends Error {
  constructor() {
    super(`no answer within ${TIME_LIMIT_MS} ms`);
  }
}

async function withinTime(send: () => Promise<unknown>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SendTimedOut()), ms);
  });
  try {
    await Promise.race([send(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Sends to the queue: up to three tries within 5 s. False when it took nothing, as far as is known by then. */
export async function sendWithRetry(send: () => Promise<unknown>): Promise<boolean> {
  const deadline = Date.now() + TIME_LIMIT_MS;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      await withinTime(send, deadline - Date.now());
      return true;
    } catch (error) {
      console.warn(
        JSON.stringify({ level: 'warn', message: 'queue send failed', attempt, error: String(error) }),
      );
      if (error instanceof SendTimedOut) return false;
      if (attempt < ATTEMPTS) await wait(40 * 4 ** (attempt - 1) * (0.5 + Math.random()));
    }
  }
  return false;
}
