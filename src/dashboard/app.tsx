import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId } from 'hono/request-id';
import { AppError, limitBody } from '#http';
import { accountPages } from './account.tsx';
import { adPages } from './ads.tsx';
import { alertPages } from './alerts.tsx';
import { applicationPages } from './applications.tsx';
import { breakdownPages } from './breakdown.tsx';
import { comparePages } from './compare.tsx';
import { costPages } from './costs.tsx';
import { creativePages } from './creatives.tsx';
import { debuggerPages } from './debugger.tsx';
import { answerErrorPage, answerUnknownPage } from './error-page.tsx';
import { filterPages } from './filter-values.tsx';
import { funnelPages } from './funnels.tsx';
import { getStartedPages } from './get-started.tsx';
import { type DashboardEnv, sameOrigin, securityHeaders } from './guard.ts';
import { homePages } from './home.tsx';
import { ltvPages } from './ltv.tsx';
import { memberPages } from './members.tsx';
import { resetPasswordPages } from './reset-password.tsx';
import { retentionPages } from './retention.tsx';
import { sharedPages } from './shared.ts';
import { signInPages } from './sign-in.tsx';
import { statusPages } from './status.tsx';
import { tokenPages } from './tokens.tsx';
import { viewPages } from './views.tsx';

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
dashboard.route('/', breakdownPages);
dashboard.route('/', creativePages);
dashboard.route('/', adPages);
dashboard.route('/', retentionPages);
dashboard.route('/', ltvPages);
dashboard.route('/', funnelPages);
dashboard.route('/', comparePages);
dashboard.route('/', costPages);
dashboard.route('/', debuggerPages);
dashboard.route('/', statusPages);
dashboard.route('/', alertPages);
dashboard.route('/', viewPages);
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
