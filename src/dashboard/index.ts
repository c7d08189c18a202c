import { Hono } from 'hono';
import type { AppContext, AppEnv } from '#http';

// The pages are loaded when someone first opens one, which keeps them out of the ingestion path's startup.
async function openDashboard(c: AppContext): Promise<Response> {
  const { dashboard } = await import('./app.tsx');
  // Keeps the request id that the answer and the log already have.
  const request = new Request(c.req.raw);
  request.headers.set('X-Request-Id', c.get('requestId'));
  return dashboard.fetch(request, c.env, c.executionCtx);
}

const PAGES = [
  '/',
  '/login',
  '/logout',
  '/setup',
  '/join/:secret',
  '/get-started',
  '/get-started/:part',
  '/creatives',
  '/creatives/*',
  '/filters',
  '/breakdown',
  '/ads',
  '/retention',
  '/ltv',
  '/funnels',
  '/compare',
  '/costs',
  '/costs/*',
  '/debugger',
  '/debugger/:part',
  '/status',
  '/status/*',
  '/alerts',
  '/alerts/*',
  '/views',
  '/views/*',
  '/shared/:secret',
  '/reset-password/:secret',
  '/settings/*',
];

export const dashboardRoutes = new Hono<AppEnv>();
for (const page of PAGES) dashboardRoutes.all(page, openDashboard);
