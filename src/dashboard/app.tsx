import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId } from 'hono/request-id';
import { TrieRouter } from 'hono/router/trie-router';
import { AppError, limitBody } from '#http';
import { answerAgain } from './forms/form.ts';
import { PAGES } from './pages.ts';
import { answerErrorPage, answerUnknownPage } from './shell/error-page.tsx';
import { requirePerson, requireRole, sameOrigin, securityHeaders } from './shell/guard.ts';
import type { DashboardEnv } from './shell/page-record.ts';

const MAX_FORM_BYTES = 64 * 1024;

/** The dashboard's pages, as a separate app with its own HTML answers, headers and errors. */
export const dashboard = new Hono<DashboardEnv>();
dashboard.use(requestId(), securityHeaders);
dashboard.use(
  methodNotAllowed({
    app: dashboard,
    onMethodNotAllowed: (c, methods) =>
      answerErrorPage(
        c,
        new AppError('method_not_allowed', 'This page cannot be opened like this', {
          headers: { Allow: methods.join(', ') },
        }),
      ),
  }),
);
dashboard.use(sameOrigin);
dashboard.use(async (c, next) => {
  c.set('pages', PAGES);
  c.set('openPage', async (request) => dashboard.fetch(request, c.env, c.executionCtx));
  await next();
});
for (const page of PAGES) {
  const everywhere = page.path === '/' ? '/' : `${page.path}/*`;
  dashboard.use(everywhere, limitBody(page.maxFormBytes ?? MAX_FORM_BYTES), async (c, next) => {
    c.set('page', page);
    await next();
  });
  if (page.opens !== null) dashboard.use(everywhere, requirePerson, requireRole(page.opens ?? 'viewer'));
  dashboard.route(page.path, page.routes);
}
dashboard.get('/settings', (c) => c.redirect('/settings/applications'));
dashboard.notFound(answerUnknownPage);
dashboard.onError(async (error, c) => (await answerAgain(c, error)) ?? answerErrorPage(c, error));

const paths = new TrieRouter<string>();
for (const { method, path } of dashboard.routes) if (method !== 'ALL') paths.add('ALL', path, path);

/** The route of the page at an address, such as `/creatives/:id`, whatever the method; undefined if no page has it. */
export const pageRoute = (path: string): string | undefined => paths.match('ALL', path)[0][0]?.[0];
