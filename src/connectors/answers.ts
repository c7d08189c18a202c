import * as z from 'zod';
import { day, nullableText, time } from '#http/answers';

const amounts = () =>
  z.array(z.object({ currency: z.string(), amount: z.number(), amount_exact: z.string().optional() }));

const Change = z
  .object({
    from: day(),
    to: day(),
    days: z.int(),
    changed_days: z.int().meta({ description: 'Days whose amounts differ from before.' }),
    rows: z.int(),
    before: amounts(),
    after: amounts(),
  })
  .meta({
    description: 'What the last successful run replaced, and the amounts of these days before and after.',
  });

export const Connector = z
  .object({
    id: z.string(),
    application_id: z.string(),
    kind: z.string(),
    settings: z.record(z.string(), z.string()),
    state: z.enum(['running', 'waiting', 'failing', 'backfilling', 'due', 'idle']).meta({
      description:
        '`waiting`: the network is still making the report, which is read on by itself. `failing`: the last run failed, and is repeated.',
    }),
    next_run_at: time(),
    last_run_at: time().nullable(),
    last_success_at: time().nullable(),
    last_error: nullableText().meta({ description: 'Why the last run failed. Null if it succeeded.' }),
    failures: z.int().meta({ description: 'How many runs in a row have failed.' }),
    last_change: Change.nullable(),
    backfill: z
      .object({ from: day(), to: day(), days: z.int(), days_done: z.int() })
      .nullable()
      .meta({ description: 'The days that were last asked to be read again, and how many are done.' }),
    account: z
      .object({ currency: nullableText(), timezone: nullableText() })
      .nullable()
      .meta({ description: "The account's own, of which costs have the days. Null before the first run." }),
    credentials_expire_at: time().nullable().meta({
      description: 'When the token ends. Null if it does not, or the network does not tell.',
    }),
    created_at: time(),
  })
  .meta({ id: 'Connector' });
export type Connector = z.input<typeof Connector>;

export const Connectors = z.object({ data: z.array(Connector) });

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
  networks: z
    .array(z.object({ network: z.string(), ...figures }))
    .meta({ description: 'The days of each network together, highest reported revenue first.' }),
  totals: z.object(figures),
  currency: z.literal('usd'),
  timezone: z
    .string()
    .meta({ description: 'That of the days of what arrived. Platforms count days in UTC.' }),
  counted_through: time().nullable().meta({
    description:
      'Every event accepted before this time is in what arrived. A report waits up to two seconds for the newest events; null if counting did not respond by then.',
  }),
  uncounted: z.int().nullable().meta({
    description: 'How many accepted events what arrived may lack. Null if unknown.',
  }),
});
export type Reconciliation = z.input<typeof Reconciliation>;
