import { METRICS, valueName } from '#catalogue';
import { settleCounters } from '#counting';
import { sharedReads } from '#db';
import { givingWay } from '#http';
import { daysOf } from '#lib/calendar';
import { addDays } from '#lib/time';
import { earlierDays, isOfGroup, PerformanceQuery, reportPerformance } from '#reports';
import { type WatchedApplication, yesterdayOf } from './check.ts';
import { comparedWith, type GroupFigures, judge, type MetricRule } from './rule.ts';

/** Of a rule with more groups, the largest are judged. */
const MAX_RULE_GROUPS = 100;
/** So many of the others are named. */
const LEFT_OUT_NAMED = 5;

/** A report's figure, or null if it does not exist. */
export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

type Group = {
  key: string;
  name: string;
  /** The filter that selects the group in reports; null if there is none. */
  filter: readonly [name: string, value: string] | null;
};

/** What the evaluation of a day says of a group. `firing` is null if there is no data, or too little. */
export type EvaluatedGroup = Group & {
  value: number | null;
  /** What the value is compared with. Null if it is not compared, or there is too little. */
  before: number | null;
  firing: boolean | null;
};

/** `leftOut` is the number of groups beyond the largest. */
export type Evaluated = { from: string; to: string; groups: EvaluatedGroup[]; leftOut: number };

type Read = {
  to: string;
  from: string;
  figures: Map<string, Group & GroupFigures>;
  leftOut: number;
};

/** The figures of a rule's days up to `to`, as they stood at its end: nothing that devices earned later counts. */
async function readFigures(
  env: Env,
  application: WatchedApplication,
  { group_by: by, metric, filters, days }: MetricRule,
  to: string,
  now: number,
  limit = MAX_RULE_GROUPS,
): Promise<Read> {
  const from = addDays(to, 1 - days);
  const query = PerformanceQuery.parse({
    ...{ application_id: application.id, from, to, group_by: by ?? 'month', limit },
    ...filters,
  });
  const metrics = [...new Set([metric, 'spend' as const, 'installs' as const])];
  const asked = { ...query, metrics, totals: by === undefined, asOf: to };
  const { data, totals, total_rows } = await reportPerformance(env, application, asked, now);
  const figuresOf = (row: Readonly<Record<string, unknown>>): GroupFigures => ({
    value: numberOf(row[metric]),
    spend: numberOf(row.spend),
    installs: numberOf(row.installs),
  });
  if (by === undefined) {
    const whole = { key: '', name: '', filter: null, ...figuresOf(totals) };
    return { from, to, figures: new Map([['', whole]]), leftOut: 0 };
  }
  const rows = data.filter(isOfGroup);
  const groups = rows.map((row): Group & GroupFigures => {
    const [id, name] = [row[`${by}_id`], row[by]];
    const isNamed = id !== undefined;
    const value = isNamed ? id : name;
    return {
      key: JSON.stringify(isNamed && id !== null ? [id] : [id ?? null, name]),
      name: valueName(by, String(name ?? '')),
      filter: typeof value === 'string' ? [isNamed ? `${by}_id` : by, value] : null,
      ...figuresOf(row),
    };
  });
  const figures = new Map(groups.map((group) => [group.key, group]));
  return { from, to, figures, leftOut: Math.max(0, total_rows - groups.length) };
}

/** How many earlier periods a change is from, and how many of them must be known. */
const PERIODS = { weekdays: { count: 4, least: 2 }, previous: { count: 1, least: 1 } } as const;

/** The last days of the periods that the days up to `to` are compared with, the latest first. */
function earlierEnds(rule: MetricRule, to: string): string[] {
  const compared = comparedWith(rule);
  const ends: string[] = [];
  let period = { from: addDays(to, 1 - rule.days), to };
  for (let left = compared ? PERIODS[compared].count : 0; compared && left > 0; left--) {
    period = earlierDays(period, compared);
    ends.push(period.to);
  }
  return ends;
}

/**
 * The mean of earlier values, the latest first. Periods before the first data do not count, and neither does an unknown value. Null if fewer
 * than `least` are left.
 */
export function meanOf(values: readonly (number | null)[], least: number): number | null {
  const known = values
    .slice(0, values.findLastIndex((value) => value !== null && value !== 0) + 1)
    .filter((value) => value !== null);
  return known.length < least ? null : known.reduce((sum, one) => sum + one, 0) / known.length;
}

