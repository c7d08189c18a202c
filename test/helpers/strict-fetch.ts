import { vi } from 'vitest';
import type { Fetch } from '#lib/input/fetch';

// What every stand-in of somebody else's service checks of a request before it answers: what the network would not carry, what an unchecked
// receiver must not get, and what the real services refuse.

/** A request that no stand-in answers. It fails like a connection, and the test that made it fails with its message. */
export class RefusedRequest extends Error {
  override name = 'RefusedRequest';
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** How the body has to be spelled for its content type. */
const SPELLED: Readonly<Record<string, (body: string) => boolean>> = {
  'application/json': (body) => {
    try {
      JSON.parse(body);
      return true;
    } catch {
      return false;
    }
  },
  'application/x-www-form-urlencoded': (body) => new URLSearchParams(body).toString() === body,
};

function faultOf(address: string, init: RequestInit): string | null {
  const url = new URL(address);
  const { method = 'GET', redirect, signal, body } = init;
  if (redirect !== 'manual') return 'follows redirects, to addresses that nobody has checked';
  if (!signal) return 'has no time limit';
  if (signal.aborted) return 'is over before it is sent';
  if (url.protocol !== 'https:' && url.hostname !== '127.0.0.1') return 'is not encrypted';
  if (url.username !== '' || url.hash !== '') return 'has a user name or a fragment';
  if (address !== url.href && `${address}/` !== url.href) return `is not spelled as it is sent: ${url.href}`;
  const hasBody = body !== undefined && body !== null;
  if (hasBody && !WITH_BODY.has(method)) return `has a body, which ${method} has not`;
  const headers = new Headers(init.headers);
  const type = headers.get('Content-Type')?.split(';')[0] ?? '';
  if (hasBody && type === '') return 'does not say what its body is';
  if (!hasBody && type !== '') return 'says what its body is, and has none';
  if (typeof body === 'string' && SPELLED[type]?.(body) === false) return `has a body that is no ${type}`;
  return null;
}

/** Throws if no service would take the request, or none should get it. */
export function checkRequest(address: string, init: RequestInit): void {
  const fault = faultOf(address, init);
  if (fault !== null) throw new RefusedRequest(`${init.method ?? 'GET'} ${address} ${fault}`);
}

/** Stands in for the services of others until the mocks are restored. A request that the real ones would refuse fails. */
export function answerFetch(answer: (url: string, init: RequestInit) => Response | Promise<Response>) {
  const checked = strictly(async (url, init) => answer(url, init));
  return vi.spyOn(globalThis, 'fetch').mockImplementation((url, init) => checked(String(url), init ?? {}));
}

/** Requests that are checked before they are answered. */
export const strictly =
  (answer: Fetch): Fetch =>
  async (url, init) => {
    checkRequest(url, init);
    return answer(url, init);
  };
