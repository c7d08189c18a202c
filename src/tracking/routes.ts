import { settingsOf } from '#env';
import {
  type AppContext,
  AppError,
  addressOf,
  answerRedirect,
  callerNetwork,
  type Endpoint,
  EXAMPLE,
  endpoint,
  invalidRequest,
  keepAliveOf,
  noteAbsent,
} from '#http';
import { AndroidFile, AppleFile, type ServerSideRecorded } from './answers.ts';
import { androidFile, appleFile, type LinkedApp, listLinkedApps } from './app-links.ts';
import { baseOf, DEFAULT_FOLDER } from './base-url.ts';
import { absentParams, clickParams, countryOf } from './click-details.ts';
import { chooseDestination, withParameters, withReferrer } from './destination.ts';
import { findLink, type Link } from './links.ts';
import { contentSecurityPolicy, landingPage, plainPage, previewPage, unknownLinkPage } from './pages.ts';
import { type QueryParameters, queryOf } from './query.ts';
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

const visitorOf = (c: AppContext): Visitor => ({
  browser: readUserAgent(c.req.header('User-Agent') ?? ''),
  address: addressOf(c),
});

/** The link in the path. One that opens an app names its application, too. */
async function linkOf(c: AppContext): Promise<Link | null> {
  const [token = '', application] = [c.req.param('token'), c.req.param('application')];
  const link = await findLink(c.env, token, callerNetwork(c), Date.now(), keepAliveOf(c));
  return application === undefined || link?.applicationId === application ? link : null;
}

function answerPage(c: AppContext, page: ReturnType<typeof plainPage>, status: 200 | 404 = 200) {
  c.header('Cache-Control', 'no-store');
  c.header('Content-Security-Policy', contentSecurityPolicy(page.nonce));
  c.header('X-Content-Type-Options', 'nosniff');
  return c.html(page.body, status);
}

/** In which browsers say that they load a page before anybody asked for it: the standard, then Chrome, Safari and Firefox as they did. */
const PURPOSE_HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'];

/** Whether a person clicked: not a bot, not a preview (`HEAD`, a browser's prefetch), and the application collects data. */
function isCounted(c: AppContext, link: Link, { browser }: Visitor): boolean {
  const purpose = PURPOSE_HEADERS.map((name) => c.req.header(name) ?? '').join(' ');
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
const secretIn = (query: QueryParameters): string | undefined => query.find(([name]) => name === 's2s')?.[1];

/** Answers a network's server, which is not sent on. */
async function answerServer(c: AppContext, query: QueryParameters, secret: string) {
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
    const keepAlive = keepAliveOf(c);
    keepAlive(recordClick(c.env, keepAlive, link, clickId, visitor, details, now));
    noteAbsent(c, link.applicationId, absentParams(query));
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
    const keepAlive = keepAliveOf(c);
    keepAlive(recordMeasurement(c.env, keepAlive, link, clickId, measurement, visitor));
  }
  return c.body(null, 204);
}

/** Answers a network's server, which has everything in the query: its body is not read. */
const unlessServer = async (c: AppContext, next: () => Promise<void>) => {
  const query = queryOf(c.req.url);
  const secret = secretIn(query);
  return secret === undefined ? next() : answerServer(c, query, secret);
};

/** What each system reads to learn which apps open links. Without a redirect, as both require, and cached by Apple for about a day. */
const answerFile = (render: (linked: LinkedApp[], base: string) => unknown) => async (c: AppContext) => {
  const linked = await listLinkedApps(c.env, Date.now(), keepAliveOf(c));
  const base = baseOf(settingsOf(c.env).TRACKING_BASE_URL);
  const folder = base?.host === new URL(c.req.url).host ? base.folder : DEFAULT_FOLDER;
  c.header('Cache-Control', 'public, max-age=300');
  return c.body(JSON.stringify(render(linked, folder)), 200, { 'Content-Type': 'application/json' });
};

const shared = {
  tag: 'Tracking',
  path: '/t/{token}',
  credential: null,
  params: { token: EXAMPLE.link },
} as const;

