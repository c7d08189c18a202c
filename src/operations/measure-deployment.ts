import { asc } from 'drizzle-orm';
import { type ApplicationHealth, deliveredThrough } from '#counting';
import { applications, database, parkedMessages } from '#db';
import { withTimeout } from '#lib/timeout';
import { messagesIn } from './deployment.ts';
import { type InspectedApplication, type Inspection, inspect } from './inspect.ts';
import type { Gauge } from './metrics-text.ts';
import { D1_UP, databaseFault, measureWithoutDatabase } from './outage.ts';

/** Further applications have no gauges of their own. */
const MAX_APPLICATIONS = 200;
const MEASURE_MS = 10_000;

/** The gauges of a deployment, for monitoring: of one whose database does not respond, those that need none. Does not trigger counting. */
export async function measureDeployment(env: Env, now: number): Promise<Gauge[]> {
  try {
    return await withTimeout(measureAll(env, now), MEASURE_MS);
  } catch (error) {
    if ((await databaseFault(env)) === null) throw error;
    return measureWithoutDatabase(env, now);
  }
}

async function measureAll(env: Env, now: number): Promise<Gauge[]> {
  const db = database(env.DB);
  const [parked, rows] = await Promise.all([
    db.$count(parkedMessages),
    db
      .select({ id: applications.id, shards: applications.shards })
      .from(applications)
      .orderBy(asc(applications.id))
      .limit(MAX_APPLICATIONS),
  ]);
  return gaugesOf(await inspect(env, rows, now), parked, now);
}

type Counters = NonNullable<ApplicationHealth['counters']>;

function gaugesOf(inspection: Inspection, parked: number, now: number): Gauge[] {
  const { deployment, problems, applications: inspected } = inspection;
  const { runs, databaseBytes, filed, queues } = deployment;
  const { chores, months, 'exchange rates': rates } = runs;
  const since = (at: number | null | undefined) => (at == null ? null : Math.max(0, now - at) / 1000);
  const whole = (name: string, help: string, value: number | null): Gauge => ({
    ...{ name, help, samples: [{ value }] },
  });
  const age = (name: string, help: string, at: number | null | undefined): Gauge => ({
    ...whole(name, help, since(at)),
    unit: 'seconds',
  });
  type Read<Of> = (of: Of) => number | null;
  const each = (name: string, help: string, read: Read<InspectedApplication>): Gauge => ({
    ...{ name, help },
    samples: inspected.map((own) => ({ application: own.health.applicationId, value: read(own) })),
  });
  const ofCounters = (name: string, help: string, read: Read<Counters>): Gauge =>
    each(name, help, ({ health: { counters } }) => counters && read(counters));
  return [
    whole('database_up', D1_UP, 1),
    whole('problems', 'Problems of the deployment, without those of applications.', problems.length),
    age('schedule_age', 'Time since the minutely schedule last ran.', chores?.ranAt),
    age(
      'schedule_success_age',
      'Time since the minutely schedule last ran without a failure.',
      chores?.succeededAt,
    ),
    age('exchange_rates_age', 'Time since exchange rates were last fetched.', rates?.succeededAt),
    age('snapshot_age', 'Time since the last complete snapshot.', deployment.snapshotAt),
    age(
      'months_merge_age',
      'Time since figures of old months were last moved from D1 to the bucket without a failure.',
      months?.succeededAt,
    ),
    { ...whole('database', 'Size of the D1 database, which can hold 10 GB.', databaseBytes), unit: 'bytes' },
    whole('queued_messages', 'Messages in all event queues.', messagesIn(queues)),
    age(
      'delivery_age',
      'How long the oldest message has waited that an event queue has not delivered yet.',
      deliveredThrough(queues),
    ),
    whole('parked_messages', 'Messages that could not be counted.', parked),
    whole(
      'filed_messages',
      'Messages in the bucket that the database did not accept for four days, at most 1,000.',
      filed && [...filed.values()].reduce((sum, one) => sum + one, 0),
    ),
    each(
      'application_problems',
      'Problems of the application’s event processing.',
      (own) => own.problems.length,
    ),
    each(
      'needs_resume',
      '1 if a store of the application was restored or lost, and counting has to be resumed.',
      (own) => Number(own.needsResume),
    ),
    ofCounters('pending_events', 'Events that are not counted yet.', ({ pending }) => pending),
    {
      ...ofCounters(
        'pending_age',
        'How long the oldest event has waited that is not in the reports yet.',
        ({ oldestPendingAt }) => since(oldestPendingAt) ?? 0,
      ),
      unit: 'seconds',
    },
    each(
      'delayed_events',
      'Accepted events that a counter refused and that the queue retries.',
      ({ health }) => health.backlog.events,
    ),
    ofCounters(
      'unwritten_parts',
      'Parts of the outbox that the database has not accepted yet.',
      ({ outbox }) => outbox,
    ),
    ofCounters('flush_failing', '1 if the last write to the database failed.', ({ flushError }) =>
      Number(flushError !== null),
    ),
    {
      ...each(
        'destinations_delay',
        'How long the oldest event has waited that is still to be sent to a destination.',
        ({ destinations }) => destinations && (since(destinations.waitingSince) ?? 0),
      ),
      unit: 'seconds',
    },
    each(
      'destinations_failing_ratio',
      'Share of attempts to send to destinations that failed in this hour and the one before.',
      ({ destinations }) =>
        destinations && destinations.attempts > 0 ? destinations.failed / destinations.attempts : null,
    ),
    ofCounters(
      'unexported_events',
      'Raw events that are not in the bucket yet.',
      ({ hotEvents }) => hotEvents,
    ),
    ofCounters('export_failing', '1 if the last export to the bucket failed.', ({ exportError }) =>
      Number(exportError !== null),
    ),
    {
      ...ofCounters(
        'largest_counter',
        'Size of the application’s largest counter, which can hold 10 GB.',
        ({ bytes }) => bytes,
      ),
      unit: 'bytes',
    },
  ];
}
