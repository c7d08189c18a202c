import * as z from 'zod';
import { ALL_METRICS, COHORT_METRICS, isMoneyMetric, METRICS } from '#catalogue';
import { DIMENSIONS, type Dimension } from '#reports';
import { day, nullableText } from './answers.ts';

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

export const Funnel = z.object({
  data: z.array(
    z.object({
      step: z.string(),
      devices: z.int(),
      from_first: z.number().nullable().meta(figure('from_first')),
      from_previous: z.number().nullable().meta(figure('from_previous')),
    }),
  ),
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
