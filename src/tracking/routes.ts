import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { settingsOf } from '#env';
import {
  type AppContext,
  type AppEnv,
  AppError,
  addressOf,
  answerRedirect,
  callerNetwork,
  invalidRequest,
  jsonBody,
  limitBody,
} from '#http';
import { isId } from '#lib/ids';
import type { ServerSideRecorded } from './answers.ts';
import { androidFile, appLinkEnd, appleFile, type LinkedApp, listLinkedApps } from './app-links.ts';
import { clickParams, countryOf } from './click-details.ts';
import { chooseDestination, withParameters, withReferrer } from './destination.ts';
import { findLink, LINK_TOKEN, type Link } from './links.ts';
import { contentSecurityPolicy, landingPage, plainPage, previewPage, unknownLinkPage } from './pages.ts';
import { type Query, queryOf } from './query.ts';
import {
  Measurement,
  measuredClickId,
  newClickId,
  publicClickId,
  recordClick,
  recordMeasurement,
  type Visitor,
} from './record.ts';
import { recordServerSide } from './server-side.ts';
import { readUserAgent } from './user-agent.ts';

const MEASUREMENT_BYTES = 2 * 1024;
/** The path of links, unless `TRACKING_BASE_URL` has another one. */
const DEFAULT_FOLDER = '/t';

const visitorOf = (c: AppContext): Visitor => ({
  browser: readUserAgent(c.req.header('User-Agent') ?? ''),
  address: addressOf(c),
});

/** The link in the path. One that opens an app names its application, too. */
async function linkOf(c: AppContext): Promise<Link | null> {
  const [token = '', application] = [c.req.param('token'), c.req.param('application')];
  const link = await findLink(c.env, token, callerNetwork(c), Date.now(), (work) =>
    c.executionCtx.waitUntil(work),
  );
  return application === undefined || link?.applicationId === application ? link : null;
}

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

/** Whether the caller's network has clicked less often than a machine would. Beyond the limit the person, if any, is still sent on. */
async function isWithinLimit(c: AppContext): Promise<boolean> {
  const { success } = await c.env.CLICK_LIMIT.limit({ key: callerNetwork(c) });
  return success;
}

/** The secret with which a network's server reports a click or impression instead of a person following the link. */
const secretIn = (query: Query): string | undefined => query.find(([name]) => name === 's2s')?.[1];

/** Answers a network's server, which is not sent on. */
async function answerServer(c: AppContext, query: Query, secret: string) {
  const link = await linkOf(c);
  if (!link) throw new AppError('not_found', 'Link not found');
  // So that its team finds in the debugger what is refused.
  c.set('claimedApplicationId', link.applicationId);
  const recorded = await recordServerSide(c, link, { secret, query, now: Date.now() });
  return c.json<ServerSideRecorded>(recorded);
}

/** Redirects a person; recording the click does not delay the answer. */
async function follow(c: AppContext) {
  const query = queryOf(c.req.url);
  const secret = secretIn(query);
  if (secret !== undefined) return answerServer(c, query, secret);
  const link = await linkOf(c);
  if (!link) return answerPage(c, unknownLinkPage(), 404);
  const now = Date.now();
  const visitor = visitorOf(c);
  const clickId = isCounted(c, link, visitor) && (await isWithinLimit(c)) ? newClickId() : null;
  if (clickId !== null) {
    const details = { country: countryOf(c.req.raw.cf), params: clickParams(query) };
    c.executionCtx.waitUntil(recordClick(c.env, link, clickId, visitor, details, now));
  }
  const { osFamily, isRobot } = visitor.browser;
  if (isRobot && link.preview) {
    const [ownAddress = c.req.url] = c.req.url.split('?', 1);
    return answerPage(c, previewPage(link.preview, ownAddress));
  }
  const destination = chooseDestination(link.stores, osFamily);
  if (destination.kind === 'none') return answerPage(c, plainPage(link.applicationName));
  if (destination.kind === 'fallback') return answerRedirect(c, withParameters(destination.url, query));
  const publicId = await publicClickId(c.env, link, clickId);
  if (osFamily === 'android') return answerRedirect(c, withReferrer(destination.url, publicId, query));
  const href = withParameters(destination.url, query);
  if (publicId === null) return answerRedirect(c, href);
  return answerPage(c, landingPage(link.applicationName, href, publicId));
}

