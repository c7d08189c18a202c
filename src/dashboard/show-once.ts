import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as z from 'zod';
import { settingsOf } from '#env';
import { decryptText, encryptText } from '#lib/crypto';
import type { DashboardContext } from './guard.ts';

// A new secret is shown on the page that a form redirects to, so that a reload sends no form again. On the way it is in a sealed
// cookie: never in a URL, a log or the database.

const COOKIE = 'dashboard.show_once';
/** A redirect takes no longer. */
const SECONDS = 60;

const Sealed = z.object({
  /** The page that shows it, and the person it is for. */
  path: z.string(),
  userId: z.string(),
  expiresAt: z.number(),
  shown: z.record(z.string(), z.string()),
});

const isSecure = (c: DashboardContext) => new URL(c.req.url).protocol === 'https:';

/** Redirects to the page at `path`, which shows these texts once, by `takeShown`. `to` is the same path with a query or fragment. */
export async function redirectShowing(
  c: DashboardContext,
  path: string,
  shown: Readonly<Record<string, string>>,
  to = path,
): Promise<Response> {
  const { userId } = c.get('person');
  const sealed: z.infer<typeof Sealed> = { path, userId, expiresAt: Date.now() + SECONDS * 1000, shown };
  const { SESSION_SECRET } = settingsOf(c.env);
  setCookie(c, COOKIE, await encryptText(SESSION_SECRET, JSON.stringify(sealed)), {
    path,
    httpOnly: true,
    secure: isSecure(c),
    sameSite: 'Strict',
    maxAge: SECONDS,
  });
  return c.redirect(to, 303);
}

/** What this request of the page at `path` is to show once; empty where there is nothing, or it is another person's or too old. */
export async function takeShown(
  c: DashboardContext,
  path: string,
): Promise<Readonly<Record<string, string | undefined>>> {
  const cookie = getCookie(c, COOKIE);
  if (cookie === undefined) return {};
  deleteCookie(c, COOKIE, { path, secure: isSecure(c) });
  const text = await decryptText(settingsOf(c.env).SESSION_SECRET, cookie);
  if (text === null) return {};
  const sealed = Sealed.parse(JSON.parse(text));
  const isOwn = sealed.path === path && sealed.userId === c.get('person').userId;
  return isOwn && sealed.expiresAt > Date.now() ? sealed.shown : {};
}
