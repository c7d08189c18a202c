import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { settingsOf } from '#env';
import { type AppEnv, AppError, requireTeamToken } from '#http';
import { readToken } from '#ingestion';
import { findApplication } from '#teams';
import { eraseDevice } from './erase-device.ts';

export const deviceRoutes = new Hono<AppEnv>().delete('/v1/devices/:token', requireTeamToken, async (c) => {
  const claims = await readToken(c.req.param('token'), settingsOf(c.env).TOKEN_SECRET);
  const caller = apiCaller(c);
  // Another team's token is answered as a forged one.
  if (!claims || !(await findApplication(caller.db, caller.team.id, claims.applicationId))) {
    throw new AppError('not_found', 'Device not found');
  }
  const erased = await eraseDevice(c.env, caller, claims);
  return c.json({ erased: true, ...erased });
});
