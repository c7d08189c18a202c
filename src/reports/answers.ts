import * as z from 'zod';
import { DOUBT_ACTIONS, FLOODING } from '#catalogue';
import { day, nullableText } from '#http/answers';
import {
  basis,
  deviceGroups,
  exact,
  figure,
  fresh,
  groupingColumns,
  is_other,
  is_unallocated,
  lacking,
  Metrics,
  metrics,
  performanceMetrics,
  reported,
  total_rows,
  unallocated_spend,
  unconverted,
  unstated,
} from './answer-fields.ts';
import { REASONS } from './cohorts/predict-cohort.ts';

// The answers of the reports.

const performanceRows = {
  data: z.array(z.object({ ...groupingColumns, ...performanceMetrics, is_other, is_unallocated })),
  total_rows,
  totals: Metrics,
};

export const Performance = z.object({
  ...performanceRows,
  before: z
    .object({ from: day(), to: day(), ...performanceRows, unconverted })
    .optional()
    .meta({ description: 'The same report of the earlier days that `compare` names. Only in JSON.' }),
  ...reported,
  basis,
  unconverted,
  unallocated_spend,
});
export type Performance = z.input<typeof Performance>;

const cohortRow = <Day extends z.ZodType, More extends z.ZodRawShape>(values: Day, more: More) =>
  z.object({
    cohort_from: day(),
    cohort_to: day(),
    ...deviceGroups,
    size: z.int().meta(figure('size')),
    ...more,
    is_other,
    days: z.record(z.string(), values),
  });

/** All devices of the period, as one cohort. */
const cohortTotals = <Day extends z.ZodType, More extends z.ZodRawShape>(values: Day, more: More) =>
  z.object({ size: z.int().meta(figure('size')), ...more, days: z.record(z.string(), values) }).meta({
    description:
      'All devices acquired in the period, as one cohort. `size`, `eligible` and what is counted of them are the sums of all rows.',
  });

const retained = z.object({
  eligible: z.int().meta(figure('eligible')),
  complete: z.boolean().meta(figure('complete')),
  active: z.int(),
  classic: z.number().nullable().meta(figure('classic')),
  rolling: z.number().nullable().meta(figure('rolling')),
});

export const Retention = z.object({
  data: z.array(cohortRow(retained, {})),
  total_rows,
  totals: cohortTotals(retained, {}),
  ...fresh,
});

const netFigures = z.boolean().meta({ description: 'Whether revenue is without refunds and `store_fee`.' });

const earned = z.object({
  eligible: z.int().meta(figure('eligible')),
  complete: z.boolean().meta(figure('complete')),
  revenue: z.number().meta(figure('revenue')),
  ...exact('revenue'),
  ltv: z.number().nullable().meta(figure('ltv')),
  roas: z.number().nullable().meta(figure('roas')),
  ...lacking,
});
const paidBack = { payback_day: z.int().nullable().meta(figure('payback_day')), unstated };

export const Ltv = z.object({
  data: z.array(cohortRow(earned, paidBack)),
  total_rows,
  totals: cohortTotals(earned, paidBack),
  ...reported,
  basis,
  net: netFigures,
  unconverted,
  unallocated_spend,
});

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
      'Devices that may have reached more steps than counted here. For a device with very many events, only its first 96 step changes and the first time of each step are stored. A step that these do not show is not counted. CSV: the header `X-Devices-With-Incomplete-History`.',
  }),
  ...fresh,
});

const side = z.object({
  name: nullableText().meta({
    description: 'The name of the creative, ad set or campaign, or the value itself. Null for a period.',
  }),
  from: day(),
  to: day(),
  size: z.int().meta(figure('size')),
});
const lackingOfDevices = (where: string) =>
  z
    .array(z.object({ currency: z.string(), amount: z.number() }))
    .optional()
    .meta({
      description: `Amounts without an exchange rate, in their own currency, which ${where}. Present only if there are any. CSV: a column with JSON.`,
    });
const value = (of: 'a' | 'b') =>
  z
    .number()
    .nullable()
    .meta({
      description: `Share of the devices of ${of} (0.01 is one percentage point), or their revenue per device. Null without devices.`,
    });
const counted = () =>
  z.int().nullable().meta({ description: 'Devices that came back or paid. Null for revenue.' });
