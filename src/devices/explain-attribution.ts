import { and, eq } from 'drizzle-orm';
import { type Explanation, explainDevice } from '#attribution';
import { shownCountry } from '#catalogue';
import { counterOf, retryCall, type StoredDevice } from '#counting';
import { applications, database } from '#db';
import { settingsOf } from '#env';
import { AppError } from '#http';
import { iso } from '#lib/time';
import { readToken } from './token.ts';

/** A device, by its id, that is in one of these counters. Returns null for an erased device and for one of another application. */
async function readStored(
  env: Env,
  applicationId: string,
  id: string,
  shards: readonly number[],
): Promise<StoredDevice | null> {
  const answers = await Promise.all(
    shards.map((shard) => retryCall(() => counterOf(env, applicationId, shard).readDevice(id))),
  );
  return answers.find((answer) => answer !== null) ?? null;
}

/**
 * A device, by its id, whose counter is unknown: asks all counters of the application. Returns null for an erased device and for one of another
 * application. The caller has checked that the application belongs to the team.
 */
export async function findDeviceById(
  env: Env,
  applicationId: string,
  id: string,
): Promise<StoredDevice | null> {
  const [application] = await database(env.DB)
    .select({ shards: applications.shards })
    .from(applications)
    .where(eq(applications.id, applicationId));
  return readStored(env, applicationId, id, [...Array(application?.shards ?? 0).keys()]);
}

/** Why the device with an id is attributed as it is; null if `findDeviceById` finds none. */
export async function explainDeviceById(
  env: Env,
  applicationId: string,
  id: string,
): Promise<Explanation | null> {
  const device = await findDeviceById(env, applicationId, id);
  return device && explainDevice(env.DB, applicationId, device);
}

const withTime = <Own extends { clicked_at: number }>({ clicked_at, ...click }: Own) => ({
  ...click,
  clicked_at: iso(clicked_at),
});

/**
 * Why the device of a token was attributed as it was: method, confidence and the clicks that were weighed, as stored at its acquisition,
 * and what is still stored of the credited click. Throws `not_found` for an invalid token, an erased device or another team's device.
 */
export async function explainAttribution(env: Env, teamId: string, token: string) {
  const claims = await readToken(token, settingsOf(env).TOKEN_SECRET);
  if (!claims) throw new AppError('not_found', 'Device not found');
  const [application] = await database(env.DB)
    .select({ id: applications.id })
    .from(applications)
    .where(and(eq(applications.id, claims.applicationId), eq(applications.teamId, teamId)));
  const device = application && (await readStored(env, application.id, claims.deviceId, [claims.shard]));
  const explanation = device && (await explainDevice(env.DB, application.id, device));
  if (!explanation) throw new AppError('not_found', 'Device not found');
  const { acquiredAt, place, network, consent, warnings, attribution, click } = explanation;
  const {
    candidates = [],
    refused_clicks = [],
    earlier_installs = 0,
    doubts = [],
    doubts_not_checked = [],
    // Kept for other uses.
    doubt_facts: _facts,
    click_params: _params,
    ...outcome
  } = attribution;
  return {
    device_id: claims.deviceId,
    acquired_at: iso(acquiredAt),
    country: place.country && shownCountry(place.country),
    country_source: place.countrySource,
    network,
    ...outcome,
    repeated: earlier_installs > 0,
    earlier_installs,
    click: click && {
      clicked_at: iso(click.clickedAt),
      country: click.country && shownCountry(click.country),
      params: click.params,
      named_installs: click.namedInstalls,
    },
    doubts,
    doubts_not_checked,
    refused_clicks: refused_clicks.map(withTime),
    candidates: candidates.map(withTime),
    ...(consent ? { consent } : {}),
    ...(warnings.length > 0 ? { warnings: [...warnings] } : {}),
  };
}
