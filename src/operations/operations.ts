import * as z from 'zod';
import { listQuery } from '#http';
import {
  EXAMPLE,
  inPath,
  list,
  noSuch,
  nullableText,
  type Operation,
  time,
  withExamples,
} from '#http/operations';

const Liveness = z.object({ status: z.literal('ok') });
export type Liveness = z.input<typeof Liveness>;

const status = z.enum(['ok', 'degraded']);
const problems = z.array(z.string()).meta({ description: 'What is wrong, as sentences.' });

const Health = z.object({
  status,
  problems,
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
      unexported_events: z.int().nullable().meta({ description: 'Raw events not exported to R2 yet.' }),
      export_error: nullableText().meta({ description: 'Why the last export to R2 failed.' }),
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

const CountingResumed = z.object({
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
const ParkedMessages = list(Parked);
export type ParkedMessages = z.input<typeof ParkedMessages>;

const ParkedReplayed = z.object({ replayed: z.literal(true), id: z.string() });
export type ParkedReplayed = z.input<typeof ParkedReplayed>;

const ParkedDiscarded = z.object({ discarded: z.literal(true), id: z.string() });
export type ParkedDiscarded = z.input<typeof ParkedDiscarded>;

const shared = { credential: 'teamToken', tag: 'Operations' } as const;
const notFound = noSuch('parked message');

export const operations: Operation[] = [
  {
    ...shared,
    credential: null,
    method: 'get',
    path: '/health',
    summary: 'Check that the service is running',
    description: 'It queries neither the database nor counting. Use `/v1/health` for those.',
    answer: { status: 200, description: 'The service is running.', schema: Liveness },
  },
  {
    ...shared,
    credential: 'metricsToken',
    method: 'get',
    path: '/metrics',
    summary: 'Retrieve the metrics of the deployment',
    description: 'For monitoring by operators, across all teams.',
    answer: {
      status: 200,
      description: 'Gauges in the OpenMetrics text format.',
      more: {
        'application/openmetrics-text':
          '# TYPE attribution_parked_messages gauge\n# HELP attribution_parked_messages Messages that cannot be counted.\nattribution_parked_messages 0\n# EOF\n',
      },
    },
    errors: { 404: 'Metrics are switched off: `METRICS_TOKEN` is not set.' },
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/health',
    summary: 'Retrieve the health of event processing',
    description:
      'The status is `degraded` if events have waited more than an hour to be counted, counting refuses events or devices or does not respond, raw events cannot be written to R2, an event queue does not deliver or is missing, or messages are parked or filed. The request does not trigger counting.',
    answer: { status: 200, description: 'The health of event processing.', schema: Health },
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/applications/{id}/resume-counting',
    summary: 'Resume counting after a restore',
    description:
      'When the database is restored to an earlier time, counting stops, and `/v1/health` shows `needs_resume` within a minute. Events are still accepted and wait. This request adds to the reports what the database has lost, creates missing creatives again, and counts the waiting events. It also continues after counting or the bucket has lost what it stored. A large loss is added in the background: see `unwritten_parts`. Without a loss, it has no effect. Repeating the request is safe.',
    parameters: inPath('id', EXAMPLE.application),
    answer: { status: 200, description: 'Counting is resumed.', schema: CountingResumed },
    errors: noSuch('application'),
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/parked',
    summary: 'List parked messages',
    description: 'Messages that could not be counted.',
    parameters: { query: withExamples(listQuery, { limit: 50, cursor: '' }) },
    answer: { status: 200, description: 'A page of messages, newest first.', schema: ParkedMessages },
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/parked/{id}/replay',
    summary: 'Replay a parked message',
    description:
      'Sends the message to the queue again. Its events are counted once, however often you replay it. A message that still cannot be counted is parked again, under a new id if the reason is new.',
    parameters: inPath('id', EXAMPLE.parked),
    answer: { status: 200, description: 'The message is in the queue.', schema: ParkedReplayed },
    errors: { ...notFound, 409: 'The message is empty and can only be discarded.' },
  },
  {
    ...shared,
    method: 'delete',
    path: '/v1/parked/{id}',
    summary: 'Discard a parked message',
    description: 'Its events are never counted.',
    parameters: inPath('id', EXAMPLE.discarded),
    answer: { status: 200, description: 'The message is deleted.', schema: ParkedDiscarded },
    errors: notFound,
  },
];
