import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { settingsOf } from '#env';
import { type AppEnv, AppError, noQuery, requireTeamToken } from '#http';
import { findApplication } from '#teams';
import type { AttributionExplained, DeviceErased, TokenRevoked } from './answers.ts';
import { eraseDevice } from './erase-device.ts';
import { explainAttribution } from './explain-attribution.ts';
import { revokeToken } from './revoke-token.ts';
import { readToken } from './token.ts';

/** What a team can do with a device, which is identified by one of its tokens. */
export const deviceRoutes = new Hono<AppEnv>()
  .delete('/v1/tokens/:token', requireTeamToken, async (c) => {
    const claims = await readToken(c.req.param('token'), settingsOf(c.env).TOKEN_SECRET);
    if (!claims) throw new AppError('not_found', 'Token not found');
    const revokedAt = await revokeToken(c.env, apiCaller(c), claims);
    return c.json<TokenRevoked>({ revoked: true, revoked_at: new Date(revokedAt).toISOString() });
  })
  .get('/v1/devices/:token/attribution', requireTeamToken, noQuery, async (c) =>
    c.json<AttributionExplained>(await explainAttribution(c.env, c.get('team').id, c.req.param('token'))),
  )
  .delete('/v1/devices/:token', requireTeamToken, async (c) => {
    const claims = await readToken(c.req.param('token'), settingsOf(c.env).TOKEN_SECRET);
    const caller = apiCaller(c);
    // Another team's token gets the same answer as a forged one.
    if (!claims || !(await findApplication(caller.db, caller.team.id, claims.applicationId))) {
      throw new AppError('not_found', 'Device not found');
    }
    const erased = await eraseDevice(c.env, caller, claims);
    return c.json<DeviceErased>({ erased: true, ...erased });
  });
