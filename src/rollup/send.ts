const ATTEMPTS = 3;

/** Sends to the queue: three tries within a fraction of a second. False when it took nothing. */
export async function sendWithRetry(send: () => Promise<unknown>): Promise<boolean> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      await send();
      return true;
    } catch (error) {
      console.warn(
        JSON.stringify({ level: 'warn', message: 'queue send failed', attempt, error: String(error) }),
      );
      if (attempt < ATTEMPTS)
        await new Promise((resolve) => setTimeout(resolve, 40 * 4 ** (attempt - 1) * (0.5 + Math.random())));
    }
  }
  return false;
}
