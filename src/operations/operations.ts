import { listQuery } from '#http';
import { EXAMPLE, inPath, missing, type Operation, withExamples } from '#http/operations';
import {
  CountingResumed,
  Health,
  Liveness,
  ParkedDiscarded,
  ParkedMessages,
  ParkedReplayed,
} from './answers.ts';

const shared = { credential: 'teamToken', tag: 'Operations' } as const;

const notFound = missing('Parked message');

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
    errors: missing('Application'),
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
