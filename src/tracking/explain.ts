import { and, eq } from 'drizzle-orm';
import type { Attribution } from '#attribution';
import { applications, database, devices } from '#db';
import { settingsOf } from '#env';
import { AppError } from '#http';
import { readToken } from '#ingestion';

const iso = (at: number) => new Date(at).toISOString();

/**
 * Why the device of a token was credited as it was: method, confidence and the clicks that were weighed, as they were stored
 * at its acquisition. Throws `not_found` for what is no token, an erased device or another team's.
 */
export async function explainAttribution(env: Env, teamId: string, token: string) {
  const claims = await readToken(token, settingsOf(env).TOKEN_SECRET);
  if (!claims) throw new AppError('not_found', 'Device not found');
  const [device] = await database(env.DB)
    .select({ id: devices.id, acquiredAt: devices.acquiredAt, attribution: devices.attribution })
    .from(devices)
    .innerJoin(applications, eq(applications.id, devices.applicationId))
    .where(
      and(
        eq(devices.applicationId, claims.applicationId),
        eq(devices.acquiredDay, claims.acquiredDay),
        eq(devices.id, claims.deviceId),
        eq(applications.teamId, teamId),
      ),
    );
  if (!device) throw new AppError('not_found', 'Device not found');
  const { candidates = [], ...outcome }: Partial<Attribution> = JSON.parse(device.attribution);
  return {
    device_id: device.id,
    acquired_at: iso(device.acquiredAt),
    ...outcome,
    candidates: candidates.map(({ clicked_at, ...candidate }) => ({
      ...candidate,
      clicked_at: iso(clicked_at),
    })),
  };
}