async function measure(c: AppContext, measurement: Measurement) {
  const link = await linkOf(c);
  if (!link) throw new AppError('not_found', 'Link not found');
  const clickId = await measuredClickId(c.env, link, measurement, Date.now());
  if (clickId === null)
    throw invalidRequest([{ path: 'click_id', message: 'is not of a click on this link' }]);
  if (link.dataCollection && (await isWithinLimit(c))) {
    const visitor = visitorOf(c);
    c.executionCtx.waitUntil(recordMeasurement(c.env, link, clickId, measurement, visitor));
  }
  return c.body(null, 204);
}

/** Answers a network's server, which has everything in the query: its body is not read. */
const unlessServer = (c: AppContext, next: () => Promise<void>) => {
  const query = queryOf(c.req.url);
  const secret = secretIn(query);
  return secret === undefined ? next() : answerServer(c, query, secret);
};

const measured = [unlessServer, limitBody(MEASUREMENT_BYTES), ...jsonBody(Measurement)] as const;

export const trackingRoutes = new Hono<AppEnv>()
  .get('/t/:token', follow)
  .get('/t/:application/:token', follow)
  .post('/t/:token', ...measured, (c) => measure(c, c.req.valid('json')))
  .post('/t/:application/:token', ...measured, (c) => measure(c, c.req.valid('json')));

/** `TRACKING_BASE_URL` as its host and its path, without a slash at the end; null without one. */
function baseOf(baseUrl: string): { host: string; folder: string } | null {
  if (baseUrl === '') return null;
  const { host, pathname } = new URL(baseUrl);
  return { host, folder: pathname.replace(/\/+$/, '') };
}

/** The end of a link under `TRACKING_BASE_URL`: its token, after its application if it opens an app. Null if the URL is not one. */
function linkUnder(baseUrl: string, requested: string): string | null {
  const [base, url] = [baseOf(baseUrl), new URL(requested)];
  if (base === null || base.host !== url.host || !url.pathname.startsWith(`${base.folder}/`)) return null;
  const end = url.pathname.slice(base.folder.length + 1);
  const [token = '', application] = end.split('/').reverse();
  const isLink = LINK_TOKEN.test(token) && end === (application ? appLinkEnd(application, token) : token);
  return isLink && (application === undefined || isId('app', application)) ? end : null;
}

/** What each system reads to learn which apps open links. Without a redirect, as both require, and cached by Apple for about a day. */
const appFile = (render: (linked: LinkedApp[], base: string) => unknown) => async (c: AppContext) => {
  const linked = await listLinkedApps(c.env, Date.now(), (work) => c.executionCtx.waitUntil(work));
  const base = baseOf(settingsOf(c.env).TRACKING_BASE_URL);
  const folder = base?.host === new URL(c.req.url).host ? base.folder : DEFAULT_FOLDER;
  c.header('Cache-Control', 'public, max-age=300');
  return c.body(JSON.stringify(render(linked, folder)), 200, { 'Content-Type': 'application/json' });
};

export const appLinkRoutes = new Hono<AppEnv>()
  .get('/.well-known/apple-app-site-association', appFile(appleFile))
  .get('/.well-known/assetlinks.json', appFile(androidFile));

/** Serves tracking links on a host of their own, such as `https://go.example.com/<token>`. */
export function trackingHost(app: Hono<AppEnv>) {
  return createMiddleware<AppEnv>((c, next) => {
    const end = linkUnder(settingsOf(c.env).TRACKING_BASE_URL, c.req.url);
    if (end === null || c.req.path === `${DEFAULT_FOLDER}/${end}`) return next();
    const url = new URL(c.req.url);
    url.pathname = `${DEFAULT_FOLDER}/${end}`;
    return Promise.resolve(app.fetch(new Request(url, c.req.raw), c.env, c.executionCtx));
  });
}

/** The URL of a creative's link, from its token or `appLinkEnd`: under `TRACKING_BASE_URL` if set, else `<origin>/t`. */
export function trackingLink(env: Env, requestUrl: string, end: string): string {
  const base = settingsOf(env).TRACKING_BASE_URL || `${new URL(requestUrl).origin}${DEFAULT_FOLDER}`;
  return `${base.replace(/\/+$/, '')}/${end}`;
}
