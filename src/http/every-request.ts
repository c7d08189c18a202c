import { createMiddleware } from 'hono/factory';
import { completeHeaders, identifyRequest } from './answer-headers.ts';
import type { AppEnv } from './context.ts';
import { logRequest } from './request-log.ts';

/** Gives every request its id, its headers and its log line. One middleware, because every request pays for each of them. */
export const everyRequest = createMiddleware<AppEnv>(async (c, next) => {
  const startedAt = Date.now();
  identifyRequest(c);
  await next();
  logRequest(c, startedAt);
  completeHeaders(c);
});
