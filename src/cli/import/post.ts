const ATTEMPTS = 8;

/** A request that was refused because of its body. */
export class RefusedRequest extends Error {}

/** `status` is 0 if no answer came, or not all of it; `text` then says why. */
type Answered = { status: number; text: string; retryAfterSeconds: number };

async function tryPost(url: string, headers: Record<string, string>, body: unknown): Promise<Answered> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const retryAfterSeconds = Number(answer.headers.get('Retry-After') ?? 0);
    return { status: answer.status, text: await answer.text(), retryAfterSeconds };
  } catch (error) {
    return { status: 0, text: String(error), retryAfterSeconds: 0 };
  }
}

/** Sends JSON, with retries while the service is temporarily unavailable. Throws `RefusedRequest` after a 400. */
export async function post<Answer>(
  url: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const { status, text, retryAfterSeconds } = await tryPost(url, headers, body);
    if (status >= 200 && status < 300) return JSON.parse(text);
    const isTransient = status === 0 || status === 429 || status >= 500;
    if (!isTransient || attempt === ATTEMPTS) {
      const { origin, pathname } = new URL(url);
      if (status === 0) throw new Error(`${origin} cannot be reached: ${text}`);
      const message = `${origin} answered ${status} to ${pathname}: ${text}`;
      throw status === 400 ? new RefusedRequest(message) : new Error(message);
    }
    const seconds = Math.max(retryAfterSeconds, 0.25 * 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}
