import { asc } from 'drizzle-orm';
import { type ApplicationHealth, deliveredThrough } from '#counting';
import { applications, database, parkedMessages } from '#db';
import { messagesIn } from './deployment.ts';
import { type InspectedApplication, type Inspection, inspect } from './inspect.ts';
import type { Gauge } from './metrics-text.ts';

/** Further applications have no gauges of their own. */
const MAX_APPLICATIONS = 200;

/** The gauges of a deployment, for monitoring. Does not trigger counting. Throws if the database does not respond. */
export async function measureDeployment(env: Env, now: number): Promise<Gauge[]> {
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
  const { chores, rates, snapshot, months, databaseBytes, filed, queues } = deployment;
  const since = (at: number | null | undefined) => (at == null ? null : Math.max(0, now - at) / 1000);
  const whole = (value: number | null): Gauge['samples'] => [{ value }];
  const each = (read: (own: InspectedApplication) => number | null): Gauge['samples'] =>
    inspected.map((own) => ({ application: own.health.applicationId, value: read(own) }));
  const ofCounters = (read: (counters: Counters) => number | null) =>
    each(({ health: { counters } }) => counters && read(counters));
  return [
    {
      name: 'problems',
      help: 'Problems of the deployment, without those of applications.',
      samples: whole(problems.length),
    },
    {
      name: 'schedule_age',
      unit: 'seconds',
      help: 'Time since the minutely schedule last ran.',
      samples: whole(since(chores?.ranAt)),
    },
    {
      name: 'schedule_success_age',
      unit: 'seconds',
      help: 'Time since the minutely schedule last ran without a failure.',
      samples: whole(since(chores?.succeededAt)),
    },
    {
      name: 'exchange_rates_age',
      unit: 'seconds',
      help: 'Time since exchange rates were last fetched.',
      samples: whole(since(rates?.succeededAt)),
    },
    {
      name: 'snapshot_age',
      unit: 'seconds',
      help: 'Time since the last complete snapshot.',
      samples: whole(since(snapshot?.succeededAt)),
    },
    {
      name: 'months_merge_age',
      unit: 'seconds',
      help: 'Time since figures of old months were last moved from D1 to the bucket without a failure.',
      samples: whole(since(months?.succeededAt)),
    },
    {
      name: 'database',
      unit: 'bytes',
      help: 'Size of the D1 database, which can hold 10 GB.',
      samples: whole(databaseBytes),
    },
    {
      name: 'queued_messages',
      help: 'Messages in all event queues.',
      samples: whole(messagesIn(queues)),
    },
    {
      name: 'delivery_age',
      unit: 'seconds',
      help: 'How long the oldest message has waited that an event queue has not delivered yet.',
      samples: whole(since(deliveredThrough(queues))),
    },
    {
      name: 'parked_messages',
      help: 'Messages that could not be counted.',
      samples: whole(parked),
    },
    {
      name: 'filed_messages',
      help: 'Messages in the bucket that the database did not accept for four days, at most 1,000.',
      samples: whole(filed && [...filed.values()].reduce((sum, one) => sum + one, 0)),
    },
    {
      name: 'application_problems',
      help: 'Problems of the application’s event processing.',
      samples: each((own) => own.problems.length),
    },
    {
      name: 'needs_resume',
      help: '1 if a store of the application was restored or lost, and counting has to be resumed.',
      samples: each((own) => Number(own.needsResume)),
    },
    {
      name: 'pending_events',
      help: 'Events that are not counted yet.',
      samples: ofCounters(({ pending }) => pending),
    },
    {
      name: 'pending_age',
      unit: 'seconds',
      help: 'How long the oldest event has waited that is not in the reports yet.',
      samples: ofCounters(({ oldestPendingAt }) => since(oldestPendingAt) ?? 0),
    },
    {
      name: 'delayed_events',
      help: 'Accepted events that a counter refused and that the queue retries.',
      samples: each(({ health }) => health.backlog.events),
    },
    {
      name: 'unwritten_parts',
      help: 'Parts of the outbox that the database has not accepted yet.',
      samples: ofCounters(({ outbox }) => outbox),
    },
    {
      name: 'flush_failing',
      help: '1 if the last write to the database failed.',
      samples: ofCounters(({ flushError }) => Number(flushError !== null)),
    },
    {
      name: 'destinations_delay',
      unit: 'seconds',
      help: 'How long the oldest event has waited that is still to be sent to a destination.',
      samples: each(({ destinations }) => destinations && (since(destinations.waitingSince) ?? 0)),
    },
    {
      name: 'destinations_failing_ratio',
      help: 'Share of attempts to send to destinations that failed in this hour and the one before.',
      samples: each(({ destinations }) =>
        destinations && destinations.attempts > 0 ? destinations.failed / destinations.attempts : null,
      ),
    },
    {
      name: 'unexported_events',
      help: 'Raw events that are not in the bucket yet.',
      samples: ofCounters(({ hotEvents }) => hotEvents),
    },
    {
      name: 'export_failing',
      help: '1 if the last export to the bucket failed.',
      samples: ofCounters(({ exportError }) => Number(exportError !== null)),
    },
    {
      name: 'largest_counter',
      unit: 'bytes',
      help: 'Size of the application’s largest counter, which can hold 10 GB.',
      samples: ofCounters(({ bytes }) => bytes),
    },
  ];
}
