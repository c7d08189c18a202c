import { askService } from '../ask-service.ts';

/** A request that was refused because of its body. */
export class RefusedRequest extends Error {}

/** Sends JSON, with retries while the service is temporarily unavailable. Throws `RefusedRequest` after a 400. */
export async function post<Answer>(
  url: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Answer> {
  const { ok, status, text } = await askService(
    url,
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    },
    { attempts: 8, waitMs: (attempt) => 250 * 2 ** attempt },
  );
  if (ok) return JSON.parse(text);
  const { origin, pathname } = new URL(url);
  if (status === 0) throw new Error(`${origin} cannot be reached: ${text}`);
  const message = `${origin} answered ${status} to ${pathname}: ${text}`;
  throw status === 400 ? new RefusedRequest(message) : new Error(message);
}