const html = { 'text/html': { schema: { type: 'string' } } } as const;

const MEASURED = {
  click_id: EXAMPLE.click,
  timezone: 'Europe/Berlin',
  screen_width: 390,
  screen_height: 844,
  pixel_ratio: 3,
  touch_points: 5,
};

const appLink = {
  ...shared,
  path: '/t/{application}/{token}',
  params: { application: EXAMPLE.application, token: EXAMPLE.link },
} as const;

const appFile = {
  tag: shared.tag,
  method: 'get',
  credential: null,
} as const;

const following = {
  method: 'get',
  answer: { status: 302, description: 'A redirect to the store, or to the fallback URL.' },
  otherAnswers: {
    200: { description: 'A page that leads to the store.', content: html },
    404: { description: 'Link not found.', content: html },
  },
  handlers: [follow],
} as const;

const measuring = {
  method: 'post',
  body: { schema: Measurement, examples: { measured: MEASURED } },
  maxBytes: MEASUREMENT_BYTES,
  answer: { status: 204, description: 'The measurements were accepted.' },
  errors: { 404: 'Link not found.' },
  first: [unlessServer],
  handle: (c: AppContext, { body }: { body: Measurement }) => measure(c, body),
} as const;

/** The links, which most isolates receive nothing else than beside events. */
export const linkEndpoints: Endpoint[] = [
  {
    ...shared,
    summary: 'Follow a tracking link',
    description:
      'The destination of an ad. It records the click and sends the person to the store. On Android, the store URL carries the `click_id` in its referrer. On other systems, a page measures the device first. Link previews and `HEAD` requests are not counted. Query parameters are passed on to the destination and stored with the click: up to 20, each name and value up to 256 characters. Longer ones are not stored, nor macros that the network did not replace. `GET /v1/events?type=click` returns them as `params`, with the click\'s `country`.\n\nWith `s2s`, the secret in `server_links` of `GET /v1/creatives/{id}/links`, the server of a network reports a click or, with `event=impression`, an impression, and is answered with JSON instead: `{"success": true, "counted": true, "id": …}`. `ip` and `ua` are the address and user agent of the device, `country` its country, `time` when it happened (of the last 28 days), `id` the network\'s own id. With `id` and `time`, a repeat counts once. The link takes `POST` likewise, with the parameters in the URL. Malformed parameters are answered with 400, a wrong secret with 401; after a 500, repeat the request. Robots are answered with `counted` false. `warnings` names parameters that say nothing, such as macros that were not replaced: they are left out.',
    ...following,
  },
  endpoint({
    ...shared,
    summary: 'Add measurements to a click',
    description: 'Sent by the page of a tracking link.',
    ...measuring,
  }),
  {
    ...appLink,
    summary: 'Follow a link that opens the app',
    description:
      "A creative's `app_link`. A device that has the application's app opens it without calling this address. On every other device it is like the tracking link.",
    ...following,
  },
  endpoint({
    ...appLink,
    summary: 'Add measurements to a click on such a link',
    description: 'Sent by its page.',
    ...measuring,
  }),
];

export const appFileEndpoints: Endpoint[] = [
  {
    ...appFile,
    path: '/.well-known/apple-app-site-association',
    summary: 'Name the iOS apps that open links',
    description:
      "Read by iOS. Lists the applications of the deployment that have `apple_app_id_prefix` and `apple_bundle_id`, each with the path of its `app_link`s. The app's entitlement is `applinks:` and this host.",
    answer: { description: 'The file.', schema: AppleFile },
    handlers: [answerFile(appleFile)],
  },
  {
    ...appFile,
    path: '/.well-known/assetlinks.json',
    summary: 'Name the Android apps that open links',
    description:
      'Read by Android. Lists the applications of the deployment that have `android_fingerprints` and a Google Play URL. From Android 15 on, each opens only the path of its `app_link`s; before, its manifest says which paths it opens.',
    answer: { description: 'The file.', schema: AndroidFile },
    handlers: [answerFile(androidFile)],
  },
];
