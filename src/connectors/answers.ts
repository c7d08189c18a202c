import * as z from 'zod';
import { day, nullableText, time } from '#http/operations';

export const Connector = z
  .object({
    id: z.string(),
    application_id: z.string(),
    kind: z.string(),
    settings: z.record(z.string(), z.string()),
    next_run_at: time(),
    last_run_at: time().nullable(),
    last_success_at: time().nullable(),
    last_error: nullableText().meta({ description: 'Why the last run failed. Null if it succeeded.' }),
    created_at: time(),
  })
  .meta({ id: 'Connector' });
export type Connector = z.input<typeof Connector>;

export const Connectors = z.object({ data: z.array(Connector) });
export type Connectors = z.input<typeof Connectors>;

const figures = {
  impressions_arrived: z.int(),
  impressions_reported: z.int(),
  impressions_difference: z.int().meta({ description: 'Arrived less reported.' }),
  revenue_arrived: z.number(),
  revenue_reported: z.number(),
  revenue_difference: z.number(),
  revenue_arrived_exact: z.string().optional(),
  revenue_reported_exact: z.string().optional(),
  revenue_difference_exact: z.string().optional(),
};

export const Reconciliation = z.object({
  data: z.array(z.object({ day: day(), network: z.string(), ...figures })),
  totals: z.object(figures),
  currency: z.literal('usd'),
  timezone: z
    .string()
    .meta({ description: 'That of the days of what arrived. Platforms count days in UTC.' }),
});
export type Reconciliation = z.input<typeof Reconciliation>;