const bound = (description: string) => z.number().nullable().meta({ description });

export const Compare = z.object({
  data: z.array(
    z.object({
      metric: z.enum(['retention', 'conversion', 'arpu']).meta({
        description:
          '`retention`: active on day N exactly. `conversion`: at least one purchase by day N. `arpu`: average revenue per device from ads and purchases by day N, available for N = 0, 1, 3, 7, 14, 30, 60, 90, 180 and 365.',
      }),
      day: z.int(),
      a_devices: z.int().meta(figure('eligible')),
      a_count: counted(),
      a: value('a'),
      b_devices: z.int().meta(figure('eligible')),
      b_count: counted(),
      b: value('b'),
      difference: bound('b - a.'),
      low: bound('The lower bound of the 95 % confidence interval of the difference.'),
      high: bound('The upper bound of the 95 % confidence interval of the difference.'),
      p_value: bound(
        'The probability of a difference at least this large if there were none (two-sided). Null without enough data.',
      ),
      test: z.enum(['two-proportion z-test', "Welch's t-test"]).meta({
        description:
          "The z-test uses the pooled variance for p and each side's own variance (Wald) for the interval. Welch's t-test does not assume equal variances.",
      }),
      unconverted: lackingOfDevices('`arpu` lacks'),
    }),
  ),
  a: side,
  b: side,
  currency: z.string(),
  net: netFigures,
  rate_day: day().meta({
    description:
      'All amounts are converted with the exchange rates of this day, so that a change of rates does not look like a difference. It is the last day of the later period, or today if that is earlier.',
  }),
  ...fresh,
});

const predicted = (description: string) => z.number().nullable().meta({ description });
const lower = predicted('The lower bound of its 95 % interval.');
const upper = predicted('The upper bound of its 95 % interval.');
const soFar = (what: string) =>
  z.number().meta({
    description: `${what} so far. With \`as_of\`, what the days around it earned is estimated, because devices store revenue by bands of days.`,
  });
