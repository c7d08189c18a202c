import { Hono } from 'hono';
import { answerRequest } from '../../src/answer-request.ts';
import { countingLimit, unlimited } from '../helpers/limits.ts';
import { control } from './control.ts';
import { DatabaseMeter } from './meter.ts';
import { QueueMeter } from './queue-meter.ts';

// A bundle has to export what wrangler.toml binds.
export { CreativeRegistry } from '../../src/creatives/registry.ts';
export { DestinationObject as Destination } from '../../src/destinations/object/destination.ts';
export { OutboundSender } from '../../src/destinations/object/sender.ts';
export { BenchCounter as Counter } from './bench-counter.ts';

// The Workers of the benchmark, one script: which of them it is says the variable ROLE.

type BenchEnv = Env & { ROLE: keyof typeof ROLES };

/** A queue that takes everything at once: what is left is our own work. */
const instantQueue = { send: async () => undefined, sendBatch: async () => undefined };

const service = { fetch: answerRequest };
const bare = new Hono<{ Bindings: BenchEnv }>()
  .post('/webhook', async (c) => {
    const body: Record<string, unknown> = await c.req.json();
    return c.json({ success: true, type: body.type });
  })
  .get('/t/:token', (c) =>
    c.redirect(`https://play.google.com/store/apps/details?id=${c.req.param('token')}`),
  );
const enqueueOnly = new Hono<{ Bindings: BenchEnv }>().post('/webhook', async (c) => {
  await c.env.EVENTS.send(await c.req.json());
  return c.json({ success: true });
});
const twoRoundTrips = new Hono<{ Bindings: BenchEnv }>().post('/fetch-token', async (c) => {
  const body: Record<string, unknown> = await c.req.json();
  for (let trip = 0; trip < 2; trip++) await c.env.DB.prepare('SELECT 1').run();
  return c.json({ success: true, type: body.type });
});

const ROLES = {
  service,
  'service-without-queue': service,
  'service-with-slow-queue': service,
  'enqueue-only': enqueueOnly,
  'two-round-trips': twoRoundTrips,
  bare,
  control,
};

type Prepared = { bindings: BenchEnv; meter: DatabaseMeter; queueMeter: QueueMeter };

let prepared: Prepared | null = null;

/** Only what the service sends is watched: the routes that it is measured against send as simply as they can. */
function queueOf(env: BenchEnv, { binding }: QueueMeter): Queue {
  if (env.ROLE === 'service-without-queue') return instantQueue as unknown as Queue;
  return env.ROLE.startsWith('service') ? binding : env.EVENTS;
}

/** The bindings as a role has them, with a database that is watched: once an isolate, as a deployment's are. */
function prepare(env: BenchEnv): Prepared {
  if (prepared) return prepared;
  const meter = new DatabaseMeter(env.DB);
  const queueMeter = new QueueMeter(env.ROLE === 'service-with-slow-queue' ? null : env.EVENTS);
  const queue = { EVENTS: queueOf(env, queueMeter) };
  const limits = { ...unlimited, CLICK_LIMIT: countingLimit(Number.POSITIVE_INFINITY) };
  // Watched for the routes that the service is measured against too, so that watching costs both sides of a ratio the same.
  const db = env.ROLE === 'control' ? {} : { DB: meter.binding };
  prepared = { bindings: { ...env, ...limits, ...queue, ...db }, meter, queueMeter };
  return prepared;
}

export default {
  fetch: (request: Request, env: BenchEnv, ctx: ExecutionContext) => {
    const { bindings, meter, queueMeter } = prepare(env);
    if (request.url.endsWith('/d1')) {
      const { statements, rowsWritten, rowsRead } = meter;
      return Response.json({ statements, rowsWritten, rowsRead });
    }
    if (request.url.includes('/queue')) {
      const [, sendMs] = /\/queue\/(\d+)$/.exec(request.url) ?? [];
      if (sendMs !== undefined) queueMeter.sendMs = Number(sendMs);
      const { messages, operations } = queueMeter;
      return Response.json({ messages, operations });
    }
    return ROLES[env.ROLE].fetch(request, bindings, ctx);
  },
  queue: () => undefined,
};
