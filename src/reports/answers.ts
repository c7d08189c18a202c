import * as z from 'zod';
import { ALL_METRICS, COHORT_METRICS, isMoneyMetric, METRICS } from '#catalogue';
import { day, nullableText } from '#http/operations';
import { DIMENSIONS, type Dimension } from './dimensions.ts';
import { REASONS } from './predicted-ltv.ts';

// What the reports answer; each figure is described by its definition.

const described = ({ definition, source }: { definition: string; source: string }) =>
  `${definition} Source: ${source}.`;

/** What stands beside an amount that a JSON number may round. */
const exact = (field: string) => ({
  [`${field}_exact`]: z
    .string()
    .optional()
    .meta({
      description: `The exact amount as a decimal text, only where it is so large (2^53 millionths and more) that \`${field}\` may be rounded.`,
      example: '12345678901234.567890',
    }),
});

const metrics = Object.fromEntries(
  ALL_METRICS.flatMap((metric) =>
    Object.entries({
      [metric]: z
        .number()
        .nullable()
        .meta({ description: described(METRICS[metric]) }),
      ...(isMoneyMetric(metric) ? exact(metric) : {}),
    }),
  ),
);
const Metrics = z.object(metrics).meta({ id: 'Metrics' });

const unconverted = z.array(z.object({ currency: z.string(), amount: z.number(), ...exact('amount') })).meta({
  description:
    'Amounts without an exchange rate, in their own currency. Figures that they would be part of are null.',
});
const fresh = {
  timezone: z.string(),
  counted_through: z.iso.datetime().nullable().meta({
    description:
      'Every event taken by then is in the figures. A report waits up to two seconds for the newest events; null when counting did not answer by then. CSV: the header `X-Counted-Through`.',
    example: '2026-03-02T10:00:00.000Z',
  }),
};
const reported = { currency: z.string(), ...fresh };

const groupings = Object.values<Dimension>(DIMENSIONS).flatMap(({ show }) => Object.keys(show(null)));
const groupingColumns = Object.fromEntries(
  groupings.map((column) => [column, z.string().nullable().optional()]),
);

const is_other = z.literal(true).optional().meta({
  description:
    'Set on the last row where it sums up everything without a row of its own; its groupings say `other`, its ids are null. CSV has this column only then.',
});
const total_rows = z.int().meta({
  description:
    'How many rows there are in all, of which `data` has at most `limit`. CSV: the header `X-Total-Rows`.',
});

export const Performance = z.object({
  data: z.array(z.object({ ...groupingColumns, ...metrics, is_other })),
  total_rows,
  totals: Metrics,
  ...reported,
  unconverted,
});

const figure = (name: keyof typeof COHORT_METRICS) => ({ description: described(COHORT_METRICS[name]) });
const cohortRow = <Day extends z.ZodType>(values: Day) =>
  z.object({
    cohort_from: day(),
    cohort_to: day(),
    creative: nullableText().optional(),
    creative_id: nullableText().optional(),
    adset: nullableText().optional(),
    adset_id: nullableText().optional(),
    campaign: nullableText().optional(),
    campaign_id: nullableText().optional(),
    country: nullableText().optional(),
    os: nullableText().optional(),
    size: z.int().meta(figure('size')),
    is_other,
    days: z.record(z.string(), values),
  });

export const Retention = z.object({
  data: z.array(
    cohortRow(
      z.object({
        eligible: z.int().meta(figure('eligible')),
        complete: z.boolean().meta(figure('complete')),
        active: z.int(),
        classic: z.number().nullable().meta(figure('classic')),
        rolling: z.number().nullable().meta(figure('rolling')),
      }),
    ),
  ),
  total_rows,
  ...fresh,
});

export const Ltv = z.object({
  data: z.array(
    cohortRow(
      z.object({
        eligible: z.int().meta(figure('eligible')),
        complete: z.boolean().meta(figure('complete')),
        revenue: z.number().nullable(),
        ...exact('revenue'),
        ltv: z.number().nullable().meta(figure('ltv')),
        roas: z.number().nullable().meta(figure('roas')),
      }),
    ),
  ),
  total_rows,
  ...reported,
  unconverted,
});

/** What a device's own row groups it by. */
const deviceGroups = {
  creative: nullableText().optional(),
  creative_id: nullableText().optional(),
  adset: nullableText().optional(),
  adset_id: nullableText().optional(),
  campaign: nullableText().optional(),
  campaign_id: nullableText().optional(),
  country: z.string().optional().meta({ description: 'ISO 3166 code, or `unknown`.' }),
  os: z.string().optional(),
};

export const Funnel = z.object({
  data: z.array(
    z.object({
      ...deviceGroups,
      step: z.string(),
      devices: z.int(),
      from_first: z.number().nullable().meta(figure('from_first')),
      from_previous: z.number().nullable().meta(figure('from_previous')),
      median_seconds: z.number().nullable().meta(figure('median_seconds')),
      is_other,
    }),
  ),
  devices_with_incomplete_history: z.int().meta({
    description:
      'Devices that may reach more steps than are counted here. Of a device with very many events, only its first 96 changes of step and the first time of each step are kept; where that is not enough to tell a step, the step is not counted. CSV: the header `X-Devices-With-Incomplete-History`.',
  }),
  ...fresh,
});