const reason = (what: string) =>
  z
    .enum(Object.keys(REASONS) as (keyof typeof REASONS)[])
    .nullable()
    .meta({
      description: `Why there is no prediction of ${what}. Null if there is one. ${Object.entries(REASONS)
        .map(([name, text]) => `\`${name}\`: ${text}`)
        .join(' ')}`,
    });

export const PredictedLtv = z.object({
  data: z.array(
    z.object({
      cohort_from: day(),
      cohort_to: day(),
      ...deviceGroups,
      size: z.int().meta(figure('size')),
      payers: z.int().meta({ description: 'Devices that have purchased so far.' }),
      purchase_revenue: soFar('Purchase revenue'),
      ad_revenue: soFar('Ad revenue'),
      revenue: soFar('Revenue from purchases and ads'),
      predicted_purchases: predicted(
        'The number of days with a purchase in the next `horizon_days` days, summed over all devices.',
      ),
      predicted_purchase_revenue: predicted('Purchase revenue in the next `horizon_days` days.'),
      predicted_purchase_revenue_low: lower,
      predicted_purchase_revenue_high: upper,
      predicted_ad_revenue: predicted('Ad revenue in the next `horizon_days` days.'),
      predicted_ad_revenue_low: lower,
      predicted_ad_revenue_high: upper,
      predicted_revenue: predicted('Both together. Null if either is.'),
      predicted_revenue_low: lower,
      predicted_revenue_high: upper,
      predicted_ltv: predicted('Revenue per device of the cohort, so far and predicted, from both.'),
      predicted_ltv_low: lower,
      predicted_ltv_high: upper,
      reason: reason('purchases'),
      ads_reason: reason('ads'),
      bg_nbd_r: predicted('The parameters of BG/NBD, fitted to repeat purchases in days since the first.'),
      bg_nbd_alpha: predicted('See `bg_nbd_r`; in days.'),
      bg_nbd_a: predicted('See `bg_nbd_r`.'),
      bg_nbd_b: predicted('See `bg_nbd_r`.'),
      bg_nbd_log_likelihood: predicted('The log-likelihood of these parameters.'),
      unconverted: lackingOfDevices(
        'the revenue so far lacks, and the predictions with it: devices that have purchased in such currencies alone are not in the prediction of purchases',
      ),
      is_other,
    }),
  ),
  total_rows,
  horizon_days: z.int(),
  as_of: day().meta({ description: 'The last day that the prediction knows: `as_of`, or today.' }),
  currency: z.string(),
  net: netFigures,
  rate_day: day().meta({
    description: 'All amounts are converted with the exchange rates of this day, `as_of`.',
  }),
  ...fresh,
});

export const Ads = z.object({
  data: z.array(
    z.object({
      day: day().or(z.literal('other')),
      source: nullableText(),
      ...deviceGroups,
      media_source: nullableText(),
      impressions: metrics.impressions,
      ad_revenue: metrics.ad_revenue,
      ...exact('ad_revenue'),
      ecpm: metrics.ecpm,
      ...lacking,
      ad_requests: z.int().nullable().meta({
        description:
          'The requests of the day, format and group, in the row without a network, because requests are made before a network is known. Null in the rows of networks.',
      }),
      fill_rate: z.number().nullable().meta({
        description:
          'All impressions of the day, format and group / their requests, in the row without a network.',
      }),
      is_other,
    }),
  ),
  total_rows,
  totals: z.object({
    impressions: metrics.impressions,
    ad_revenue: metrics.ad_revenue,
    ...exact('ad_revenue'),
    ecpm: metrics.ecpm,
    ...lacking,
    ad_requests: metrics.ad_requests,
    fill_rate: metrics.fill_rate,
  }),
  ...reported,
  unconverted,
});
export type Ads = z.input<typeof Ads>;

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
        description: 'Null for devices with several currencies or with none, which cannot be compared.',
      }),
      devices: z.int(),
      devices_with_gap: z.int().nullable(),
      ...compared,
    }),
  ),
  ...fresh,
});

const attributed_installs = z.int().meta({ description: 'Gross, including those that were excluded.' });
const net_installs = z.int().meta({ description: 'Attributed installs that no rule doubts.' });
const excluded_installs = z.int().meta({ description: 'Installs that a rule excluded when they came.' });
export const Doubts = z.object({
  data: z.array(
    z.object({
      ...deviceGroups,
      rule: z.string().optional().meta({ description: 'Without `group_by`, like the next three.' }),
      label: z.string().optional(),
      action: z.enum(DOUBT_ACTIONS).optional(),
      threshold: z.number().nullable().optional(),
      attributed_installs: attributed_installs.optional(),
      doubted_installs: z.int().meta({
        description:
          'Installs that the rule doubts, or any rule with `group_by`. Several rules may doubt one.',
      }),
      net_installs: net_installs.optional(),
      excluded_installs: excluded_installs.optional(),
      not_checked_installs: z
        .int()
        .optional()
        .meta({ description: 'Installs of which too little is known to tell. Without `group_by`.' }),
      is_other,
    }),
  ),
  totals: z.object({
    attributed_installs,
    doubted_installs: z.int(),
    net_installs,
    excluded_installs,
  }),
  flooded: z
    .array(
      z.object({
        day: day(),
        creative: nullableText(),
        creative_id: z.string(),
        clicks: z.int(),
        installs: z.int().meta({ description: 'Of this day, by a click on the creative. Gross.' }),
        conversion: z.number().meta({ description: 'installs / clicks.' }),
        median_seconds: z.number().nullable().meta({ description: 'From the click to the first open.' }),
        p95_seconds: z.number().nullable().meta({ description: 'The 95th percentile of the same.' }),
      }),
    )
    .meta({
      description: `Days of creatives that look like click flooding: at least ${FLOODING.minClicks} clicks, a conversion of at most the threshold of \`click_flooding\` in percent of the median, and installs that come ${FLOODING.minMedianSeconds} s after the click in the median and evenly, with a 95th percentile of at most ${FLOODING.maxSpread} times as much. The rule \`click_flooding\` doubts their installs by a click. CSV: the header \`X-Flooded\`.`,
    }),
  judged_source_days: z.int().meta({
    description: `Days of creatives with enough clicks to be judged; at most the ${FLOODING.maxDays} with the most clicks, whatever the filters. With fewer than ${FLOODING.minDays}, none can be: that is not a clean result.`,
  }),
  median_conversion: z.number().nullable().meta({ description: 'Of these days. Null if there are too few.' }),
  ...fresh,
});
