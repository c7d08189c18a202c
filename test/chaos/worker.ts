import { beginRestoreSql } from '../../src/backup/begin.ts';
import { writeSnapshot } from '../../src/backup/index.ts';
import { counterName, resumeCounting } from '../../src/counting/index.ts';
import service from '../../src/index.ts';
import { queueBinding } from '../../src/lib/event-queues.ts';
import { unlimited } from '../helpers/limits.ts';
import type { ChaosBindings, ChaosCounter } from './chaos-counter.ts';
import type { Tenant } from './client.ts';
import { type Faults, failingBucket, failingDatabase, seen, setFaults } from './faults.ts';
import { makeTenant } from './tenant.ts';

export { CreativeRegistry, OutboundSender } from '../../src/index.ts';
export { ChaosCounter as Counter } from './chaos-counter.ts';
export { ChaosDestination as Destination } from './chaos-destination.ts';

// The service as it is deployed, over stores that fail at random and queues that the harness keeps. The harness delivers
// to the service's own queue handler under `/chaos/deliver`.

export type Delivery = { queue: string; messages: { id: string; body: unknown; attempts: number }[] };
export type Outcome = { acked: string[]; retried: string[] };

/** What the harness is told of a send. `queue`: the number of the queue. */
export type Sent = { queue: number; bodies: unknown[] };

/** The harness is a queue's side of a send: its answer decides whether the service believes that the messages were accepted. */
function harnessQueue(env: ChaosBindings, queue: number): Queue {
  const sendBatch = async (messages: Iterable<{ body: unknown }>) => {
    const sent: Sent = { queue, bodies: Array.from(messages, ({ body }) => body) };
    const answer = await fetch(env.HARNESS_URL, { method: 'POST', body: JSON.stringify(sent) });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error('Queue send failed');
  };
  const send = (body: unknown) => sendBatch([{ body }]);
  return { send, sendBatch } as unknown as Queue;
}

async function deliver({ queue, messages }: Delivery, env: ChaosBindings): Promise<Outcome> {
  const outcome: Outcome = { acked: [], retried: [] };
  const batch = {
    queue,
    messages: messages.map((message) => ({
      ...message,
      timestamp: new Date(),
      ack: () => outcome.acked.push(message.id),
      retry: () => outcome.retried.push(message.id),
    })),
  };
  await service.queue(batch as unknown as MessageBatch, env);
  return outcome;
}

const MAX_SHARDS = 4;
/** How many queues are bound, whether they are sent to or not. */
const QUEUES = 3;

/** Doubles an application's counters, as its load would. */
async function addShards(env: ChaosBindings, { applicationId }: Tenant): Promise<void> {
  await env.DB.prepare('UPDATE applications SET shards = min(?2, shards * 2) WHERE id = ?1')
    .bind(applicationId, MAX_SHARDS)
    .run();
}

const chaosCounter = ({ COUNTERS }: ChaosBindings, applicationId: string, shard: number) =>
  (COUNTERS as unknown as DurableObjectNamespace<ChaosCounter>).getByName(counterName(applicationId, shard));

/** Whether everything that the application's counters received is in the reports, and with its destinations. */
async function isSettled(env: ChaosBindings, { applicationId }: Tenant): Promise<boolean> {
  for (let shard = 0; shard < MAX_SHARDS; shard++) {
    const counter = chaosCounter(env, applicationId, shard);
    if (!(await counter.settle()).settled || !(await counter.isFed())) return false;
  }
  return true;
}

/** Empties the bucket. */
async function loseBucket({ RAW_EVENTS }: ChaosBindings): Promise<number> {
  const { objects } = await RAW_EVENTS.list();
  if (objects.length > 0) await RAW_EVENTS.delete(objects.map(({ key }) => key));
  return objects.length;
}

/** A minute of the cron that has only the chores. */
const NOON = Date.UTC(2026, 2, 1, 12, 1);

const healthsOf = (env: ChaosBindings, { applicationId }: Tenant) =>
  Promise.all(
    Array.from({ length: MAX_SHARDS }, (_, shard) => chaosCounter(env, applicationId, shard).health()),
  );

