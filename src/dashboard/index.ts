import type { AppContext } from '#http';

/**
 * The dashboard's answer; null for an address that none of its pages has, unless a person opened it in a browser: other clients expect JSON. The
 * pages are loaded when someone first opens one.
 */
export async function answerPage(c: AppContext): Promise<Response | null> {
  const { dashboard, pageRoute } = await import('./app.tsx');
  const isOpened = c.req.method === 'GET' && c.req.header('Accept')?.includes('text/html');
  const page = pageRoute(c.req.path);
  if (!isOpened && page === undefined) return null;
  c.set('page', page);
  // Keeps the request id that the answer and the log already have.
  const request = new Request(c.req.raw);
  request.headers.set('X-Request-Id', c.get('requestId'));
  return dashboard.fetch(request, c.env, c.executionCtx);
}
