import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as z from 'zod';
import { settingsOf } from '#env';
import { decryptText, encryptText } from '#lib/crypto';
import { isSecure } from '../shell/cookies.ts';
import type { DashboardContext } from '../shell/page-record.ts';

// A new secret is shown on the page that a form redirects to, so that a reload does not submit the form again. It gets there in an
// encrypted cookie, never in a URL, a log or the database.

const COOKIE = 'dashboard.show_once';
/** How long the cookie is valid. A redirect takes less. */
const SECONDS = 60;

const Sealed = z.object({
  /** The page that shows the texts. */
  path: z.string(),
  userId: z.string(),
  expiresAt: z.number(),
  shown: z.record(z.string(), z.string()),
});

/** Redirects to the page at `path`, which shows these texts once with `takeShown`. `to` may add a query or fragment to the path. */
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

/** The texts that the page at `path` shows once. Empty if there are none, if they are for another person, or if they have expired. */
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
