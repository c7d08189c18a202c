import service from '../../src/index.ts';
import { unlimited } from '../helpers/limits.ts';
import { makeTenant } from './tenant.ts';

export { Counter, CreativeRegistry } from '../../src/index.ts';

// The service as it is deployed, with the queues of workerd. The path of a request says how many of them it sends to, because isolates of two
// deployments answer at the same time while the number changes. Every batch is delivered twice.

const SHARDS = 4;
const PATH = /^\/sent-to\/(\d+)/;

/** How many messages each queue has delivered. */
const delivered: Record<string, number> = {};
const byNumber = new Map<string, Env>();

function bindingsFor(env: Env, number: string): Env {
  const bindings = byNumber.get(number) ?? { ...env, ...unlimited, EVENT_QUEUES: number };
  byNumber.set(number, bindings);
  return bindings;
}

async function control(action: string, env: Env): Promise<unknown> {
  if (action === 'delivered') return delivered;
  const tenant = await makeTenant(env);
  await env.DB.prepare('UPDATE applications SET shards = ?2 WHERE id = ?1')
    .bind(tenant.applicationId, SHARDS)
    .run();
  return tenant;
}

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    const [prefix, number] = PATH.exec(url.pathname) ?? [];
    if (!prefix || !number) return Response.json(await control(url.pathname.slice(1), env));
    url.pathname = url.pathname.slice(prefix.length);
    return service.fetch(new Request(url, request), bindingsFor(env, number), ctx);
  },
  async queue(batch, env) {
    delivered[batch.queue] = (delivered[batch.queue] ?? 0) + batch.messages.length;
    const unacknowledged = batch.messages.map(({ id, body, timestamp, attempts }) => ({
      ...{ id, body, timestamp, attempts, ack: () => undefined, retry: () => undefined },
    }));
    await service.queue({ ...batch, queue: batch.queue, messages: unacknowledged }, env);
    await service.queue(batch, env);
  },
} satisfies ExportedHandler<Env>;
