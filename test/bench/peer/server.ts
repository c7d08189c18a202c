import fastify from 'fastify';
import pg from 'pg';
import { Batch, Envelope, toEvent } from './envelope.ts';
import { Credentials, recordEvents } from './store.ts';

// The peer: a Fastify server whose routes answer once Postgres has committed the events and their sums. Started by `run.ts`, which
// passes the connection in PGHOST and PGUSER and reads the address from the first line that it prints.

/** More than there are cores, because most of them wait for the disk, which takes the commits of several at once. */
const CONNECTIONS = 20;
const MAX_BODY_BYTES = 1_048_576;

const pool = new pg.Pool({ database: 'postgres', max: CONNECTIONS });
const credentials = new Credentials(pool);
const server = fastify({ bodyLimit: MAX_BODY_BYTES });

type Refusal = { status: 400 | 401 | 403; error: string };

/** Records what these envelopes say, all of it or nothing, and says why it was refused. */
async function record(apiKey: unknown, envelopes: readonly Envelope[]): Promise<Refusal | null> {
  const applicationId = typeof apiKey === 'string' ? await credentials.application(apiKey) : null;
  if (applicationId === null) return { status: 401, error: 'Invalid or missing API key' };
  const devices = await credentials.devicesOf(envelopes.map(({ creativeToken }) => creativeToken));
  const events = envelopes.flatMap((envelope, index) => {
    const device = devices[index];
    return device?.applicationId === applicationId ? [toEvent(envelope, device)] : [];
  });
  if (events.length < envelopes.length) return { status: 403, error: 'Access denied for this resource' };
  await recordEvents(pool, applicationId, events);
  return null;
}

server.post('/webhook', async (request, reply) => {
  const parsed = Envelope.safeParse(request.body);
  if (!parsed.success) return reply.code(400).send({ success: false, error: parsed.error.message });
  const refusal = await record(request.headers['service-api-key'], [parsed.data]);
  if (refusal) return reply.code(refusal.status).send({ success: false, error: refusal.error });
  return { success: true, message: 'Webhook Received', event_id: parsed.data.eid };
});

server.post('/webhook/batch', async (request, reply) => {
  const parsed = Batch.safeParse(request.body);
  if (!parsed.success) return reply.code(400).send({ success: false, error: parsed.error.message });
  const { events } = parsed.data;
  const refusal = await record(request.headers['service-api-key'], events);
  if (refusal) return reply.code(refusal.status).send({ success: false, error: refusal.error });
  const results = events.map(({ eid }, index) => ({ index, event_id: eid }));
  return { success: true, accepted: events.length, rejected: 0, results };
});

console.log(await server.listen({ host: '127.0.0.1', port: 0 }));
process.on('SIGTERM', () => {
  void server.close().then(() => pool.end());
});
