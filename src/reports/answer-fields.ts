import * as z from 'zod';
import {
  ALL_METRICS,
  basisText,
  COHORT_METRICS,
  isMoneyMetric,
  METRICS,
  type Metric,
  type MoneyMetric,
} from '#catalogue';
import { type DeviceGrouping, GROUPS } from './device-groups.ts';
import { columnsOf, type DimensionName, isDimension, REPORT_DIMENSIONS } from './dimensions.ts';
import type { CreativeGroup } from './names.ts';

// Fields that several reports share. The description of each figure is its definition.

const described = ({ definition, source }: { definition: string; source: string }) =>
  `${definition} Source: ${source}.`;

const basisOfMetric = (metric: Metric) => {
  const text = basisText(metric, 'paid');
  return text === ''
    ? ''
    : ` Of: ${text}${text.startsWith('paid') ? '; blended with `attribution=all`' : ''}.`;
};

type Exact<Field extends string> = Record<`${Field}_exact`, z.ZodOptional<z.ZodString>>;

/** The exact amount as text, for amounts that a JSON number may round. */
export const exact = <Field extends string>(field: Field) =>
  ({
    [`${field}_exact`]: z
      .string()
      .optional()
      .meta({
        description: `The exact amount as a decimal string. Present only if the amount is so large (2^53 billionths, about 9 million or more) that \`${field}\` may be rounded.`,
        example: '12345678901234.567890123',
      }),
  }) as Exact<Field>;

export const metrics = Object.fromEntries(
  ALL_METRICS.flatMap((metric) =>
    Object.entries<z.ZodType>({
      [metric]: z
        .number()
        .nullable()
        .meta({ description: described(METRICS[metric]) + basisOfMetric(metric) }),
      ...(isMoneyMetric(metric) ? exact(metric) : {}),
    }),
  ),
) as Record<Metric, z.ZodNullable<z.ZodNumber>> & Exact<MoneyMetric>;

/** All of them, where a report can be asked for some. */
const askedMetrics = z.object(metrics).partial().shape;

const amounts = z.array(z.object({ currency: z.string(), amount: z.number(), ...exact('amount') }));
export const unconverted = amounts.meta({
  description:
    'Amounts of the report without an exchange rate, in their own currency. They are left out of the figures; `unconverted` of a row lists those of that row.',
});
export const unallocated_spend = amounts.optional().meta({
  description:
    'With a filter by country, OS or network: spend of the period in rows of costs that do not state it, in their own currency. Nobody knows whether it belongs to the filtered value, so it is left out of `spend` and what derives from it. Present only if there is any.',
});
/** Of a row or of the totals. */
export const lacking = {
  unconverted: amounts.optional().meta({
    description:
      'Amounts without an exchange rate, in their own currency, which the figures of this row lack. Present only if there are any. CSV: a column with JSON.',
  }),
};
const lackingRoas = {
  ...lacking,
  roas_unconverted: amounts.optional().meta({
    description:
      'Amounts without an exchange rate that devices acquired in the period have earned so far, which `roas` and `roas_blended` lack. Present only if there are any. CSV: a column with JSON.',
  }),
};
export const unstated = z
  .array(z.string())
  .optional()
  .meta({
    description:
      'The dimensions that some costs do not state which may belong to this row, such as `country`. What is computed from spend, or from the impressions of costs, is then null, because it is unknown; `spend` and `ad_impressions_bought` are what is known, or null. Present only if there are any. CSV: a column with JSON.',
    example: ['country'],
  });
/** The metrics of the performance report, and what they lack. */
export const performanceMetrics = {
  ...askedMetrics,
  ...lackingRoas,
  cohort_unconverted: amounts.optional().meta({
    description:
      'Amounts without an exchange rate, in their own currency, which `roas_d0`, `ltv_d0` and so on lack. Present only if there are any. CSV: a column with JSON.',
  }),
  incomplete_days: z
    .array(z.int())
    .optional()
    .meta({
      description:
        'Of the metrics by day since the install, such as `roas_d7`: the day numbers that are not over for all devices acquired in the period. These metrics are of the devices for which they are over, and null if there are none. Present only if there are any. CSV: a column with JSON.',
      example: [7, 14],
    }),
  unstated,
};
export const Metrics = z.object(performanceMetrics).meta({ id: 'Metrics' });
export const fresh = {
  timezone: z.string(),
  counted_through: z.iso.datetime().nullable().meta({
    description:
      'Every event accepted before this time is included. A report waits up to two seconds for the newest events; null if counting did not respond by then. CSV: the header `X-Counted-Through`.',
    example: '2026-03-02T10:00:00.000Z',
  }),
  uncounted: z.int().nullable().meta({
    description:
      'How many accepted events may be missing, because the report did not wait longer for them. Counting continues: ask again in a few seconds. Null if unknown. CSV: the header `X-Uncounted`, unless it is 0.',
    example: 0,
  }),
};
export const reported = { currency: z.string(), ...fresh };
/** Whose revenue and installs are set against spend. */
export const basis = z.enum(['paid', 'blended']).meta({
  description:
    'What is compared with spend: `paid` are attributed devices, which are those with a creative; `blended` are all devices, with `attribution=all`. CSV: the header `X-Basis`.',
});

export const groupingColumns = Object.fromEntries(
  columnsOf(Object.keys(REPORT_DIMENSIONS).filter(isDimension)).map((column) => [
    column,
    z.string().nullable().optional(),
  ]),
) as Record<DimensionName | `${CreativeGroup}_id`, z.ZodOptional<z.ZodNullable<z.ZodString>>>;

export const is_other = z.literal(true).optional().meta({
  description:
    'Present on the last row if it sums up all groups without a row. Its groupings are `other` and its ids are null. CSV has this column only if there is such a row.',
});
export const is_unallocated = z.literal(true).optional().meta({
  description:
    'Present on the last row if something belongs to no group: costs that do not state what the report groups by, or what stores tell of payments by hour or item. Its groupings are `unallocated` and its ids are null. With it, every metric that adds up adds up to its total. CSV has this column only if there is such a row.',
});
export const total_rows = z.int().meta({
  description:
    'The number of rows without the limit; `data` has at most `limit` of them. CSV: the header `X-Total-Rows`.',
});

/** A field of a cohort, described by its definition. */
export const figure = (name: keyof typeof COHORT_METRICS) => ({
  description: described(COHORT_METRICS[name]),
});

/** The columns of a grouping by a property of devices. Null for organic devices, and for those without a value. */
export const deviceGroups = Object.fromEntries(
  columnsOf(GROUPS).map((column) => [
    column,
    z
      .string()
      .nullable()
      .optional()
      .meta(column === 'country' ? { description: 'ISO 3166 code; null if unknown.' } : {}),
  ]),
) as Record<DeviceGrouping | `${CreativeGroup}_id`, z.ZodOptional<z.ZodNullable<z.ZodString>>>;
