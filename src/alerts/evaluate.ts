import { valueName } from '#catalogue';
import { daysOf } from '#lib/calendar';
import { addDays } from '#lib/time';
import { PerformanceQuery, reportPerformance } from '#reports';
import { numberOf, type WatchedApplication, yesterdayOf } from './check.ts';
import { judge, type MetricRule } from './rule.ts';

/** Of a rule with more groups, the largest are judged. */
const MAX_RULE_GROUPS = 100;

/** What the evaluation of a day says of a group. `firing` is null if there is no data, or too little. */
export type Judged = {
  key: string;
  name: string;
  /** The filter that selects the group in reports; null if there is none. */
  filter: readonly [name: string, value: string] | null;
  value: number | null;
  firing: boolean | null;
};

/** `leftOut` is the number of groups beyond the largest. */
export type Evaluated = { from: string; to: string; groups: Judged[]; leftOut: number };

/**
 * What a rule says at the end of the day `to`, of the days up to it: nothing that devices earned later counts. The cron's check and the preview
 * both come from here.
 */
export async function evaluateRule(
  env: Env,
  application: WatchedApplication,
  rule: MetricRule,
  to: string,
  now: number,
): Promise<Evaluated> {
  const { group_by: by, metric, filters } = rule;
  const from = addDays(to, 1 - rule.days);
  const query = PerformanceQuery.parse({
    ...{ application_id: application.id, from, to, group_by: by ?? 'month', limit: MAX_RULE_GROUPS },
    ...filters,
  });
  const metrics = [...new Set([metric, 'spend' as const, 'installs' as const])];
  const asked = { ...query, metrics, totals: by === undefined, asOf: to };
  const { data, totals, total_rows } = await reportPerformance(env, application, asked, now);
  const figures = (row: Readonly<Record<string, unknown>>) => ({
    value: numberOf(row[metric]),
    spend: numberOf(row.spend),
    installs: numberOf(row.installs),
  });
  if (by === undefined) {
    const own = figures(totals);
    const whole = { key: '', name: '', filter: null, value: own.value, firing: judge(rule, own) };
    return { from, to, groups: [whole], leftOut: 0 };
  }
  const rows = data.filter((row) => !row.is_other);
  const groups = rows.map((row): Judged => {
    const [id, name] = [row[`${by}_id`], row[by]];
    const own = figures(row);
    const isNamed = id !== undefined;
    const value = isNamed ? id : name;
    return {
      key: JSON.stringify(isNamed && id !== null ? [id] : [id ?? null, name]),
      name: valueName(by, String(name ?? '')),
      filter: typeof value === 'string' ? [isNamed ? `${by}_id` : by, value] : null,
      value: own.value,
      firing: judge(rule, own),
    };
  });
  return { from, to, groups, leftOut: Math.max(0, total_rows - rows.length) };
}

/** Days are evaluated so many at once, so that they wait for the stores together. */
const DAYS_AT_ONCE = 5;

/** The evaluations of the last `days` full days, the latest first, from what is known now. */
export async function previewRule(
  env: Env,
  application: WatchedApplication,
  rule: MetricRule,
  days: number,
  now: number,
): Promise<Evaluated[]> {
  const last = yesterdayOf(application, now);
  const each = daysOf(addDays(last, 1 - days), last).reverse();
  const found: Evaluated[] = [];
  for (let start = 0; start < each.length; start += DAYS_AT_ONCE) {
    const some = each.slice(start, start + DAYS_AT_ONCE);
    found.push(...(await Promise.all(some.map((day) => evaluateRule(env, application, rule, day, now)))));
  }
  return found;
}
