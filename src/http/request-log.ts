import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { logLine } from '#lib/log';
import { isSampled, LOG_SAMPLE } from '#lib/log-sample';
import type { AppEnv } from './context.ts';

const levelOf = (status: number) => (status >= 500 ? 'error' : status === 429 ? 'warn' : 'info');

/**
 * One structured line for every request that failed or was one too many (5xx, 429), and for 1 in 100 of the others: a line per
 * event would cost more than counting it. Other refusals are sampled too, because a client that is wrong is wrong all the time;
 * the debugger shows why it was refused. Never a body, a query, a key, nor a path, which may hold a token.
 */
export const requestLog = createMiddleware<AppEnv>(async (c, next) => {
  const startedAt = Date.now();
  await next();
  const requestId = c.get('requestId');
  const { status } = c.res;
  const level = levelOf(status);
  // By the event where there is one: so its lines on both sides of the queue are sampled together.
  if (level === 'info' && !isSampled(c.get('eventId') ?? requestId)) return;
  logLine(level, 'request', {
    request_id: requestId,
    event_id: c.get('eventId'),
    method: c.req.method,
    route: routePath(c, -1),
    status,
    duration_ms: Date.now() - startedAt,
    application_id: c.get('application')?.id,
    team_id: c.get('team')?.id,
    ...(level === 'info' ? { sampled: LOG_SAMPLE } : {}),
  });
});
