import { and, eq, sql } from 'drizzle-orm';
import { settleCounters } from '#counting';
import { alerts, type Database } from '#db';
import { count } from '#lib/format';
import { addDays } from '#lib/time';
import type { Alert } from './alerts.ts';
import { type WatchedApplication, yesterdayOf } from './check.ts';
import { type Evaluated, evaluateRule, type Judged } from './evaluate.ts';
import type { Message } from './message.ts';
import { noticeEachChannel } from './notice.ts';
import {
  type FiringGroups,
  limitText,
  type MetricRule,
  readFiringGroups,
  readRule,
  ruleText,
  valueText,
} from './rule.ts';

const EVERY_MS = 60 * 60_000;
const GROUPS_NAMED = 5;
/** A group that fires and then has no data for so many days is forgotten. */
const KEPT_DAYS = 30;

type Changed = { fired: Judged[]; resolved: Judged[]; firing: FiringGroups };

/** What an evaluation changes. A group without data keeps its state, so that it fires once until it has recovered. */
function changesOf(before: FiringGroups, { to, groups }: Evaluated, now: number): Changed {
  const oldest = addDays(to, -KEPT_DAYS);
  const firing = Object.fromEntries(Object.entries(before).filter(([, { day }]) => day >= oldest));
  const [fired, resolved]: [Judged[], Judged[]] = [[], []];
  for (const group of groups) {
    const known = firing[group.key];
    if (group.firing === true) {
      firing[group.key] = { name: group.name, since: known?.since ?? now, day: to };
      if (!known) fired.push(group);
    } else if (group.firing === false && known) {
      delete firing[group.key];
      resolved.push(group);
    }
  }
  return { fired, resolved, firing };
}

const more = (groups: readonly unknown[], word: string) =>
  groups.length > GROUPS_NAMED ? [`${count(groups.length - GROUPS_NAMED)} more ${word}.`] : [];

/** One sentence per group, with its value, the threshold and the days. */
function sentencesOf(rule: MetricRule, groups: readonly Judged[], { from, to }: Evaluated, currency: string) {
  const days = from === to ? `on ${to}` : `from ${from} to ${to}`;
  return groups.slice(0, GROUPS_NAMED).map(({ name, value, firing }) => {
    const subject = name || rule.scope.join(', ') || 'All';
    const side = firing ? rule.condition : `not ${rule.condition}`;
    return `${subject}: ${valueText(rule, value, currency)} ${days}, ${side} ${limitText(rule, currency)}.`;
  });
}

/** The report behind an evaluation: of its only group, or of all that its filters select. */
function linkOf({ id }: { id: string }, rule: MetricRule, evaluated: Evaluated, groups: readonly Judged[]) {
  const { from, to } = evaluated;
  const parameters = new URLSearchParams({ app: id, from, to, metric: rule.metric });
  const [only] = groups.length === 1 ? groups : [];
  const filters = only?.filter ? { ...rule.filters, [only.filter[0]]: only.filter[1] } : rule.filters;
  for (const [name, values] of Object.entries(filters)) {
    for (const value of [values ?? []].flat()) parameters.append(name, value);
  }
  const by = rule.group_by !== undefined && !only?.filter ? rule.group_by : 'day';
  parameters.set('by', by);
  return { path: `/breakdown?${parameters}`, label: 'Open the report' };
}

function summaryOf(rule: MetricRule, evaluated: Evaluated, currency: string): string {
  const { from, to, groups, leftOut } = evaluated;
  const days = from === to ? to : `${from} to ${to}`;
  const judged = groups.filter(({ firing }) => firing !== null);
  const rest = leftOut > 0 ? ` ${count(leftOut)} smaller groups were left out.` : '';
  if (judged.length === 0) return `No data, ${days}.${rest}`;
  if (rule.group_by === undefined) return `${valueText(rule, judged[0]?.value ?? null, currency)}, ${days}.`;
  const firing = judged.filter((group) => group.firing).length;
  return `${count(firing)} of ${count(judged.length)} groups past the threshold, ${days}.${rest}`;
}

/**
 * Checks an alert on a metric. Queues one message for the groups that start firing and one for those that recovered, in the same transaction as
 * their state.
 */
export async function watchRule(
  env: Env,
  db: Database,
  application: WatchedApplication,
  alert: Alert & { rule: string },
  now: number,
): Promise<void> {
  const rule = readRule(alert.rule);
  const { currency } = application;
  await settleCounters(env, application);
  const evaluated = await evaluateRule(env, application, rule, yesterdayOf(application, now), now);
  const { fired, resolved, firing } = changesOf(readFiringGroups(alert.firingGroups), evaluated, now);
  const since = Object.values(firing).map((group) => group.since);
  const isUnchanged = and(eq(alerts.id, alert.id), sql`${alerts.firingGroups} IS ${alert.firingGroups}`);
  const guard = sql`EXISTS (SELECT 1 FROM ${alerts} WHERE ${isUnchanged})`;
  const noticesOf = (word: 'Alert' | 'Resolved', groups: readonly Judged[]) => {
    if (groups.length === 0) return [];
    const heading = `${application.name} · ${word}: ${ruleText(rule, currency)}`;
    const message: Message = {
      heading,
      sentences: [
        ...sentencesOf(rule, groups, evaluated, currency),
        ...more(groups, groups.length === GROUPS_NAMED + 1 ? 'group' : 'groups'),
      ],
      figures: [],
      comparedWith: [],
      link: linkOf(application, rule, evaluated, groups),
    };
    const id = `${alert.id}:${word}:${now}`;
    return [noticeEachChannel(db, application.id, { id, subject: heading, message, now }, guard)];
  };
  const update = db
    .update(alerts)
    .set({
      finding: summaryOf(rule, evaluated, currency),
      nextCheckAt: now + EVERY_MS,
      firingSince: since.length > 0 ? Math.min(...since) : null,
      firingGroups: JSON.stringify(firing),
    })
    .where(isUnchanged);
  const statements = [...noticesOf('Alert', fired), ...noticesOf('Resolved', resolved)];
  const [first, ...others] = statements;
  await (first ? db.batch([first, ...others, update]) : update);
}
