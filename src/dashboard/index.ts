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
  '/login/code',
  '/login/passkey',
  '/login/passkey/challenge',
  '/logout',
  '/setup',
  '/join/:secret',
  '/get-started',
  '/get-started/:part',
  '/creatives',
  '/creatives/*',
  '/filters',
  '/search',
  '/_styles',
  '/breakdown',
  '/ads',
  '/skan',
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
  '/notes',
  '/notes/*',
  '/views',
  '/views/*',
  '/shared/:secret',
  '/reset-password/:secret',
  '/settings/*',
];

export const dashboardRoutes = new Hono<AppEnv>();
for (const page of PAGES) dashboardRoutes.all(page, openDashboard);

/** The page for an address that no route has, if a person opened it in a browser; null for other clients, which expect JSON. */
export async function answerUnknownAddress(c: AppContext): Promise<Response | null> {
  const isPage = c.req.method === 'GET' && c.req.header('Accept')?.includes('text/html');
  return isPage ? openDashboard(c) : null;
}
