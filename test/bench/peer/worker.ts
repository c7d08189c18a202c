import { Hono } from 'hono';
import { answerRequest } from '../../../src/answer-request.ts';
import { consumeEvents, counterName } from '../../../src/counting/index.ts';
import { unlimited } from '../../helpers/limits.ts';
import type { BenchCounter } from '../bench-counter.ts';

// A bundle has to export what wrangler.toml binds.
export { CreativeRegistry } from '../../../src/creatives/registry.ts';
export { BenchCounter as Counter } from '../bench-counter.ts';

// The service as it is deployed: one Worker that takes requests, consumes its queue and has its counters. Under `/bench` it is told
// when to count, and tells what it has consumed.

// Log lines are made as ever, but not handed to the local simulation, which parses each in the process that also makes the load.
console.log = () => undefined;

let consumed = 0;

const counterOf = (env: Env, applicationId: string) =>
  (env.COUNTERS as unknown as DurableObjectNamespace<BenchCounter>).getByName(counterName(applicationId, 0));

const control = new Hono<{ Bindings: Env }>()
  .post('/bench/devices/:app/:count', async (c) => {
    const { app, count } = c.req.param();
    await counterOf(c.env, app).insertDevices(Number(count), false);
    return c.json({});
  })
  .post('/bench/ring/:app', async (c) => {
    await counterOf(c.env, c.req.param('app')).ring();
    return c.json({});
  })
  .get('/bench/consumed', (c) => c.json({ events: consumed }));

let bindings: Env | null = null;

/** Once per isolate, as a deployment's are: the service parses its settings once per object. */
function bindingsOf(env: Env): Env {
  bindings ??= { ...env, ...unlimited };
  return bindings;
}

/** A message as text has a line per event after the first. */
const eventsIn = (body: unknown) => String(body).split('\n').length - 1;

const isControl = (url: string) => new URL(url).pathname.startsWith('/bench/');

export default {
  fetch: (request, env, ctx) =>
    isControl(request.url) ? control.fetch(request, env, ctx) : answerRequest(request, bindingsOf(env), ctx),
  async queue(batch, env) {
    await consumeEvents(batch, env);
    consumed += batch.messages.reduce((sum, { body }) => sum + eventsIn(body), 0);
  },
} satisfies ExportedHandler<Env>;
