import { createMiddleware } from 'hono/factory';
import type { AppEnv } from './context.ts';

/** What every answer carries; a page of ours sets a policy of its own. Browsers ignore the last one without TLS. */
const DEFAULTS = Object.entries({
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
});

/** Adds the security headers that an answer lacks. */
export const securityHeaders = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  for (const [name, value] of DEFAULTS) if (!c.res.headers.has(name)) c.header(name, value);
});
