import * as z from 'zod';
import { listQuery } from '#http';
import { CountingResumed, Health, list, Parked, ParkedDiscarded, ParkedReplayed } from './answers.ts';
import { EXAMPLE } from './examples.ts';
import type { Operation } from './operation.ts';
import { withExamples } from './with-examples.ts';

const shared = { credential: 'teamToken', tag: 'Operations' } as const;
const notFound = { 404: "It is not parked any more, or it is another team's." };
const inPath = (example: string) => ({ path: z.object({ id: z.string().meta({ example }) }) });

export const OPERATIONS_OPERATIONS: Operation[] = [
  {
    ...shared,
    method: 'get',
    path: '/v1/health',
    summary: 'How events get through',
    description:
      '`degraded` when events have waited to be counted for more than fifteen minutes, when counting does not answer, when R2 does not take raw events, or when messages are parked. Nothing is counted for it. `GET /health` needs no credential and asks nothing: it says only that the Worker runs.',
    answer: { status: 200, description: 'The state of your events.', schema: Health },
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/applications/{id}/resume-counting',
    summary: 'Resume counting after a restore',
    description:
      'When the database is restored to an earlier time, counting stops at once: `needs_resume` in `/v1/health`. Events are taken on and wait. This accepts that the reports lack what was written after that time, and goes on with what waits. It changes nothing where counting has not stopped, and may be repeated.',
    parameters: inPath(EXAMPLE.application),
    answer: { status: 200, description: 'Counting goes on.', schema: CountingResumed },
    errors: { 404: "No such application, or another team's." },
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/parked',
    summary: 'List what could not be counted',
    parameters: { query: withExamples(listQuery, { limit: 50, cursor: '' }) },
    answer: { status: 200, description: 'A page, newest first.', schema: list(Parked) },
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/parked/{id}/replay',
    summary: 'Send a parked message again',
    description:
      'It is counted once however often it is sent; what still cannot be counted is parked again, under another id where the cause is new.',
    parameters: inPath(EXAMPLE.parked),
    answer: { status: 200, description: 'It is in the queue.', schema: ParkedReplayed },
    errors: { ...notFound, 409: 'It was empty: it can only be discarded.' },
  },
  {
    ...shared,
    method: 'delete',
    path: '/v1/parked/{id}',
    summary: 'Discard a parked message',
    parameters: inPath(EXAMPLE.discarded),
    answer: {
      status: 200,
      description: 'It is gone; what was in it is never counted.',
      schema: ParkedDiscarded,
    },
    errors: notFound,
  },
];
