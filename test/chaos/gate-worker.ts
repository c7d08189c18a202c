import service from '../../src/index.ts';
import { unlimited } from '../helpers/limits.ts';
import { makeTenant } from './tenant.ts';

export { Counter, CreativeRegistry } from '../../src/index.ts';

// The service with the queue of workerd, behind a gate: the test is asked before each send, and again before its sender is told that it was taken.

type GateEnv = Env & { GATE: Fetcher };

async function pass(env: GateEnv, when: 'before' | 'after', body: string): Promise<void> {
  const answer = await env.GATE.fetch(`http://gate/${when}`, { method: 'POST', body });
  if (!answer.ok) throw new Error('Queue send failed');
}

function gated(env: GateEnv): Queue {
  const send = async (body: unknown) => {
    await pass(env, 'before', String(body));
    await env.EVENTS.send(body, { contentType: 'text' });
    await pass(env, 'after', String(body));
  };
  const sendBatch = async (messages: Iterable<{ body: unknown }>) => {
    for (const { body } of messages) await send(body);
  };
  return { send, sendBatch } as unknown as Queue;
}

let bindings: Env | null = null;

/** A request of which nothing survives its client, as if it had died. */
const mortal = (ctx: ExecutionContext) =>
  ({ waitUntil: () => undefined, passThroughOnException: () => undefined, props: ctx.props }) as never;

export default {
  async fetch(request, env, ctx) {
    bindings ??= { ...env, ...unlimited, EVENTS: gated(env) };
    const { pathname } = new URL(request.url);
    if (pathname === '/tenant') return Response.json(await makeTenant(env));
    return service.fetch(request, bindings, request.headers.has('Mortal') ? mortal(ctx) : ctx);
  },
  queue: (batch, env) => service.queue(batch, env),
} satisfies ExportedHandler<GateEnv>;