const side = z.object({
  name: nullableText().meta({
    description: 'Of the creative, ad set or campaign, else the value itself; null for a period.',
  }),
  from: day(),
  to: day(),
  size: z.int().meta(figure('size')),
});
const value = (of: 'a' | 'b') =>
  z
    .number()
    .nullable()
    .meta({
      description: `Share of the devices of ${of} (0.01 is one percentage point), or their revenue per device. Null without devices and where amounts cannot be converted.`,
    });
const counted = () =>
  z.int().nullable().meta({ description: 'Devices that came back or paid; null for revenue.' });
const bound = (description: string) => z.number().nullable().meta({ description });

export const Compare = z.object({
  data: z.array(
    z.object({
      metric: z.enum(['retention', 'conversion', 'arpu']).meta({
        description:
          '`retention`: active on day N exactly. `conversion`: at least one purchase by day N. `arpu`: average revenue per device, ads and purchases, by day N; only for N of 0, 1, 3, 7, 14, 30, 60, 90, 180, 365.',
      }),
      day: z.int(),
      a_devices: z.int().meta(figure('eligible')),
      a_count: counted(),
      a: value('a'),
      b_devices: z.int().meta(figure('eligible')),
      b_count: counted(),
      b: value('b'),
      difference: bound('b - a.'),
      low: bound('Lower end of the 95 % confidence interval of the difference.'),
      high: bound('Upper end of it.'),
      p_value: bound(
        'How often a difference at least as large would come by chance if there were none (two-sided). Null where there is too little to tell.',
      ),
      test: z.enum(['two-proportion z-test', "Welch's t-test"]).meta({
        description:
          'The z-test uses the pooled variance for p and the variance of each side (Wald) for the interval. Welch does not assume equal variances.',
      }),
    }),
  ),
  a: side,
  b: side,
  currency: z.string(),
  rate_day: day().meta({
    description:
      'All amounts are converted with the rates of this day, so that a change of rates does not look like a difference. The last day of the later period, or today.',
  }),
  unconverted_currencies: z.array(z.string()).meta({
    description:
      'Currencies without a rate in which some of the devices earned. Revenue per device is then null.',
  }),
  ...fresh,
});

const predicted = (description: string) => z.number().nullable().meta({ description });

export const PredictedLtv = z.object({
  data: z.array(
    z.object({
      cohort_from: day(),
      cohort_to: day(),
      ...deviceGroups,
      size: z.int().meta(figure('size')),
      payers: z.int().meta({ description: 'Devices that have purchased so far.' }),
      revenue: predicted('Purchase revenue so far. Null where a part of it cannot be converted.'),
      predicted_purchases: predicted(
        'Days with a purchase in the next `horizon_days` days, over all devices.',
      ),
      predicted_revenue: predicted('Purchase revenue in the next `horizon_days` days.'),
      predicted_revenue_low: predicted('Lower end of its 95 % interval.'),
      predicted_revenue_high: predicted('Upper end of it.'),
      predicted_ltv: predicted('Purchase revenue so far and predicted, per device of the cohort.'),
      predicted_ltv_low: predicted('Lower end of its 95 % interval.'),
      predicted_ltv_high: predicted('Upper end of it.'),
      reason: z
        .enum(Object.keys(REASONS) as (keyof typeof REASONS)[])
        .nullable()
        .meta({
          description: `Why there is no prediction; null where there is one. ${Object.entries(REASONS)
            .map(([reason, text]) => `\`${reason}\`: ${text}`)
            .join(' ')}`,
        }),
      is_other,
    }),
  ),
  total_rows,
  horizon_days: z.int(),
  currency: z.string(),
  rate_day: day().meta({ description: 'All amounts are converted with the rates of this day: today.' }),
  ...fresh,
});

const of = (metric: keyof typeof METRICS) =>
  z
    .number()
    .nullable()
    .meta({ description: described(METRICS[metric]) });
export const Ads = z.object({
  data: z.array(
    z.object({
      day: day().or(z.literal('other')),
      source: nullableText(),
      media_source: nullableText(),
      impressions: of('impressions'),
      ad_revenue: of('ad_revenue'),
      ...exact('ad_revenue'),
      ecpm: of('ecpm'),
      ad_requests: z.int().nullable().meta({
        description:
          'The requests of the day and format, in its row without a network: they are made before any network is known. Null in the rows of networks.',
      }),
      fill_rate: z.number().nullable().meta({
        description: 'All impressions of the day and format / its requests, in the same row.',
      }),
      is_other,
    }),
  ),
  total_rows,
  ...reported,
  unconverted,
});

const compared = {
  client_total: z.number().nullable(),
  ...exact('client_total'),
  counted_total: z.number().nullable(),
  ...exact('counted_total'),
  gap: z.number().nullable(),
  ...exact('gap'),
};
export const ClientTotals = z.object({
  data: z
    .array(
      z.object({
        device_id: z.string(),
        kind: z.enum(['ad', 'purchase']),
        currency: z.string(),
        ...compared,
      }),
    )
    .meta({ description: 'The 200 devices with the largest gaps.' }),
  totals: z.array(
    z.object({
      kind: z.enum(['ad', 'purchase']),
      currency: nullableText().meta({
        description: 'Null: devices with several currencies, which cannot be compared.',
      }),
      devices: z.int(),
      devices_with_gap: z.int().nullable(),
      ...compared,
    }),
  ),
  ...fresh,
});
