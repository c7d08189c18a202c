import * as z from 'zod';
import { list, nullableText, time } from '#http/answers';

export const Liveness = z.object({ status: z.literal('ok') });

const status = z.enum(['ok', 'degraded']);
const problems = z.array(z.string()).meta({ description: 'What is wrong, as sentences.' });
const runbooks = z.array(z.string()).meta({
  description:
    'For each problem, in the same order: the section of `docs/operations.md` that says what to do.',
});

export const Health = z.object({
  status,
  problems,
  runbooks,
  database_ms: z.int().meta({ description: 'The response time of the database.' }),
  database_bytes: z.int().meta({ description: 'The size of the database, which can hold 10 GB.' }),
  scheduled_at: time().nullable().meta({
    description: 'When the work that is scheduled every minute last ran. Null if it never has.',
  }),
  queued_messages: z.int().nullable().meta({
    description: 'Messages in all event queues. Null if one of them does not respond.',
  }),
  pending_events: z.int().meta({ description: 'Accepted events that are not counted yet.' }),
  pending_for_ms: z.int().meta({ description: 'How long the oldest of them has waited.' }),
  slowest_delivery_ms: z.int().nullable().meta({
    description: 'The longest time from accepting an event to delivering it, among the newest events.',
  }),
  parked_messages: z.int(),
  filed_messages: z.int().nullable().meta({
    description:
      'Messages that were kept in R2, because the database did not accept them for four days. They are parked automatically once it does. Null if R2 does not respond.',
  }),
  applications: z.array(
    z.object({
      application_id: z.string(),
      status,
      problems,
      runbooks,
      pending_events: z.int().nullable().meta({ description: 'Null if counting did not respond.' }),
      pending_for_ms: z.int().nullable(),
      delayed_events: z.int().meta({
        description:
          'Accepted events that counting has refused so far. They wait in the queue and are retried.',
      }),
      append_error: nullableText().meta({
        description:
          'Why counting accepts neither events nor devices at the moment. `/fetch-token` answers 500 meanwhile; events are accepted and wait.',
      }),
      counted_through: time()
        .nullable()
        .meta({ description: 'Every event accepted before this time is in the reports.' }),
      slowest_delivery_ms: z.int().nullable(),
      unwritten_parts: z.int().nullable().meta({ description: 'Counted, but not in the reports yet.' }),
      write_error: nullableText().meta({ description: 'Why the last attempt to write them failed.' }),
      needs_resume: z.boolean().nullable().meta({
        description:
          'Whether the database, counting or the bucket was restored to an earlier time or has lost what it stored. See `/v1/applications/{id}/resume-counting`.',
      }),
      needs_restore: z.boolean().nullable().meta({
        description:
          'Whether a counter has lost what it stored, until the application is restored: `npm run restore -- --application <id>`.',
      }),
      unknown_device_events: z.int().nullable().meta({
        description:
          'Events that are parked because a counter no longer knows their devices. Restoring the application counts them.',
      }),
      unexported_events: z.int().nullable().meta({ description: 'Raw events not exported to R2 yet.' }),
      export_error: nullableText().meta({ description: 'Why the last export to R2 failed.' }),
      absent_fields: z
        .array(
          z.object({
            field: z.string(),
            message: z.string(),
            endpoint: z.string(),
            count: z.int(),
            last_at: time(),
          }),
        )
        .meta({
          description:
            'Fields of the last two weeks in which placeholders came instead of identifiers or names, such as `null`, a zero UUID or a macro that was not replaced. They were counted as absent.',
        }),
      implausible_amounts: z
        .array(
          z.object({
            kind: z.enum(['impression', 'purchase']),
            currency: z.string(),
            message: z.string(),
            count: z.int(),
            largest_value: z.number(),
            usual_value: z.number().nullable().meta({
              description: 'The 99th percentile of the others. Null if there are too few of them.',
            }),
            example_event_id: z.string().meta({ description: 'The event with the largest of them.' }),
            received_at: time().meta({ description: 'When that event was received.' }),
          }),
        )
        .meta({
          description:
            'Amounts of the last seven days with revenue that are counted as they were sent, but look like millionths of a unit (micros): more than 100 times the 99th percentile of their kind and currency, or more than $5 for one impression. Judged anew from all of these amounts each time.',
        }),
      largest_counter_bytes: z.int().nullable().meta({
        description: 'The size of the largest of its counters, each of which can hold 10 GB.',
      }),
    }),
  ),
  is_complete: z
    .boolean()
    .meta({ description: 'False if the team has more applications than one answer covers.' }),
});
export type Health = z.input<typeof Health>;

/** What Health says while the database does not respond. */
export const HealthFailure = z.object({
  status: z.literal('degraded'),
  message: z.string(),
  problems,
  runbooks,
});
export type HealthFailure = z.input<typeof HealthFailure>;

export const CountingResumed = z.object({
  counters: z.int().meta({ description: 'The number of counters that had stopped and were resumed.' }),
  missing_parts: z.int().meta({
    description:
      'Parts of the reports that could not be added again: the database was restored to a time before those that counting keeps, or counting has lost what it stored. Of a counter, one part is what a run of it has added, or a piece of that. Restore from the bucket for exact reports.',
  }),
  creatives: z
    .int()
    .meta({ description: 'The number of creatives that were created again, with their ids and links.' }),
  missing_files: z.int().meta({
    description: 'The number of raw event files that are no longer in the bucket and were forgotten.',
  }),
});
export type CountingResumed = z.input<typeof CountingResumed>;

const Parked = z.object({
  id: z.string(),
  application_id: nullableText().meta({
    description: 'Null if the message is too damaged to name its application.',
  }),
  reason: z.string(),
  parked_at: time(),
  body: z.string(),
});
export const ParkedMessages = list(Parked);

export const ParkedReplayed = z.object({ replayed: z.literal(true), id: z.string() });

export const ParkedDiscarded = z.object({ discarded: z.literal(true), id: z.string() });
