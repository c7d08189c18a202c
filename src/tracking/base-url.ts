import type { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { settingsOf } from '#env';
import type { AppEnv } from '#http';
import { isId } from '#lib/ids';
import { appLinkEnd } from './app-links.ts';
import { LINK_TOKEN } from './links.ts';

/** The path of links, unless `TRACKING_BASE_URL` has another one. */
export const DEFAULT_FOLDER = '/t';

/** `TRACKING_BASE_URL` as its host and its path, without a slash at the end; null without one. */
export function baseOf(baseUrl: string): { host: string; folder: string } | null {
  if (baseUrl === '') return null;
  const { host, pathname } = new URL(baseUrl);
  return { host, folder: pathname.replace(/\/+$/, '') };
}

/**
 * The end of a link under `TRACKING_BASE_URL`: its token, after its application if it opens an app. Null if the URL is not one. Every request
 * asks, and parsing a URL takes as long as validating an event, so nothing is parsed unless links have a host of their own.
 */
function linkUnder(baseUrl: string, requested: string): string | null {
  const base = baseOf(baseUrl);
  if (base === null) return null;
  const url = new URL(requested);
  if (base.host !== url.host || !url.pathname.startsWith(`${base.folder}/`)) return null;
  const end = url.pathname.slice(base.folder.length + 1);
  const [token = '', application] = end.split('/').reverse();
  const isLink = LINK_TOKEN.test(token) && end === (application ? appLinkEnd(application, token) : token);
  return isLink && (application === undefined || isId('app', application)) ? end : null;
}

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
