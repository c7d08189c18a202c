import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { rollupOf } from '../helpers/counter.ts';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Messages near the queue's limit, which take more bytes in an export than a row may have.

const EVENTS = 14;
const worker = startWorker();
let tenant: Tenant;
let other: string;
let ids: string[];

/** Parks one message: events of a device, and last one of another. */
async function park(): Promise<void> {
  const token = await fetchToken(worker, tenant);
  other = await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  // 4,090 characters, of which SQL doubles half, and JSON in JSON the rest.
  const wp = { text: `'"`.repeat(1_360) };
  const events = Array.from({ length: EVENTS }, (_, at) =>
    envelope.ad(at === EVENTS - 1 ? other : token, { wp }),
  );
  const answer = await worker.post(tenant, '/webhook/batch', { events });
  const { results }: { results: { event_id: string }[] } = await answer.json();
  ids = results.map(({ event_id }) => event_id);
  const messages = worker.queue.take();
  expect(messages).toHaveLength(1);
  await worker.deliver(messages, 'attribution-events-dead');
}

/** The rows of messages, and of their further chunks. */
const stored = async () =>
  (await env.DB.prepare(
    `SELECT (SELECT count(*) FROM parked_messages WHERE application_id = ?1) AS messages,
      (SELECT count(*) FROM parked_chunks WHERE application_id = ?1) AS chunks`,
  )
    .bind(tenant.application.id)
    .first<{ messages: number; chunks: number }>()) ?? { messages: -1, chunks: -1 };

async function parked(): Promise<string[]> {
  const answer = await worker.team(tenant, '/v1/parked');
  const { data }: { data: { id: string }[] } = await answer.json();
  return data.map(({ id }) => id);
}

beforeEach(async () => {
  tenant = await createTenant();
  await park();
  expect((await stored()).chunks).toBeGreaterThan(0);
});

it('finds each of their events, and counts them once they are replayed', async () => {
  for (const id of ids) {
    expect(await (await worker.team(tenant, `/v1/events/${id}`)).json()).toMatchObject({ status: 'parked' });
  }
  for (const id of await parked()) {
    expect((await worker.team(tenant, `/v1/parked/${id}/replay`, { method: 'POST' })).status).toBe(200);
  }
  expect(await stored()).toEqual({ messages: 0, chunks: 0 });
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  expect(await rollupOf(tenant.application.id)).toMatchObject({ impressions: EVENTS });
});

it('leaves nothing of those that are discarded', async () => {
  for (const id of await parked()) {
    expect((await worker.team(tenant, `/v1/parked/${id}`, { method: 'DELETE' })).status).toBe(200);
  }
  expect(await stored()).toEqual({ messages: 0, chunks: 0 });
});

it('leaves nothing of those that name an erased device, wherever they name it', async () => {
  expect((await worker.team(tenant, `/v1/devices/${other}`, { method: 'DELETE' })).status).toBe(200);
  expect(await stored()).toEqual({ messages: 0, chunks: 0 });
});
