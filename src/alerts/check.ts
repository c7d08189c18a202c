import { readApplicationHealth } from '#counting';
import type { applications } from '#db';
import { addDays, dayIn } from '#lib/time';
import { inspect } from '#operations';
import { type Finding, findProblems, findSilence } from './findings.ts';
import type { StateKind } from './kinds.ts';

/** An application that the cron checks, on nobody's behalf. */
export type WatchedApplication = typeof applications.$inferSelect;

type CheckedApplication = { application: WatchedApplication; threshold: number; now: number };

/** The last full day in the application's time zone. */
export const yesterdayOf = ({ timezone }: { timezone: string }, now: number) =>
  addDays(dayIn(timezone, now), -1);

async function checkSilence(env: Env, { application, threshold, now }: CheckedApplication): Promise<Finding> {
  const { counters } = await readApplicationHealth(env, application);
  if (!counters) return { firing: null, text: 'The last check could not read the arrival times of events.' };
  return findSilence({
    hours: threshold,
    lastEventAt: counters.lastAppendedAt,
    hasDevices: counters.devices > 0,
    timezone: application.timezone,
    now,
  });
}

async function checkProblems(
  env: Env,
  { application, threshold, now }: CheckedApplication,
): Promise<Finding> {
  const { problems, applications } = await inspect(env, [application], now);
  return findProblems([...problems, ...applications.flatMap((own) => own.problems)], threshold);
}

/** How the state of an application is compared with an alert's threshold. */
export const STATE_CHECKS: Record<StateKind, (env: Env, checked: CheckedApplication) => Promise<Finding>> = {
  no_events: checkSilence,
  service_problems: checkProblems,
};
