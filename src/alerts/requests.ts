import * as z from 'zod';
import { idListQuery, invalidRequest, readAs, requiredText } from '#http';
import { ReportFilters } from '#reports';
import { type AlertRow, checkThreshold, type NewAlert, StateAlert, stateFields } from './alerts.ts';
import { STATE_KIND_NAMES } from './kinds.ts';
import { checkRule, isChange, MetricRule, readRule, ruleFields } from './rule.ts';

// The bodies and queries of the team API.

const application_id = requiredText(128);

/** By name, as in the query of a report. Without one that was misspelt, an alert would watch something else than was meant. */
const filters = z
  .strictObject(ReportFilters.shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `has no filter ${issue.keys.join(', ')}` : undefined,
  })
  // A report takes an empty list as no filter. A program that finds no campaign means something else.
  .superRefine((given, ctx) => {
    for (const [name, values] of Object.entries(given)) {
      if (values?.length === 0) ctx.addIssue({ code: 'custom', path: [name], message: 'must have a value' });
    }
  })
  .optional();

const metricFields = {
  application_id,
  kind: z.literal('metric', { error: 'must be metric' }),
  ...ruleFields,
  filters: filters.transform((given) => given ?? {}),
};

const KINDS = ['metric', ...STATE_KIND_NAMES].join(', ');

export const AlertBody = z.discriminatedUnion(
  'kind',
  [
    z.object(metricFields).superRefine(checkRule),
    z.object({ application_id, ...stateFields }).superRefine(checkThreshold),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? `must be one of ${KINDS}` : undefined) },
);

/** The fields that change; the others stay. `null` removes a grouping or a minimum. */
export const AlertPatch = z
  .object({
    enabled: z.boolean({ error: 'must be true or false' }),
    filters,
    ...ruleFields,
  })
  .partial()
  .refine((changes) => Object.keys(changes).length > 0, 'needs a field to change');

/** What an alert watches after a change. Throws `invalid_request` if that cannot be watched. */
export function watchesAfter(
  alert: AlertRow,
  changes: Omit<z.infer<typeof AlertPatch>, 'enabled'>,
): NewAlert {
  if (alert.rule === null) {
    const { threshold = alert.threshold, ...others } = changes;
    const faults = Object.keys(others).map((path) => ({ path, message: `is not of the kind ${alert.kind}` }));
    if (faults.length > 0) throw invalidRequest(faults);
    return readAs(StateAlert, { kind: alert.kind, threshold });
  }
  const { scope: _, compared_with, ...own } = readRule(alert.rule);
  const isCompared = isChange(changes.condition ?? own.condition);
  const rule = { ...own, ...(isCompared ? { compared_with } : {}), ...changes };
  return { kind: 'metric', rule: readAs(MetricRule, rule) };
}

const MAX_PREVIEW_DAYS = 90;
const daysError = `must be a whole number from 1 to ${MAX_PREVIEW_DAYS}`;

export const PreviewBody = z
  .object({
    ...metricFields,
    preview_days: z
      .number({ error: daysError })
      .int(daysError)
      .min(1, daysError)
      .max(MAX_PREVIEW_DAYS, daysError)
      .default(30),
  })
  .superRefine(checkRule);

export const AlertsQuery = idListQuery('alr').extend({ application_id });