/** Writes a snapshot, then has the counter with the most devices lose what it stored. Returns how many devices that had. */
async function loseCounter(env: ChaosBindings, tenant: Tenant): Promise<number> {
  // The bucket was emptied: what counters list is gone, and they have to know it before a restore reads it.
  await resumeCounting(env, { id: tenant.applicationId, shards: MAX_SHARDS }, { isRestored: false });
  await writeSnapshot(env, Date.now());
  const healths = await healthsOf(env, tenant);
  const devices = Math.max(...healths.map((own) => own.devices));
  const shard = healths.findIndex((own) => own.devices === devices);
  await chaosCounter(env, tenant.applicationId, shard)
    .lose()
    .catch(() => undefined);
  return devices;
}

/** Restores the application as `npm run restore` does. Returns how many events were parked because their devices were unknown. */
async function restore(env: ChaosBindings, tenant: Tenant, bindings: ChaosBindings): Promise<number> {
  // Only what was counted is parked.
  await isSettled(env, tenant);
  const healths = await healthsOf(env, tenant);
  const unknownEvents = healths.reduce((sum, own) => sum + own.unknownEvents, 0);
  const { applicationId } = tenant;
  const { statements, secret } = await beginRestoreSql(Date.now(), applicationId);
  await env.DB.batch(statements.split(';\n').map((statement) => env.DB.prepare(statement)));
  for (;;) {
    const request = new Request('http://chaos.test/restore', {
      method: 'POST',
      headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
    const answer = await service.fetch(request, bindings, { waitUntil: () => undefined } as never);
    const progress: { finished?: boolean; error?: string } = await answer.json();
    if (!answer.ok) throw new Error(JSON.stringify(progress));
    if (progress.finished) return unknownEvents;
  }
}

async function ringAlarms(env: ChaosBindings, { applicationId }: Tenant): Promise<void> {
  for (let shard = 0; shard < MAX_SHARDS; shard++) await chaosCounter(env, applicationId, shard).ring();
}

async function control(
  request: Request,
  path: string,
  env: ChaosBindings,
  real: ChaosBindings,
): Promise<Response> {
  if (path === '/chaos/tenant') return Response.json(await makeTenant(real));
  if (path === '/chaos/deliver') return Response.json(await deliver(await request.json(), env));
  if (path === '/chaos/minute') {
    await service.scheduled({ scheduledTime: NOON } as ScheduledController, env);
    return Response.json({});
  }
  if (path === '/chaos/shards') {
    await addShards(real, await request.json());
    return Response.json({});
  }
  if (path === '/chaos/queues') {
    bindings = { ...env, EVENT_QUEUES: String(await request.json()) };
    return Response.json({});
  }
  if (path === '/chaos/ring') {
    await ringAlarms(real, await request.json());
    return Response.json({});
  }
  if (path === '/chaos/lose-bucket') return Response.json(await loseBucket(real));
  if (path === '/chaos/lose-counter') return Response.json(await loseCounter(real, await request.json()));
  if (path === '/chaos/restore') return Response.json(await restore(real, await request.json(), env));
  if (path === '/chaos/settled') return Response.json(await isSettled(real, await request.json()));
  if (path === '/chaos/faults') {
    setFaults(await request.json<Faults>());
    return Response.json(seen);
  }
  return Response.json({}, { status: 404 });
}

let bindings: ChaosBindings | null = null;

export default {
  async fetch(request: Request, env: ChaosBindings, ctx: ExecutionContext) {
    bindings ??= {
      ...env,
      ...unlimited,
      DB: failingDatabase(env.DB, env.CHAOS_SEED),
      RAW_EVENTS: failingBucket(env.RAW_EVENTS, env.CHAOS_SEED),
      ...Object.fromEntries(
        Array.from({ length: QUEUES }, (_, number) => [queueBinding(number), harnessQueue(env, number)]),
      ),
    };
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/chaos/')) return service.fetch(request, bindings, ctx);
    return control(request, pathname, bindings, env).catch((error) =>
      Response.json({ error: String(error) }, { status: 500 }),
    );
  },
};
