import { and, eq } from 'drizzle-orm';
import { explainDevice } from '#attribution';
import { applications, database } from '#db';
import { settingsOf } from '#env';
import { AppError } from '#http';
import { readToken } from '#ingestion';

const iso = (at: number) => new Date(at).toISOString();

/**
 * Why the device of a token was credited as it was: method, confidence and the clicks that were weighed, as they were stored
 * at its acquisition, and what is still stored of the click it was credited to. Throws `not_found` for what is no token, an
 * erased device or another team's.
 */
export async function explainAttribution(env: Env, teamId: string, token: string) {
  const claims = await readToken(token, settingsOf(env).TOKEN_SECRET);
  if (!claims) throw new AppError('not_found', 'Device not found');
  const [application] = await database(env.DB)
    .select({ id: applications.id })
    .from(applications)
    .where(and(eq(applications.id, claims.applicationId), eq(applications.teamId, teamId)));
  const explanation =
    application &&
    (await explainDevice(env.DB, application.id, { id: claims.deviceId, acquiredDay: claims.acquiredDay }));
  if (!explanation) throw new AppError('not_found', 'Device not found');
  const { acquiredAt, attribution, click } = explanation;
  const { candidates = [], earlier_installs = 0, ...outcome } = attribution;
  return {
    device_id: claims.deviceId,
    acquired_at: iso(acquiredAt),
    ...outcome,
    repeated: earlier_installs > 0,
    earlier_installs,
    click: click && {
      clicked_at: iso(click.clickedAt),
      country: click.country,
      params: click.params,
      named_installs: click.namedInstalls,
    },
    candidates: candidates.map(({ clicked_at, ...candidate }) => ({
      ...candidate,
      clicked_at: iso(clicked_at),
    })),
  };
}
