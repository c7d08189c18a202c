import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { AppEnv } from './context.ts';

/** One structured line a request: never a body, a query, a key, nor a path, which may hold a token. */
export const requestLog = createMiddleware<AppEnv>(async (c, next) => {
  const startedAt = Date.now();
  await next();
  console.log(
    JSON.stringify({
      level: 'info',
      request_id: c.get('requestId'),
      method: c.req.method,
      route: routePath(c, -1),
      status: c.res.status,
      duration_ms: Date.now() - startedAt,
      application_id: c.get('application')?.id,
      team_id: c.get('team')?.id,
    }),
  );
});
