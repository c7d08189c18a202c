import { composeDigests, encryptWebhooks, sendNotices, watchAlerts, watchDatabase } from '#alerts';
import { pruneClicks, pruneImpressions } from '#attribution';
import { writeSnapshot } from '#backup';
import { runDueConnectors } from '#connectors';
import { parkUndelivered, tellAllCounters } from '#counting';
import { pruneCreativeRequests } from '#creatives';
import { database, reencryptKeys } from '#db';
import { continueDeletions } from '#deletion';
import { pruneTokens } from '#devices';
import { outboundFetch, settingsOf } from '#env';
import { keepHashKey } from '#hashing';
import { pruneRejections } from '#ingestion';
import { pruneSessions, reencryptSecondFactors } from '#members';
import { fetchSharedRates, writeNames } from '#money';
import { type CronSchedule, recordRun, watchStores } from '#operations';
import { judgeSources } from '#reports';
import { pruneHours } from '#rollup';
import { mergeMonths } from '#rollup/months';
import { keepPostbacks } from '#skan';
import { pruneNotifications, sendHeldNotifications } from '#stores';
import { pruneCredentials } from '#teams';
import { pruneShareLinks } from '#views';
import { runChores } from './chores.ts';

/** What runs at which minutes of an hour, and at which hours of a day (all without any), in UTC. The cron itself runs every minute. */
type Work = { minute?: number; hours?: readonly number[]; run: (env: Env, now: number) => Promise<void> };

/** By the name under which a run is recorded, each apart: a run of the next minute would hide the failure of an hour's. */
const WORK: Record<CronSchedule, Work> = {
  chores: { run: runMinute },
  'hourly chores': { minute: 0, run: (env, now) => runChores(hourlyChores(env, now)) },
  // Three times, in case of failures: the bank publishes them at about 16:00 in Frankfurt.
  'exchange rates': { minute: 30, hours: [15, 17, 19], run: fetchRates },
  // Each night. The later runs finish what the first could not.
  snapshot: { minute: 20, hours: [2, 3, 4], run: (env, now) => writeSnapshot(env, now) },
  months: { minute: 50, run: writeData },
};

const isDue = ({ minute, hours }: Work, at: Date) =>
  (minute === undefined || minute === at.getUTCMinutes()) &&
  (hours === undefined || hours.includes(at.getUTCHours()));

/**
 * Runs what is due in the minute for which the cron was scheduled (epoch milliseconds), and records each run. Throws an error that names every
 * failed chore of the first run that failed.
 */
export async function runSchedule(scheduledTime: number, env: Env): Promise<void> {
  const now = Date.now();
  const at = new Date(scheduledTime);
  const due = Object.entries(WORK).filter(([, work]) => isDue(work, at)) as [CronSchedule, Work][];
  const runs = due.map(([name, { run }]) => recordRun(env, name, now, () => run(env, now)));
  for (const outcome of await Promise.allSettled(runs)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/** Writes what other engines read, and reports too: months of the cube. */
async function writeData(env: Env, now: number): Promise<void> {
  await runChores({ 'merge months': mergeMonths(env, now), 'write names': writeNames(env, now) });
}

async function fetchRates(env: Env, now: number): Promise<void> {
  const { EXCHANGE_RATES_URL, FURTHER_RATES_URL } = settingsOf(env);
  const chores: Record<string, Promise<unknown>> = {};
  if (EXCHANGE_RATES_URL) {
    chores['fetch exchange rates'] = fetchSharedRates(env.DB, 'reference', EXCHANGE_RATES_URL, now);
  }
  if (FURTHER_RATES_URL) {
    // After the reference rates, because it stores only what these lack, and whether or not they could be fetched.
    chores['fetch further exchange rates'] = Promise.allSettled(Object.values(chores)).then(() =>
      fetchSharedRates(env.DB, 'further', FURTHER_RATES_URL, now),
    );
  }
  await runChores(chores);
}

function hourlyChores(env: Env, now: number): Record<string, Promise<unknown>> {
  const { KEY_ENCRYPTION_SECRET } = settingsOf(env);
  const db = database(env.DB);
  return {
    // Listing a bucket costs as much as writing to it.
    'park undelivered messages': parkUndelivered(env),
    'keep postbacks': keepPostbacks(env.DB, now),
    'send held store notifications': sendHeldNotifications(env, now),
    'judge sources': judgeSources(env, now),
    // While a secret is rotated, these read whole tables.
    'keep hash key': keepHashKey(env),
    'encrypt keys': reencryptKeys(db, KEY_ENCRYPTION_SECRET),
    'encrypt second factors': reencryptSecondFactors(env),
    'encrypt webhooks': encryptWebhooks(db, KEY_ENCRYPTION_SECRET),
  };
}

async function runMinute(env: Env, now: number): Promise<void> {
  const { TOKEN_TTL_DAYS } = settingsOf(env);
  // Chores that prune D1 are independent of each other. Counters need no cron: a counter sets its alarm whenever it gets work and
  // again when it starts, so a lost alarm is restored by the next call to it.
  await runChores({
    'continue deletions of applications': continueDeletions(env, database(env.DB), now),
    'prune clicks': pruneClicks(env.DB, now),
    'prune impressions': pruneImpressions(env.DB, now),
    'prune creative requests': pruneCreativeRequests(env.DB, now),
    'prune tokens': pruneTokens(env.DB, TOKEN_TTL_DAYS, now),
    'prune credentials': pruneCredentials(env.DB, now),
    'prune hours': pruneHours(env.DB, now),
    'prune rejections': pruneRejections(env.DB, now),
    'prune sessions': pruneSessions(env.DB, now),
    'prune store notifications': pruneNotifications(env.DB, now),
    'prune share links': pruneShareLinks(database(env.DB), now),
    'watch stores': watchStores(env, now),
    'watch database': watchDatabase(env, now),
    'tell counters of destinations': tellAllCounters(env),
  });
  // Checks run first, so that their findings are sent in the same run.
  await runChores({ 'watch alerts': watchAlerts(env, now), 'compose digests': composeDigests(env, now) });
  // Platforms may take minutes to answer, so nothing waits for them.
  await runChores({
    'send notices': sendNotices(env, now),
    'run connectors': runDueConnectors(env, now, outboundFetch(env)),
  });
}
