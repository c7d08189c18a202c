import type { AppContext } from './context.ts';

/**
 * Headers of every answer; a route may set its own instead, as HTML pages do. Answers contain data of a team, or are true only for a moment, so nothing
 * between may store them. Browsers ignore the last one without TLS.
 */
const SECURITY = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
};
const SECURITY_ENTRIES = Object.entries(SECURITY);
const JSON_ANSWER = new Headers({ ...SECURITY, 'Content-Type': 'application/json' });
const REDIRECT = new Headers(SECURITY);

/** Identifies the request by the caller's `X-Request-Id` or a new one. */
export function identifyRequest(c: AppContext): void {
  const sent = c.req.header('X-Request-Id');
  c.set('requestId', sent && /^[\w=-]{1,255}$/.test(sent) ? sent : crypto.randomUUID());
}

/** Adds the request's id and the security headers to the answer, unless it was created with them. */
export function completeHeaders(c: AppContext): void {
  // Not with `c.header`, which copies a finished answer for every header.
  const { headers } = c.res;
  if (headers.has('X-Request-Id')) return;
  headers.set('X-Request-Id', c.get('requestId'));
  for (const [name, value] of SECURITY_ENTRIES) if (!headers.has(name)) headers.set(name, value);
}

/**
 * Answers JSON with status 200. Creates the response with all its headers at once, which is the cheapest way, for the busiest routes.
 * `Answer` is the type of the documented answer.
 */
export function answerJson<Answer extends Record<string, unknown>>(c: AppContext, body: Answer): Response {
  const answer = new Response(JSON.stringify(body), { headers: JSON_ANSWER });
  answer.headers.set('X-Request-Id', c.get('requestId'));
  return answer;
}

/** A temporary redirect: the next time, the same address may lead elsewhere. As cheap as `answerJson`. */
export function answerRedirect(c: AppContext, location: string): Response {
  const answer = new Response(null, { status: 302, headers: REDIRECT });
  answer.headers.set('Location', location);
  answer.headers.set('X-Request-Id', c.get('requestId'));
  return answer;
}
