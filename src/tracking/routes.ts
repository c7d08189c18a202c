import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { settingsOf } from '#env';
import {
  type AppContext,
  type AppEnv,
  AppError,
  addressOf,
  answerRedirect,
  invalidRequest,
  jsonBody,
  limitBody,
} from '#http';
import { networkOf } from '#lib/network';
import { clickParams, countryOf } from './click-details.ts';
import { chooseDestination, withParameters, withReferrer } from './destination.ts';
import { findLink, LINK_TOKEN, type Link } from './links.ts';
import { contentSecurityPolicy, landingPage, plainPage, unknownLinkPage } from './pages.ts';
import { queryOf } from './query.ts';
import {
  Measurement,
  measuredClickId,
  newClickId,
  publicClickId,
  recordClick,
  recordMeasurement,
  type Visitor,
} from './record.ts';
import { readUserAgent } from './user-agent.ts';

const MEASUREMENT_BYTES = 2 * 1024;

const visitorOf = (c: AppContext, address: string): Visitor => ({
  browser: readUserAgent(c.req.header('User-Agent') ?? ''),
  address,
});

const linkOf = (c: AppContext, token: string, address: string): Promise<Link | null> =>
  findLink(c.env, token, address, Date.now(), (work) => c.executionCtx.waitUntil(work));

function answerPage(c: AppContext, page: ReturnType<typeof plainPage>, status: 200 | 404 = 200) {
  c.header('Cache-Control', 'no-store');
  c.header('Content-Security-Policy', contentSecurityPolicy(page.nonce));
  c.header('X-Content-Type-Options', 'nosniff');
  return c.html(page.body, status);
}

/** Whether a person clicked: not a bot, not a preview (`HEAD`, a browser's prefetch), and the application collects data. */
function isCounted(c: AppContext, link: Link, { browser }: Visitor): boolean {
  const purpose = `${c.req.header('Sec-Purpose') ?? ''} ${c.req.header('Purpose') ?? ''}`;
  return (
    link.dataCollection &&
    c.req.method !== 'HEAD' &&
    !browser.isRobot &&
    !/prefetch|preview|prerender/i.test(purpose)
  );
}

/** Whether the address has clicked less often than a machine would. Beyond the limit the person, if any, is still sent on. */
async function isWithinLimit(c: AppContext, address: string): Promise<boolean> {
  const { success } = await c.env.CLICK_LIMIT.limit({ key: networkOf(address) });
  return success;
}

/** Redirects a person; recording the click does not delay the answer. */
async function follow(c: AppContext, token: string) {
  const address = addressOf(c);
  const link = await linkOf(c, token, address);
  if (!link) return answerPage(c, unknownLinkPage(), 404);
  const now = Date.now();
  const query = queryOf(c.req.url);
  const visitor = visitorOf(c, address);
  const clickId = isCounted(c, link, visitor) && (await isWithinLimit(c, address)) ? newClickId() : null;
  if (clickId !== null) {
    const details = { country: countryOf(c.req.raw.cf), params: clickParams(query) };
    c.executionCtx.waitUntil(recordClick(c.env, link, clickId, visitor, details, now));
  }
  const { osFamily } = visitor.browser;
  const destination = chooseDestination(link.stores, osFamily);
  if (destination.kind === 'none') return answerPage(c, plainPage(link.applicationName));
  if (destination.kind === 'fallback') return answerRedirect(c, withParameters(destination.url, query));
  const publicId = await publicClickId(c.env, link, clickId);
  if (osFamily === 'android') return answerRedirect(c, withReferrer(destination.url, publicId, query));
  const href = withParameters(destination.url, query);
  if (publicId === null) return answerRedirect(c, href);
  return answerPage(c, landingPage(link.applicationName, href, publicId));
}

export const trackingRoutes = new Hono<AppEnv>()
  .get('/t/:token', (c) => follow(c, c.req.param('token')))
  .post('/t/:token', limitBody(MEASUREMENT_BYTES), ...jsonBody(Measurement), async (c) => {
    const address = addressOf(c);
    const link = await linkOf(c, c.req.param('token'), address);
    if (!link) throw new AppError('not_found', 'Link not found');
    const measurement = c.req.valid('json');
    const clickId = await measuredClickId(c.env, link, measurement, Date.now());
    if (clickId === null)
      throw invalidRequest([{ path: 'click_id', message: 'is not of a click on this link' }]);
    if (link.dataCollection && (await isWithinLimit(c, address))) {
      const visitor = visitorOf(c, address);
      c.executionCtx.waitUntil(recordMeasurement(c.env, link, clickId, measurement, visitor));
    }
    return c.body(null, 204);
  });

/** The token of a link under `TRACKING_BASE_URL`, or null if the URL is not one. */
function tokenUnder(baseUrl: string, requested: string): string | null {
  if (baseUrl === '') return null;
  const [base, url] = [new URL(baseUrl), new URL(requested)];
  const folder = base.pathname.replace(/\/+$/, '');
  if (base.host !== url.host || !url.pathname.startsWith(`${folder}/`)) return null;
  const token = url.pathname.slice(folder.length + 1);
  return LINK_TOKEN.test(token) ? token : null;
}

/** Serves tracking links on a host of their own, such as `https://go.example.com/<token>`. */
export function trackingHost(app: Hono<AppEnv>) {
  return createMiddleware<AppEnv>((c, next) => {
    const token = tokenUnder(settingsOf(c.env).TRACKING_BASE_URL, c.req.url);
    if (token === null || c.req.path === `/t/${token}`) return next();
    const url = new URL(c.req.url);
    url.pathname = `/t/${token}`;
    return Promise.resolve(app.fetch(new Request(url, c.req.raw), c.env, c.executionCtx));
  });
}

/** The URL of a creative's link: under `TRACKING_BASE_URL` if set, else `<origin>/t`. */
export function trackingLink(env: Env, requestUrl: string, token: string): string {
  const base = settingsOf(env).TRACKING_BASE_URL || `${new URL(requestUrl).origin}/t`;
  return `${base.replace(/\/+$/, '')}/${token}`;
}
