const ATTEMPTS = 8;

/** A request that was refused because of its body. */
export class RefusedRequest extends Error {}

/** Sends JSON, with retries while the service is temporarily unavailable. Throws `RefusedRequest` after a 400. */
export async function post<Answer>(
  url: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Answer> {
  const { origin, pathname } = new URL(url);
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }).catch((error) => String(error));
    if (typeof answer !== 'string' && answer.ok) return (await answer.json()) as Answer;
    const isTransient = typeof answer === 'string' || answer.status === 429 || answer.status >= 500;
    if (!isTransient || attempt === ATTEMPTS) {
      if (typeof answer === 'string') throw new Error(`${origin} cannot be reached: ${answer}`);
      const message = `${origin} answered ${answer.status} to ${pathname}: ${await answer.text()}`;
      throw answer.status === 400 ? new RefusedRequest(message) : new Error(message);
    }
    const asked = typeof answer === 'string' ? 0 : Number(answer.headers.get('Retry-After') ?? 0);
    await new Promise((resolve) => setTimeout(resolve, Math.max(asked, 0.25 * 2 ** attempt) * 1000));
  }
}
