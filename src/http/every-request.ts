import { createMiddleware } from 'hono/factory';
import { completeHeaders, identifyRequest } from './answer-headers.ts';
import type { AppEnv } from './context.ts';
import { addCrossOrigin, answerPreflight } from './cross-origin.ts';
import { logRequest } from './request-log.ts';

/** Gives every request its id, its headers and its log line. One middleware, because every request pays for each of them. */
export const everyRequest = createMiddleware<AppEnv>(async (c, next) => {
  const startedAt = Date.now();
  identifyRequest(c);
  const preflight = c.req.method === 'OPTIONS' ? await answerPreflight(c) : null;
  if (preflight) c.res = preflight;
  else await next();
  if (c.req.header('Origin') !== undefined) await addCrossOrigin(c);
  logRequest(c, startedAt);
  completeHeaders(c);
});
