import * as z from 'zod';
import { ALL_METRICS, METRICS, type Metric, type MetricDefinition } from '#catalogue';
import { count, money, percent } from '#lib/format';
import { DIMENSIONS, type DimensionName, givenBy, isDimension, ReportFilters } from '#reports';

// Alerts on a metric of the performance report. Pure.

/** The groupings by which a rule can be judged apart. */
export const RULE_GROUPS = Object.keys(DIMENSIONS).filter(
  (name): name is DimensionName =>
    isDimension(name) && DIMENSIONS[name].kind !== 'time' && name !== 'currency',
);

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
const least = () =>
  z.preprocess(given, numberOrText(anyNumber().min(0, 'must not be negative')).optional()).optional();

export const ruleFields = {
  metric: z.enum(ALL_METRICS, { error: 'must be the name of a metric, such as roas' }),
  condition: z.enum(['below', 'above'], { error: 'must be below or above' }),
  threshold: numberOrText(anyNumber()),
  days: numberOrText(
    z.number({ error: daysError }).int(daysError).min(1, daysError).max(MAX_DAYS, daysError),
  ),
  group_by: optional(z.enum(RULE_GROUPS, { error: `must be one of ${RULE_GROUPS.join(', ')}` })),
  min_spend: least(),
  min_installs: least(),
};

/** Checks a rule for faults that its fields alone do not show. */
export function checkRule(
  { metric, group_by, filters, min_spend }: Pick<MetricRule, 'metric' | 'group_by' | 'filters' | 'min_spend'>,
  ctx: z.RefinementCtx,
): void {
  const known = givenBy(group_by ? [group_by] : [], filters);
  const fault = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message });
  if (!known.has(metric)) fault('metric', 'is not known with this grouping and these filters');
  if (min_spend !== undefined && !known.has('spend')) {
    fault('min_spend', 'needs a grouping and filters that costs state');
  }
}

const Rule = z.object({
  ...ruleFields,
  filters: ReportFilters.default({}),
  /** The names of the filters' values, for texts. */
  scope: z.array(z.string()).default([]),
});

/**
 * What is watched: a metric over the last `days` full days, of each group apart if there is a grouping. `threshold` is in percent for ratios in
 * percent, and otherwise in the metric's unit. Groups with less spend or fewer installs than the minimum are not judged.
 */
export const MetricRule = Rule.superRefine(checkRule);
export type MetricRule = z.infer<typeof Rule>;

/** The groups that an alert fires for, by key: since when, and the last day on which each had data. */
export const FiringGroups = z.record(
  z.string(),
  z.object({ name: z.string(), since: z.number(), day: z.string() }),
);
export type FiringGroups = z.infer<typeof FiringGroups>;

/** What one group had in the days of a rule. A figure is null if it does not exist. */
export type GroupFigures = { value: number | null; spend: number | null; installs: number | null };

const unitOf = (metric: Metric): MetricDefinition['unit'] => METRICS[metric].unit;

/** A rule's threshold in the metric's own unit, in which 50 % is 0.5. */
const limitOf = ({ metric, threshold }: MetricRule): number =>
  unitOf(metric) === 'percent' ? threshold / 100 : threshold;

/** Whether a group is past the limit; null if it has no value, or is too small to be judged. */
export function judge(rule: MetricRule, { value, spend, installs }: GroupFigures): boolean | null {
  const { condition, min_spend = 0, min_installs = 0 } = rule;
  if (value === null || (spend ?? 0) < min_spend || (installs ?? 0) < min_installs) return null;
  return condition === 'below' ? value < limitOf(rule) : value > limitOf(rule);
}

/** A value of a rule's metric, for people. */
export function valueText({ metric }: Pick<MetricRule, 'metric'>, value: number | null, currency: string) {
  if (unitOf(metric) === 'money') return money(value, currency);
  return unitOf(metric) === 'percent' ? percent(value) : count(value);
}

export const limitText = (rule: MetricRule, currency: string): string =>
  valueText(rule, limitOf(rule), currency);

const lasting = (days: number) => (days === 1 ? 'the last day' : `the last ${days} days`);

/** A rule as a sentence: `ROAS of Summer over the last 7 days is below 50%`. */
export function ruleText(rule: MetricRule, currency: string): string {
  const { metric, group_by, scope, days, condition } = rule;
  const by = group_by
    ? ` by ${DIMENSIONS[group_by].kind === 'named' ? group_by.replace('adset', 'ad set') : group_by.replaceAll('_', ' ')}`
    : '';
  const of = scope.length > 0 ? ` of ${scope.join(', ')}` : '';
  return `${METRICS[metric].label}${of}${by} over ${lasting(days)} is ${condition} ${limitText(rule, currency)}`;
}

export const readRule = (text: string): MetricRule => MetricRule.parse(JSON.parse(text));
export const readFiringGroups = (text: string | null): FiringGroups =>
  text === null ? {} : FiringGroups.parse(JSON.parse(text));
