import { readApplicationHealth, settleCounters } from '#counting';
import type { applications } from '#db';
import { count, money, percent } from '#lib/format';
import { addDays, dayIn } from '#lib/time';
import { inspect } from '#operations';
import { PerformanceQuery, reportPerformance } from '#reports';
import {
  type Finding,
  findChange,
  findIdleSpend,
  findLimit,
  findProblems,
  findSilence,
  firstComparedDay,
} from './findings.ts';
import type { AlertKind } from './kinds.ts';

/** Of an application with more campaigns, those with the most revenue and spend are checked. */
const MAX_CAMPAIGNS = 500;

/** An application that the cron checks, on nobody's behalf. */
export type WatchedApplication = typeof applications.$inferSelect;

type Checked = { application: WatchedApplication; threshold: number; now: number };

/** The last full day in the application's time zone. */
export const yesterdayOf = ({ timezone }: { timezone: string }, now: number) =>
  addDays(dayIn(timezone, now), -1);

/** The performance report for a range of days, in the team API's format, after counting what has arrived. */
export async function readPerformance(
  env: Env,
  application: WatchedApplication,
  period: { from: string; to: string; group_by: string; limit?: number },
  now: number,
) {
  const query = PerformanceQuery.parse({ application_id: application.id, ...period });
  await settleCounters(env, application);
  return reportPerformance(env, application, query, now);
}

/** A report's figure, or null if it does not exist. */
export const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);

async function checkChange(
  env: Env,
  { application, threshold, now }: Checked,
  metric: 'revenue' | 'installs',
) {
  const day = yesterdayOf(application, now);
  const period = { from: firstComparedDay(day), to: day, group_by: 'day' };
  const { data, currency } = await readPerformance(env, application, period, now);
  return findChange({
    name: metric === 'revenue' ? 'Revenue' : 'Installs',
    verb: metric === 'revenue' ? 'was' : 'were',
    day,
    thresholdPercent: threshold,
    values: new Map(data.map((row) => [String(row.day), numberOf(row[metric])])),
    show: metric === 'revenue' ? (value) => money(value, currency) : count,
  });
}

async function checkSilence(env: Env, { application, threshold, now }: Checked): Promise<Finding> {
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

async function checkProblems(env: Env, { application, threshold, now }: Checked): Promise<Finding> {
  const { problems, applications } = await inspect(env, [application], now);
  return findProblems([...problems, ...applications.flatMap((own) => own.problems)], threshold);
}

async function checkIdleSpend(env: Env, { application, threshold, now }: Checked): Promise<Finding> {
  const day = yesterdayOf(application, now);
  const period = { from: day, to: day, group_by: 'campaign', limit: MAX_CAMPAIGNS };
  const { data, currency } = await readPerformance(env, application, period, now);
  const campaigns = data
    .filter((row) => row.campaign !== null && !row.is_other)
    .map((row) => ({
      campaign: String(row.campaign),
      spend: numberOf(row.spend),
      installs: numberOf(row.installs) ?? 0,
    }));
  return findIdleSpend({ day, threshold, campaigns, currency });
}

async function checkRatio(env: Env, { application, threshold, now }: Checked, metric: 'cpi' | 'roas') {
  const to = yesterdayOf(application, now);
  const period = { from: addDays(to, -6), to, group_by: 'month' };
  const { totals, currency } = await readPerformance(env, application, period, now);
  const value = numberOf(totals[metric]);
  return metric === 'cpi'
    ? findLimit({
        name: 'CPI',
        value,
        limit: threshold,
        side: 'above',
        show: (shown) => money(shown, currency),
      })
    : findLimit({ name: 'ROAS', value, limit: threshold / 100, side: 'below', show: percent });
}

const CHECKS: Record<AlertKind, (env: Env, checked: Checked) => Promise<Finding>> = {
  revenue_change: (env, checked) => checkChange(env, checked, 'revenue'),
  installs_change: (env, checked) => checkChange(env, checked, 'installs'),
  no_events: checkSilence,
  service_problems: checkProblems,
  spend_without_installs: checkIdleSpend,
  cpi_above: (env, checked) => checkRatio(env, checked, 'cpi'),
  roas_below: (env, checked) => checkRatio(env, checked, 'roas'),
};

/** Compares an alert's figure with its threshold. */
export const checkAlert = (env: Env, kind: AlertKind, checked: Checked): Promise<Finding> =>
  CHECKS[kind](env, checked);
