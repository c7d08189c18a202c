import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId } from 'hono/request-id';
import { type AppContext, AppError, limitBody, takeError } from '#http';
import { accountPages } from './account.tsx';
import { adPages } from './ads.tsx';
import { alertPages } from './alerts.tsx';
import { applicationPages } from './applications.tsx';
import { breakdownPages } from './breakdown.tsx';
import { comparePages } from './compare.tsx';
import { costPages } from './costs.tsx';
import { creativePages } from './creatives.tsx';
import { debuggerPages } from './debugger.tsx';
import { filterPages } from './filter-values.tsx';
import { funnelPages } from './funnels.tsx';
import { getStartedPages } from './get-started.tsx';
import { type DashboardContext, type DashboardEnv, sameOrigin, securityHeaders } from './guard.ts';
import { homePages } from './home.tsx';
import { ltvPages } from './ltv.tsx';
import { memberPages } from './members.tsx';
import { renderPlainPage } from './page.tsx';
import { retentionPages } from './retention.tsx';
import { sharedPages } from './shared.ts';
import { signInPages } from './sign-in.tsx';
import { statusPages } from './status.tsx';
import { tokenPages } from './tokens.tsx';
import { viewPages } from './views.tsx';

const FORM_BYTES = 64 * 1024;
/** A year of costs of a few hundred creatives. */
const UPLOAD_BYTES = 2 * 1024 * 1024;

function answerErrorPage(c: DashboardContext, thrown: unknown) {
  const { error, status } = takeError(c as unknown as AppContext, thrown);
  const title = {
    401: 'Signed out',
    403: 'Not allowed',
    404: 'Not found',
    405: 'Method not allowed',
    500: 'Something went wrong',
  }[status as number];
  return renderPlainPage(
    c,
    { title: title ?? 'Request failed', status },
    <>
      <p>
        {status === 500
          ? 'The log of this deployment has the error, under the request id below.'
          : error.message}
      </p>
      <p class="muted">Request {c.get('requestId')}</p>
      <p>
        <a href={status === 401 ? '/login' : '/'}>{status === 401 ? 'Sign in' : 'Go to the overview'}</a>
      </p>
    </>,
  );
}

/** The dashboard's pages, as a separate app with its own HTML answers, headers and errors. */
export const dashboard = new Hono<DashboardEnv>();
dashboard.use(requestId(), securityHeaders);
dashboard.use(
  methodNotAllowed({
    app: dashboard,
    onMethodNotAllowed: (c, methods) =>
      answerErrorPage(
        c,
        new AppError('method_not_allowed', 'This address takes no such request', {
          headers: { Allow: methods.join(', ') },
        }),
      ),
  }),
);
const [limitForm, limitUpload] = [limitBody(FORM_BYTES), limitBody(UPLOAD_BYTES)];
dashboard.use((c, next) => (c.req.path === '/costs' ? limitUpload(c, next) : limitForm(c, next)), sameOrigin);
dashboard.route('/', signInPages);
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
dashboard.notFound((c) => answerErrorPage(c, new AppError('not_found', 'There is no such page')));
dashboard.onError((error, c) => answerErrorPage(c, error));
