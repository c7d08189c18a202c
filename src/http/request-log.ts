import { routePath } from 'hono/route';
import { logLine } from '#lib/log';
import { isSampled, LOG_SAMPLE } from '#lib/log-sample';
import type { AppContext } from './context.ts';

const levelOf = (status: number) => (status >= 500 ? 'error' : status === 429 ? 'warn' : 'info');

/**
 * Logs one structured line for every request that failed or was rate limited (5xx, 429), and for 1 in 100 of the others: a line per event
 * would cost more than counting it. Other refusals are sampled too, because a misconfigured client fails on every request; the debugger
 * shows why. Never logs a body, a query, a key or a path, which may contain a token. `startedAt` is in epoch milliseconds.
 */
export function logRequest(c: AppContext, startedAt: number): void {
  const requestId = c.get('requestId');
  const { status } = c.res;
  const level = levelOf(status);
  // Sampled by event id if there is one, so that its lines on both sides of the queue are kept together.
  if (level === 'info' && !isSampled(c.get('eventId') ?? requestId)) return;
  logLine(level, 'request', {
    request_id: requestId,
    event_id: c.get('eventId'),
    method: c.req.method,
    route: c.get('page') ?? routePath(c, -1),
    status,
    duration_ms: Date.now() - startedAt,
    application_id: c.get('application')?.id,
    team_id: c.get('team')?.id,
    ...(level === 'info' ? { sampled: LOG_SAMPLE } : {}),
  });
}
