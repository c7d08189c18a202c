import * as z from 'zod';
import { ALL_METRICS, METRICS, type Metric, type MetricDefinition } from '#catalogue';
import { count, money, percent } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import { type DimensionName, givenBy, isDimension, REPORT_DIMENSIONS, ReportFilters } from '#reports';

// Alerts on a metric of the performance report. Pure.

/** The groupings by which a rule can be judged apart. */
export const RULE_GROUPS = Object.keys(REPORT_DIMENSIONS).filter(
  (name): name is DimensionName =>
    isDimension(name) && REPORT_DIMENSIONS[name].kind !== 'time' && name !== 'currency',
);

/** What a value can be, in the order of the form, and its words in a sentence. The last three compare it with earlier days. */
export const CONDITIONS = {
  below: 'is below',
  above: 'is above',
  falls: 'falls by more than',
  rises: 'rises by more than',
  changes: 'changes by more than',
} as const;
export type Condition = keyof typeof CONDITIONS;
const CONDITION_NAMES = Object.keys(CONDITIONS) as [Condition, ...Condition[]];

/** Whether a condition compares a value with that of earlier days. Its threshold is a change in percent. */
export const isChange = (condition: string): boolean => condition !== 'below' && condition !== 'above';

/** The earlier days that a change is from: the mean of the same weekdays of four weeks before, or as many days just before. */
export const COMPARED_WITH = ['weekdays', 'previous'] as const;
export type ComparedWith = (typeof COMPARED_WITH)[number];

const MAX_DAYS = 30;
const daysError = `must be a whole number from 1 to ${MAX_DAYS}`;

/** A form sends empty text for a field that was left empty. */
const given = (value: unknown) => (value === '' || value === null ? undefined : value);

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(given, schema.optional()).optional();

/** A number that a form sends as text. Nothing else becomes one: `null` is not 0. */
export const numberOrText = (schema: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' && given(value) ? Number(value) : given(value)), schema);

const anyNumber = () => z.number({ error: 'must be a number' });
const least = () => optional(numberOrText(anyNumber().min(0, 'must not be negative')));

export const ruleFields = {
  metric: z.enum(ALL_METRICS, { error: 'must be the name of a metric, such as roas' }),
  condition: z.enum(CONDITION_NAMES, { error: `must be one of ${CONDITION_NAMES.join(', ')}` }),
  compared_with: optional(z.enum(COMPARED_WITH, { error: `must be ${COMPARED_WITH.join(' or ')}` })),
  threshold: numberOrText(anyNumber()),
  days: numberOrText(
    z.number({ error: daysError }).int(daysError).min(1, daysError).max(MAX_DAYS, daysError),
  ),
  group_by: optional(z.enum(RULE_GROUPS, { error: `must be one of ${RULE_GROUPS.join(', ')}` })),
  min_spend: least(),
  min_installs: least(),
};

type CheckedRule = Pick<
  MetricRule,
  'metric' | 'condition' | 'compared_with' | 'threshold' | 'group_by' | 'filters' | 'min_spend'
>;

/** Checks a rule for faults that its fields alone do not show. */
export function checkRule(rule: CheckedRule, ctx: z.RefinementCtx): void {
  const { metric, condition, compared_with, threshold, group_by, filters, min_spend } = rule;
  const known = givenBy(group_by ? [group_by] : [], filters);
  const fault = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message });
  if (!known.has(metric)) fault('metric', 'is not known with this grouping and these filters');
  if (min_spend !== undefined && !known.has('spend')) {
    fault('min_spend', 'needs a grouping and filters that costs state');
  }
  if (isChange(condition) && threshold <= 0) fault('threshold', 'must be above 0, as a change in percent');
  if (!isChange(condition) && compared_with !== undefined) {
    fault('compared_with', 'needs the condition falls, rises or changes');
  }
}

const Rule = z.object({
  ...ruleFields,
  filters: ReportFilters.default({}),
  /** The names of the filters' values, for texts. */
  scope: z.array(z.string()).default([]),
});

/**
 * What is watched: a metric over the last `days` full days, of each group apart if there is a grouping. `threshold` is in percent for changes and
 * for ratios in percent, and otherwise in the metric's unit. Groups with less spend or fewer installs than the minimum are not judged.
 */
export const MetricRule = Rule.superRefine(checkRule);
export type MetricRule = z.infer<typeof Rule>;

