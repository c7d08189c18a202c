import { asc } from 'drizzle-orm';
import { database, destinations, isAmong, OFF_BY_HAND } from '#db';
import { newerFormatIn } from '#lib/encoding/store-formats';
import { logWarning } from '#lib/log';
import { earliest, iso } from '#lib/time';
import { withTimeout } from '#lib/timeout';

/** One request asks at most as many. Problems of the others are those in the database alone. */
const MAX_ASKED = 50;
const TIMEOUT_MS = 2_000;
/** From then on, the team's channels are told, too. */
const FAILURES = 5;
/** A shorter outage may be that of a single event. */
const OUTAGE_MS = 15 * 60_000;

/** What an application's destinations do, taken together. `waitingSince`: when the oldest event was received that is still to be sent. */
export type DestinationsState = {
  problems: string[];
  waitingSince: number | null;
  /** Attempts in this hour and the one before, and how many of them failed. */
  attempts: number;
  failed: number;
};

/** How a destination does; if it does not respond, what to say about it. */
async function healthOrFault(env: Env, id: string) {
  const asking = (async () => await env.DESTINATIONS.getByName(id).health())();
  try {
    return { health: await withTimeout(asking, TIMEOUT_MS), fault: null };
  } catch (error) {
    logWarning('destination does not respond', error, { destination_id: id });
    return { health: null, fault: newerFormatIn(error) ?? 'does not respond' };
  }
}

/** How a destination does; null if it does not respond. */
export const askDestination = async (env: Env, id: string) => (await healthOrFault(env, id)).health;

const EMPTY = { problems: [], waitingSince: null, attempts: 0, failed: 0 };

/** The state of the destinations of some applications, by application. Applications without one are missing. */
export async function readDestinations(
  env: Env,
  applicationIds: readonly string[],
  now: number,
): Promise<Map<string, DestinationsState>> {
  const { id, kind, applicationId, offSince, offReason } = destinations;
  const rows = await database(env.DB)
    .select({ id, kind, applicationId, offSince, offReason })
    .from(destinations)
    .where(isAmong(applicationId, applicationIds))
    .orderBy(asc(id));
  const states = new Map<string, DestinationsState>();
  const isAsked = new Set(rows.filter((row) => row.offSince === null).slice(0, MAX_ASKED));
  const healths = await Promise.all(
    rows.map((row) => (isAsked.has(row) ? healthOrFault(env, row.id) : undefined)),
  );
  for (const [at, row] of rows.entries()) {
    const { health, fault } = healths[at] ?? { health: null, fault: null };
    const state = states.get(row.applicationId) ?? EMPTY;
    const name = `The destination ${row.kind} (${row.id})`;
    const isSwitchedOff = row.offSince !== null && row.offReason !== OFF_BY_HAND;
    states.set(row.applicationId, {
      problems: [
        state.problems,
        isSwitchedOff ? `${name} was switched off: ${row.offReason}.` : [],
        fault === 'does not respond' ? `${name} ${fault}.` : fault ? `${fault}.` : [],
        health && health.failuresInRow >= FAILURES
          ? `${name} has failed ${health.failuresInRow} times in a row.`
          : [],
        health && health.failingSince !== null && now - health.failingSince >= OUTAGE_MS
          ? `${name} has delivered nothing since ${iso(health.failingSince)}; what waits is tried again.`
          : [],
      ].flat(),
      waitingSince: earliest(state.waitingSince, health?.oldestAt),
      attempts: state.attempts + (health?.attempts ?? 0),
      failed: state.failed + (health?.failed ?? 0),
    });
  }
  return states;
}
