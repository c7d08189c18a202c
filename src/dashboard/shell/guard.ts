import { createMiddleware } from 'hono/factory';
import { database } from '#db';
import { AppError } from '#http';
import { atLeast, type MemberCaller, type Person, personOf, type Role, setupIsOpen } from '#members';
import type { DashboardContext, DashboardEnv } from './page-record.ts';
import { ROLE_NAMES } from './words.ts';

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // Not `no-referrer`, with which browsers post forms without an origin.
  'Referrer-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Strict-Transport-Security': 'max-age=31536000',
  // A page may contain a secret, and outdated figures are useless.
  'Cache-Control': 'no-store',
} as const;

export const securityHeaders = createMiddleware<DashboardEnv>(async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value);
});

/**
 * Refuses every change that another site's page requests: a session cookie shows who sent a request, not which site it came from. Browsers send
 * `Origin` with every POST; a request with neither `Origin` nor `Sec-Fetch-Site` was not made by one of our pages.
 */
export const sameOrigin = createMiddleware<DashboardEnv>(async (c, next) => {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
    const origin = c.req.header('Origin');
    const ours = origin
      ? origin === new URL(c.req.url).origin
      : c.req.header('Sec-Fetch-Site') === 'same-origin';
    if (!ours) throw new AppError('forbidden', 'This request came from another site');
  }
  await next();
});

/** The path to open after signing in. Only paths on this origin are allowed. */
export function safePath(path: string | undefined): string {
  return path && /^\/(?![/\\])[^\s\\]*$/.test(path) ? path : '/';
}

/** Requests that the dashboard sends to itself for guests of a share link. No request from outside can be among them. */
const guests = new WeakMap<Request, Person>();

/** Whether someone looks at a share link instead of being signed in. */
export const isGuest = ({ userId }: Person): boolean => userId === '';

/** Whether a guest sees a view with filters: a page then shows nothing that the filters do not select. */
export const isRestricted = (person: Person, { filters }: { filters: object }): boolean =>
  isGuest(person) && Object.keys(filters).length > 0;

export function admitGuest(request: Request, guest: Person): void {
  guests.set(request, guest);
}

/** Sets cookies of better-auth on the answer. */
export const setCookies = (c: DashboardContext, cookies: readonly string[]) => {
  for (const cookie of cookies) c.header('Set-Cookie', cookie, { append: true });
};

/** Allows only signed-in people and sets `person`. Redirects others to the sign-in page. */
export const requirePerson = createMiddleware<DashboardEnv>(async (c, next) => {
  const guest = guests.get(c.req.raw);
  if (guest) {
    c.set('person', guest);
    return next();
  }
  const signedIn = await personOf(c.env, c.req.raw);
  if (!signedIn) {
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      throw new AppError('unauthenticated', 'You are signed out. Sign in and try again.');
    }
    if (await setupIsOpen(c.env.DB)) return c.redirect('/setup');
    const { pathname, search } = new URL(c.req.url);
    return c.redirect(pathname === '/' ? '/login' : `/login?next=${encodeURIComponent(pathname + search)}`);
  }
  c.set('person', signedIn.person);
  await next();
  setCookies(c, signedIn.cookies);
});

/** Allows only people with at least this role. */
export function requireRole(role: Role) {
  return createMiddleware<DashboardEnv>(async (c, next) => {
    if (!atLeast(c.get('person').role, role)) {
      throw new AppError(
        'forbidden',
        `Only the role ${ROLE_NAMES[role]} or above may do this. Ask an owner of your team.`,
      );
    }
    await next();
  });
}

export const admin = requireRole('admin');

/** Whether the person of this request may change things. */
export const isAdmin = (c: DashboardContext): boolean => atLeast(c.get('person').role, 'admin');

/** The person of this request as the caller of a change: see `Caller`. */
export function callerOf(c: DashboardContext): MemberCaller {
  const { userId, team, role, email } = c.get('person');
  return { db: database(c.env.DB), team, actor: email, now: Date.now(), userId, role };
}
