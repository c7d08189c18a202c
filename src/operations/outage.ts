import { sql } from 'drizzle-orm';
import type { MiddlewareHandler } from 'hono';
import { countUndelivered, deliveredThrough, readQueues } from '#counting';
import { toStatement } from '#db';
import type { AppContext, AppEnv } from '#http';
import { newerFormatIn } from '#lib/encoding/store-formats';
import { logWarning } from '#lib/log';
import { withTimeout } from '#lib/timeout';
import type { HealthFailure } from './answers.ts';
import { messagesIn } from './deployment.ts';
import type { Gauge } from './metrics-text.ts';
import { findQueueProblems } from './problems.ts';
import { runbookOf } from './runbooks.ts';

// What can be said while the database does not respond.

/** A database that is slow is not gone. */
const PROBE_MS = 3_000;
/** A request that waits for the database is answered before its caller gives up. */
const ANSWER_MS = 10_000;

/** Why the database does not respond, as a sentence without its full stop; null if it does. */
export async function databaseFault(env: Pick<Env, 'DB'>): Promise<string | null> {
  try {
    await withTimeout(toStatement(env.DB, sql`SELECT 1`).run(), PROBE_MS);
    return null;
  } catch (error) {
    logWarning('database does not respond', error);
    const hangs = error instanceof Error && error.message.startsWith('no answer within');
    return (
      newerFormatIn(error) ?? `The database does not respond: each request to it ${hangs ? 'hangs' : 'fails'}`
    );
  }
}

/** What is wrong, as far as it can be found out without the database. */
async function findProblems(env: Env, fault: string, now: number): Promise<string[]> {
  const [queues, filed] = await Promise.all([
    readQueues(env, now, Promise.resolve(new Map())),
    withTimeout(countUndelivered(env.RAW_EVENTS), PROBE_MS).catch(() => null),
  ]);
  return [
    `${fault}. Events are accepted and wait in the queue; reports, the dashboard and /fetch-token fail.`,
    ...(filed === null ? ['The bucket for raw events does not respond.'] : []),
    ...findQueueProblems(queues, now),
  ];
}

/** Answers 503 with what does not respond, where a request fails or waits because of the database. */
export const sayWhatFails: MiddlewareHandler<AppEnv> = async (c, next) => {
  const answered = await withTimeout(
    next().then(() => true),
    ANSWER_MS,
  ).catch(() => false);
  if (answered && !(c.error && c.res.status >= 500)) return;
  const answer = await answerOutage(c);
  if (!answer) return;
  c.res = undefined;
  c.res = answer;
  return answer;
};

async function answerOutage(c: AppContext): Promise<Response | null> {
  const fault = await databaseFault(c.env);
  if (fault === null) return null;
  const problems = await findProblems(c.env, fault, Date.now());
  const failure: HealthFailure = {
    status: 'degraded',
    message: problems[0] ?? '',
    problems,
    runbooks: problems.map(runbookOf),
  };
  return Response.json(failure, {
    status: 503,
    headers: { 'Cache-Control': 'no-store', 'Retry-After': '60' },
  });
}

/** The gauges that need no database. */
export async function measureWithoutDatabase(env: Env, now: number): Promise<Gauge[]> {
  const [queues, filed] = await Promise.all([
    readQueues(env, now, Promise.resolve(new Map())),
    withTimeout(countUndelivered(env.RAW_EVENTS), PROBE_MS).catch(() => null),
  ]);
  const whole = (name: string, help: string, value: number | null): Gauge => ({
    ...{ name, help, samples: [{ value }] },
  });
  return [
    whole('database_up', D1_UP, 0),
    whole('queued_messages', 'Messages in all event queues.', messagesIn(queues)),
    {
      ...whole(
        'delivery_age',
        'How long the oldest message has waited that an event queue has not delivered yet.',
        Math.max(0, now - deliveredThrough(queues)) / 1000,
      ),
      unit: 'seconds',
    },
    whole(
      'filed_messages',
      'Messages in the bucket that the database did not accept for four days, at most 1,000.',
      filed && [...filed.values()].reduce((sum, one) => sum + one, 0),
    ),
  ];
}

export const D1_UP = '1 if the database responds, otherwise 0.';