/** What a rule says at the end of the day `to`, from the figures of its days and of those that they are compared with. */
function judgeDay(rule: MetricRule, to: string, readOf: (to: string) => Read): Evaluated {
  const now = readOf(to);
  const earlier = earlierEnds(rule, to).map(readOf);
  const compared = comparedWith(rule);
  // A group without a row has nothing of a sum, unless it is among those left out.
  const nothing = METRICS[rule.metric].kind === 'ratio' ? null : 0;
  const lacking = ({ leftOut }: Read): GroupFigures => ({
    value: leftOut > 0 ? null : nothing,
    ...{ spend: null, installs: null },
  });
  const known = new Map([...earlier].reverse().flatMap(({ figures }) => [...figures]));
  for (const [key, group] of now.figures) known.set(key, group);
  const groups = [...known.values()].map(({ key, name, filter }): EvaluatedGroup => {
    const own = now.figures.get(key) ?? lacking(now);
    const before = earlier.map((read) => read.figures.get(key) ?? lacking(read));
    const mean = (pick: (figures: GroupFigures) => number | null, least = 1) =>
      meanOf(before.map(pick), least);
    const figures: GroupFigures = compared
      ? {
          value: own.value,
          before: mean(({ value }) => value, PERIODS[compared].least),
          // A campaign that has stopped is as large as it was.
          spend: mean(({ spend }) => spend),
          installs: mean(({ installs }) => installs),
        }
      : own;
    const { value, before: was = null } = figures;
    return { key, name, filter, value, before: was, firing: judge(rule, figures) };
  });
  return { from: now.from, to, groups, leftOut: now.leftOut };
}

const MAX_REST_MS = 1_000;
/** As long as what was just done took, so that no more than half of a thread goes into a row of reports. */
const rest = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.min(ms, MAX_REST_MS)));

/**
 * What a rule says at the end of each of the days, after counting what has arrived. The report of a day is made once, whatever is compared with it,
 * and one after the other, giving way to other requests in between.
 * After `maxMs`, no more reports are made, and the days that lack one are left out; the first day is always there.
 */
async function evaluateDays(
  env: Env,
  application: WatchedApplication,
  rule: MetricRule,
  days: readonly string[],
  now: number,
  maxMs = Number.POSITIVE_INFINITY,
): Promise<Evaluated[]> {
  await settleCounters(env, application);
  const startedAt = Date.now();
  const endsOf = (to: string) => [to, ...earlierEnds(rule, to)];
  const first = endsOf(days[0] ?? '').length;
  const ends = [...new Set(days.flatMap(endsOf))];
  const reads = new Map<string, Read>();
  const sharing = { ...env, DB: sharedReads(env.DB) };
  const giveWay = givingWay();
  for (const [made, to] of ends.entries()) {
    if (made >= first && Date.now() - startedAt > maxMs) break;
    if (made > 0) await giveWay();
    const began = Date.now();
    reads.set(to, await readFigures(sharing, application, rule, to, now));
    if (made + 1 < ends.length) await rest(Date.now() - began);
  }
  const readOf = (to: string): Read => {
    const read = reads.get(to);
    if (!read) throw new Error(`no report of ${to}`);
    return read;
  };
  return days
    .filter((to) => endsOf(to).every((end) => reads.has(end)))
    .map((to) => judgeDay(rule, to, readOf));
}

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
  const [evaluated] = await evaluateDays(env, application, rule, [to], now);
  if (!evaluated) throw new Error('a day was not evaluated');
  return evaluated;
}

/** How long a preview makes reports: someone waits for it, and each day of a large application takes one of its own. */
const MAX_PREVIEW_MS = 8_000;

/** The evaluations of the last `days` full days, the latest first, from what is known now. Fewer days if the reports take too long. */
export function previewRule(
  env: Env,
  application: WatchedApplication,
  rule: MetricRule,
  days: number,
  now: number,
): Promise<Evaluated[]> {
  const last = yesterdayOf(application, now);
  const latestFirst = daysOf(addDays(last, 1 - days), last).reverse();
  return evaluateDays(env, application, rule, latestFirst, now, MAX_PREVIEW_MS);
}

/** The names of the largest groups that an evaluation left out, at most five. */
export async function namesLeftOut(
  env: Env,
  application: WatchedApplication,
  rule: MetricRule,
  { to, groups, leftOut }: Evaluated,
  now: number,
): Promise<string[]> {
  if (leftOut === 0) return [];
  const judged = new Set(groups.map(({ key }) => key));
  const limit = MAX_RULE_GROUPS + LEFT_OUT_NAMED;
  const { figures } = await readFigures(env, application, rule, to, now, limit);
  return [...figures.values()].filter(({ key }) => !judged.has(key)).map(({ name }) => name);
}
