import { count, percent } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import { addDays, dayIn } from '#lib/time';
import type { AlertRow } from './alerts.ts';
import { STATE_CHECKS, type WatchedApplication, yesterdayOf } from './check.ts';
import { type Evaluated, type EvaluatedGroup, evaluateRule } from './evaluate.ts';
import { isStateKind } from './kinds.ts';
import { alertsLink, type Message } from './message.ts';
import {
  changeOf,
  comparedWith,
  type FiringGroups,
  isChange,
  limitText,
  type MetricRule,
  readFiringGroups,
  readRule,
  valueText,
} from './rule.ts';

// What a check of an alert says, and what that changes.

const GROUPS_NAMED = 5;
/** A group that fires and then has no data for so many days is forgotten. */
const KEPT_DAYS = 30;

type AlertState = 'fired' | 'resolved';

/** A change to be told: its sentences, and where to read more. */
type ChangeNotice = { state: AlertState; sentences: string[]; link: Message['link'] };

/** The result of a check: what it found as a sentence, whether there was the data to tell, what now fires, and what is to be told. */
export type RuleOutcome = { finding: string; isKnown: boolean; firing: FiringGroups; told: ChangeNotice[] };

type Firing = Pick<EvaluatedGroup, 'key' | 'name' | 'firing'>;
type Changed<Group> = { fired: Group[]; resolved: Group[]; firing: FiringGroups };

/** What a check changes. A group without data keeps its state, so that it fires once until it has recovered. */
function changesOf<Group extends Firing>(
  before: FiringGroups,
  groups: readonly Group[],
  day: string,
  now: number,
): Changed<Group> {
  const oldest = addDays(day, -KEPT_DAYS);
  const firing = Object.fromEntries(Object.entries(before).filter(([, own]) => own.day >= oldest));
  const [fired, resolved]: [Group[], Group[]] = [[], []];
  for (const group of groups) {
    const known = firing[group.key];
    if (group.firing === true) {
      firing[group.key] = { name: group.name, since: known?.since ?? now, day };
      if (!known) fired.push(group);
    } else if (group.firing === false && known) {
      delete firing[group.key];
      resolved.push(group);
    }
  }
  return { fired, resolved, firing };
}

/** One change for the groups that start firing and one for those that recovered. */
const toldOf = <Group>(
  { fired, resolved }: Changed<Group>,
  of: (groups: readonly Group[]) => Omit<ChangeNotice, 'state'>,
): ChangeNotice[] =>
  [
    { state: 'fired' as const, groups: fired },
    { state: 'resolved' as const, groups: resolved },
  ].flatMap(({ state, groups }) => (groups.length > 0 ? [{ state, ...of(groups) }] : []));

const daysText = ({ from, to }: Evaluated) => (from === to ? `on ${to}` : `from ${from} to ${to}`);

/** How a value stands to the threshold, or to the days that it is compared with. */
function verdictOf(rule: MetricRule, { value, before, firing }: EvaluatedGroup, currency: string): string {
  const compared = comparedWith(rule);
  if (compared === null) {
    return `${firing ? rule.condition : `not ${rule.condition}`} ${limitText(rule, currency)}`;
  }
  const change = changeOf({ value, before }) ?? 0;
  const days = rule.days === 1 ? 'the day before' : `the ${rule.days} days before`;
  const earlier = `${compared === 'weekdays' ? 'the mean of the same weekdays before' : days} (${valueText(rule, before, currency)})`;
  if (change === 0) return `equal to ${earlier}`;
  return `${percent(Math.abs(change))} ${change < 0 ? 'below' : 'above'} ${earlier}`;
}

/** One sentence per group, with its value and what it is judged by. */
function sentencesOf(
  rule: MetricRule,
  groups: readonly EvaluatedGroup[],
  evaluated: Evaluated,
  currency: string,
): string[] {
  const named = groups.slice(0, GROUPS_NAMED).map((group) => {
    const subject = isolate(group.name) || rule.scope.map(isolate).join(', ') || 'All';
    const value = valueText(rule, group.value, currency);
    return `${subject}: ${value} ${daysText(evaluated)}, ${verdictOf(rule, group, currency)}.`;
  });
  const more = groups.length - named.length;
  return more > 0 ? [...named, `${count(more)} more ${more === 1 ? 'group' : 'groups'}.`] : named;
}

/** The report behind an evaluation: of its only group, or of all that its filters select. */
function linkOf(
  { id }: { id: string },
  rule: MetricRule,
  evaluated: Evaluated,
  groups: readonly EvaluatedGroup[],
) {
  const { from, to } = evaluated;
  const parameters = new URLSearchParams({ app: id, from, to, metric: rule.metric });
  const compared = comparedWith(rule);
  if (compared) parameters.set('compare', compared);
  const [only] = groups.length === 1 ? groups : [];
  const filters = only?.filter ? { ...rule.filters, [only.filter[0]]: only.filter[1] } : rule.filters;
  for (const [name, values] of Object.entries(filters)) {
    for (const value of [values ?? []].flat()) parameters.append(name, value);
  }
  parameters.set('by', rule.group_by !== undefined && !only?.filter ? rule.group_by : 'day');
  return { path: `/breakdown?${parameters}`, label: 'Open the report' };
}

function findingOf(rule: MetricRule, evaluated: Evaluated, currency: string): string {
  const { from, to, groups, leftOut } = evaluated;
  const days = from === to ? to : `${from} to ${to}`;
  const judged = groups.filter(({ firing }) => firing !== null);
  const rest = leftOut > 0 ? ` ${count(leftOut)} smaller groups were left out.` : '';
  const [first] = judged;
  if (!first) {
    const hasValue = isChange(rule.condition) && groups.some(({ value }) => value !== null);
    return `${hasValue ? 'Too few earlier days to compare with' : 'No data'}, ${days}.${rest}`;
  }
  if (rule.group_by === undefined) {
    const change = comparedWith(rule) ? `, ${verdictOf(rule, first, currency)}` : '';
    return `${valueText(rule, first.value, currency)}, ${days}${change}.`;
  }
  const firing = judged.filter((group) => group.firing).length;
  return `${count(firing)} of ${count(judged.length)} groups past the threshold, ${days}.${rest}`;
}

/** Checks an alert's metric or state. */
export async function checkAlert(
  env: Env,
  application: WatchedApplication,
  alert: AlertRow,
  now: number,
): Promise<RuleOutcome> {
  const before = readFiringGroups(alert.firingGroups);
  if (alert.rule !== null) {
    const rule = readRule(alert.rule);
    const { currency } = application;
    const evaluated = await evaluateRule(env, application, rule, yesterdayOf(application, now), now);
    const changed = changesOf(before, evaluated.groups, evaluated.to, now);
    return {
      finding: findingOf(rule, evaluated, currency),
      isKnown: evaluated.groups.some((group) => group.firing !== null),
      firing: changed.firing,
      told: toldOf(changed, (groups) => ({
        sentences: sentencesOf(rule, groups, evaluated, currency),
        link: linkOf(application, rule, evaluated, groups),
      })),
    };
  }
  if (!isStateKind(alert.kind)) throw new Error(`${alert.kind} is no kind of alert`);
  const { threshold } = alert;
  const { firing, text } = await STATE_CHECKS[alert.kind](env, { application, threshold, now });
  const changed = changesOf(before, [{ key: '', name: '', firing }], dayIn(application.timezone, now), now);
  return {
    finding: text,
    isKnown: firing !== null,
    firing: changed.firing,
    told: toldOf(changed, () => ({ sentences: [text], link: alertsLink(application) })),
  };
}
