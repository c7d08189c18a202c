import { setCookie } from 'hono/cookie';
import type { DashboardContext } from './page-record.ts';

const YEAR_SECONDS = 365 * 86_400;

export const isSecure = (c: DashboardContext) => new URL(c.req.url).protocol === 'https:';

/** Keeps a choice in this browser for a year, for the pages below `path`. */
export const keepChoice = (c: DashboardContext, name: string, value: string, path = '/') =>
  setCookie(c, name, value, {
    path,
    httpOnly: true,
    secure: isSecure(c),
    sameSite: 'Lax',
    maxAge: YEAR_SECONDS,
  });
