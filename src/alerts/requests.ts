import * as z from 'zod';
import { idListQuery, requiredText } from '#http';
import { ReportFilters } from '#reports';
import { checkThreshold, NewAlert } from './alerts.ts';
import { ALERT_KIND_NAMES } from './kinds.ts';
import { checkRule, ruleFields } from './rule.ts';

// The bodies and queries of the team API. A field that they do not have is refused: without it, an alert would watch something else than was meant.

const unknownIn =
  (what: string) =>
  (issue: z.core.$ZodRawIssue): string | undefined =>
    issue.code === 'unrecognized_keys' ? `${what}has no field ${issue.keys.join(', ')}` : undefined;

const body = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, { error: unknownIn('The body ') });

const application_id = requiredText(128);

const metricFields = {
  application_id,
  kind: z.literal('metric', { error: 'must be metric' }),
  ...ruleFields,
  filters: z
    .strictObject(ReportFilters.shape, { error: unknownIn('') })
    // A report takes an empty list as no filter. A program that finds no campaign means something else.
    .superRefine((filters, ctx) => {
      for (const [name, values] of Object.entries(filters)) {
        if (values?.length === 0)
          ctx.addIssue({ code: 'custom', path: [name], message: 'must have a value' });
      }
    })
    .optional()
    .transform((filters) => filters ?? {}),
};

const KINDS = ['metric', ...ALERT_KIND_NAMES].join(', ');

export const AlertBody = z.discriminatedUnion(
  'kind',
  [
    body(metricFields).superRefine(checkRule),
    body({ application_id, ...NewAlert.shape }).superRefine(checkThreshold),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? `must be one of ${KINDS}` : undefined) },
);

const MAX_PREVIEW_DAYS = 90;
const daysError = `must be a whole number from 1 to ${MAX_PREVIEW_DAYS}`;

export const PreviewBody = body({
  ...metricFields,
  preview_days: z
    .number({ error: daysError })
    .int(daysError)
    .min(1, daysError)
    .max(MAX_PREVIEW_DAYS, daysError)
    .default(30),
}).superRefine(checkRule);

export const AlertsQuery = idListQuery('alr').extend({ application_id });
