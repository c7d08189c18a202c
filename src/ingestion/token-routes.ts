import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { settingsOf } from '#env';
import { type AppEnv, AppError, requireTeamToken } from '#http';
import { revokeToken } from './revoke-token.ts';
import { readToken } from './token.ts';

/** What a team does with the tokens of its devices. */
export const tokenRoutes = new Hono<AppEnv>().delete('/v1/tokens/:token', requireTeamToken, async (c) => {
  const claims = await readToken(c.req.param('token'), settingsOf(c.env).TOKEN_SECRET);
  if (!claims) throw new AppError('not_found', 'Token not found');
  const revokedAt = await revokeToken(c.env, apiCaller(c), claims);
  return c.json({ revoked: true, revoked_at: new Date(revokedAt).toISOString() });
});
