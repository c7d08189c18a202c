import { sql } from 'drizzle-orm';
import { NewerFormatError, newerFileIn, newerFormatsOf } from '#lib/encoding/store-formats';
import { logError, underlying } from '#lib/log';
import { withTimeout } from '#lib/timeout';
import { database } from './client.ts';
import { storeFormats } from './schemas.ts';

/** How long a database that this release knows is used without asking again, and one that did not answer. */
const KNOWN_MS = 60_000;
const UNKNOWN_MS = 10_000;
/** Nothing else waits longer for a database that hangs. */
const ASKING_MS = 2_000;
const known = new WeakMap<D1Database, number>();

/**
 * What is newer in the deployment than this release knows, in sentences: the stores whose format a migration of a later release has raised. Throws
 * if the database does not respond.
 */
export async function newerFormats(db: D1Database): Promise<{ store: string; fault: string }[]> {
  const rows = await database(db)
    .select()
    .from(storeFormats)
    .catch((error) => {
      // An older release made it, or nobody has yet.
      if (String(underlying(error)).includes('no such table')) return [];
      throw error;
    });
  return newerFormatsOf(rows);
}

/**
 * Notes a file of a newer format that a request has met, so that Health and `npm run org` name it from then on, until a release that knows the format
 * runs. `fault` is the sentence about it. Does nothing about other stores, which are found without being met. Idempotent; never throws.
 */
export async function noteNewerFile(db: D1Database, fault: string): Promise<void> {
  const met = newerFileIn(fault);
  if (met === null) return;
  const number = sql`max(${storeFormats.number}, excluded.number)`;
  await database(db)
    .insert(storeFormats)
    .values(met)
    .onConflictDoUpdate({ target: storeFormats.store, set: { number } })
    .catch((error) => logError('newer file not noted', error));
}

function isKnown(db: D1Database): boolean {
  const since = Date.now() - (known.get(db) ?? Number.NEGATIVE_INFINITY);
  // Before it was asked, if the clock was set back.
  return since >= 0 && since < KNOWN_MS;
}

/** Throws `NewerFormatError` for a database in a format that this release does not know. Asks at most once a minute. */
export async function requireKnownDatabase(db: D1Database): Promise<void> {
  if (isKnown(db)) return;
  const newer = (await newerFormats(db)).find(({ store }) => store === 'database');
  if (newer) throw new NewerFormatError(newer.fault);
  known.set(db, Date.now());
}

/** A database that answers every call with an error, as one that does not respond. */
function refusing(error: NewerFormatError): D1Database {
  const refuse = (): never => {
    throw error;
  };
  return { prepare: refuse, batch: refuse, exec: refuse, dump: refuse, withSession: refuse };
}

/**
 * The bindings with the database, unless that has a format that this release does not know: then with one that refuses every call, so that nothing is
 * guessed, and everything waits as in an outage.
 */
export async function guardDatabase<Bindings extends Pick<Env, 'DB'>>(env: Bindings): Promise<Bindings> {
  // Nearly every request: without a timer.
  if (isKnown(env.DB)) return env;
  try {
    await withTimeout(requireKnownDatabase(env.DB), ASKING_MS);
    return env;
  } catch (error) {
    if (!(error instanceof NewerFormatError)) {
      // Of one that does not respond, each use finds out by itself.
      known.set(env.DB, Date.now() - KNOWN_MS + UNKNOWN_MS);
      return env;
    }
    logError('the database is not used', error);
    return { ...env, DB: refusing(error) };
  }
}
