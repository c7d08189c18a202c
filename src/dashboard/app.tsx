import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId } from 'hono/request-id';
import { AppError, limitBody } from '#http';
import { resetPasswordPages } from './pages/access/reset-password.tsx';
import { sharedPages } from './pages/access/shared.ts';
import { signInPages } from './pages/access/sign-in.tsx';
import { costPages } from './pages/costs/costs.tsx';
import { creativePages } from './pages/creatives/creatives.tsx';
import { alertPages } from './pages/operate/alerts.tsx';
import { debuggerPages } from './pages/operate/debugger.tsx';
import { getStartedPages } from './pages/operate/get-started.tsx';
import { notePages } from './pages/operate/notes.tsx';
import { statusPages } from './pages/operate/status.tsx';
import { stylePages } from './pages/operate/styles.tsx';
import { adPages } from './pages/reports/ads.tsx';
import { breakdownPages } from './pages/reports/breakdown.tsx';
import { comparePages } from './pages/reports/compare.tsx';
import { filterPages } from './pages/reports/filter-values.tsx';
import { freshPages } from './pages/reports/fresh.tsx';
import { funnelPages } from './pages/reports/funnels.tsx';
import { homePages } from './pages/reports/home.tsx';
import { ltvPages } from './pages/reports/ltv.tsx';
import { retentionPages } from './pages/reports/retention.tsx';
import { searchPages } from './pages/reports/search.tsx';
import { skanPages } from './pages/reports/skan.tsx';
import { viewPages } from './pages/reports/views.tsx';
import { accountPages } from './pages/settings/account.tsx';
import { applicationPages } from './pages/settings/applications.tsx';
import { memberPages } from './pages/settings/members.tsx';
import { tokenPages } from './pages/settings/tokens.tsx';
import { answerErrorPage, answerUnknownPage } from './shell/error-page.tsx';
import { type DashboardEnv, sameOrigin, securityHeaders } from './shell/guard.ts';

const FORM_BYTES = 64 * 1024;
/** A year of costs of a few hundred creatives. */
const UPLOAD_BYTES = 2 * 1024 * 1024;

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
const [limitForm, limitUpload] = [limitBody(FORM_BYTES), limitBody(UPLOAD_BYTES)];
dashboard.use((c, next) => (c.req.path === '/costs' ? limitUpload(c, next) : limitForm(c, next)), sameOrigin);
dashboard.route('/', signInPages);
dashboard.route('/', resetPasswordPages);
dashboard.route('/', homePages);
dashboard.route('/', getStartedPages);
dashboard.route('/', filterPages);
dashboard.route('/', freshPages);
dashboard.route('/', searchPages);
dashboard.route('/', breakdownPages);
dashboard.route('/', creativePages);
dashboard.route('/', adPages);
dashboard.route('/', skanPages);
dashboard.route('/', retentionPages);
dashboard.route('/', ltvPages);
dashboard.route('/', funnelPages);
dashboard.route('/', comparePages);
dashboard.route('/', costPages);
dashboard.route('/', debuggerPages);
dashboard.route('/', statusPages);
dashboard.route('/', alertPages);
dashboard.route('/', notePages);
dashboard.route('/', viewPages);
dashboard.route('/', stylePages);
dashboard.route(
  '/',
  sharedPages(async (request, env, ctx) => dashboard.fetch(request, env, ctx)),
);
dashboard.route('/', accountPages);
dashboard.route('/', applicationPages);
dashboard.route('/', tokenPages);
dashboard.route('/', memberPages);
dashboard.notFound(answerUnknownPage);
dashboard.onError((error, c) => answerErrorPage(c, error));