/** What the rule's change is from. Null if it has none. */
export const comparedWith = ({ condition, compared_with }: MetricRule): ComparedWith | null =>
  isChange(condition) ? (compared_with ?? 'weekdays') : null;

/** What an alert fires for, by key, which is empty without groups: since when, and the last day on which each had data. */
export const FiringGroups = z.record(
  z.string(),
  z.object({ name: z.string(), since: z.number(), day: z.string() }),
);
export type FiringGroups = z.infer<typeof FiringGroups>;

/** What one group had in the days of a rule, and in the days that it is compared with. A figure is null if it does not exist. */
export type GroupFigures = {
  value: number | null;
  before?: number | null;
  spend: number | null;
  installs: number | null;
};

const unitOf = (metric: Metric): MetricDefinition['unit'] => METRICS[metric].unit;

/** A rule's threshold as a ratio or in the metric's own unit, in which 50 % is 0.5. */
const limitOf = (rule: MetricRule): number =>
  isChange(rule.condition) || unitOf(rule.metric) === 'percent' ? rule.threshold / 100 : rule.threshold;

/** How much a value changed, as a ratio of what it was before. Null if either is not known, or it was not above 0. */
export const changeOf = ({ value, before }: Pick<GroupFigures, 'value' | 'before'>): number | null =>
  value === null || !before || before < 0 ? null : (value - before) / before;

const JUDGED: Readonly<Record<Condition, (value: number, limit: number) => boolean>> = {
  below: (value, limit) => value < limit,
  above: (value, limit) => value > limit,
  falls: (change, limit) => -change > limit,
  rises: (change, limit) => change > limit,
  changes: (change, limit) => Math.abs(change) > limit,
};

/** Whether a group is past the limit; null if it has no value, or is too small to be judged. */
export function judge(rule: MetricRule, figures: GroupFigures): boolean | null {
  const { condition, min_spend = 0, min_installs = 0 } = rule;
  const { spend, installs } = figures;
  const value = isChange(condition) ? changeOf(figures) : figures.value;
  if (value === null || (spend ?? 0) < min_spend || (installs ?? 0) < min_installs) return null;
  return JUDGED[condition](value, limitOf(rule));
}

/** A value of a rule's metric, for people. */
export function valueText({ metric }: Pick<MetricRule, 'metric'>, value: number | null, currency: string) {
  if (unitOf(metric) === 'money') return money(value, currency);
  return unitOf(metric) === 'percent' ? percent(value) : count(value);
}

export const limitText = (rule: MetricRule, currency: string): string =>
  isChange(rule.condition) ? percent(limitOf(rule)) : valueText(rule, limitOf(rule), currency);

const lasting = (days: number) => (days === 1 ? 'the last day' : `the last ${days} days`);

/** What a rule's change is from: ` from the same weekdays before`. Empty if it has none. */
function fromText(rule: MetricRule): string {
  const compared = comparedWith(rule);
  if (compared === null) return '';
  if (compared === 'weekdays') return ' from the same weekdays before';
  return rule.days === 1 ? ' from the day before' : ` from the ${rule.days} days before`;
}

/** A rule as a sentence: `ROAS of Summer over the last 7 days is below 50%`. */
export function ruleText(rule: MetricRule, currency: string): string {
  const { metric, group_by, scope, days, condition, min_spend, min_installs } = rule;
  const by = group_by
    ? ` by ${REPORT_DIMENSIONS[group_by].kind === 'named' ? group_by.replace('adset', 'ad set') : group_by.replaceAll('_', ' ')}`
    : '';
  const of = scope.length > 0 ? ` of ${scope.map(isolate).join(', ')}` : '';
  const least = [
    ...(min_spend === undefined ? [] : [`at least ${money(min_spend, currency)} of spend`]),
    ...(min_installs === undefined ? [] : [`at least ${count(min_installs)} installs`]),
  ];
  const where = least.length > 0 ? `, with ${least.join(' and ')}` : '';
  const past = `${CONDITIONS[condition]} ${limitText(rule, currency)}${fromText(rule)}`;
  return `${METRICS[metric].label}${of}${by} over ${lasting(days)} ${past}${where}`;
}

export const readRule = (text: string): MetricRule => MetricRule.parse(JSON.parse(text));
export const readFiringGroups = (text: string | null): FiringGroups =>
  text === null ? {} : FiringGroups.parse(JSON.parse(text));
