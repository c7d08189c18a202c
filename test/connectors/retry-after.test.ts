import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach } from 'vitest';
import { runDueConnectors } from '#connectors';
import { database, connectors as table } from '#db';
import { DAY_MS, HOUR_MS } from '#lib/time';
import { testBounds } from '../helpers/bounds.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { addConnector, connectorRow, noSleep, StandIn } from './stand-in.ts';

// When a connector runs again that a network has refused, and when one that was cut off does.

const worker = startWorker();
const db = database(env.DB);
const NOW = Date.UTC(2026, 10, 20, 12);
let id: string;

beforeEach(async () => {
  id = await addConnector(worker, await createTenant(), 'pull');
});
afterEach(() => db.delete(table));

/** How long the connector waits after an answer, in milliseconds. */
async function waitAfter(retryAfter: string | null): Promise<number> {
  const network = new StandIn();
  const headers = new Headers(retryAfter === null ? {} : { 'Retry-After': retryAfter });
  network.failures.push([/./, () => new Response('no', { status: 503, headers })]);
  await db.update(table).set({ nextRunAt: NOW, startedAt: null, job: null }).where(eq(table.id, id));
  await runDueConnectors(env, NOW, network.fetch, noSleep);
  return (await connectorRow(id)).nextRunAt - NOW;
}

/** Whether a connector runs whose row has these. */
async function runs(changes: { nextRunAt: number; startedAt: number | null }): Promise<boolean> {
  const network = new StandIn();
  await db.update(table).set(changes).where(eq(table.id, id));
  await runDueConnectors(env, NOW, network.fetch, noSleep);
  return network.requests.length > 0;
}

testBounds('a connector that was refused', [
  {
    name: 'seconds that are asked for',
    at: 1,
    ask: (seconds: number) => waitAfter(String(seconds)),
    ...{ below: 0, exact: 1_000, above: 2_000 },
  },
  {
    name: 'an hour',
    at: 3_600,
    ask: (seconds: number) => waitAfter(String(seconds)),
    ...{ below: HOUR_MS - 1_000, exact: HOUR_MS, above: HOUR_MS + 1_000 },
  },
  {
    name: 'a day',
    at: 86_400,
    ask: (seconds: number) => waitAfter(String(seconds)),
    ...{ below: DAY_MS - 1_000, exact: DAY_MS, above: DAY_MS },
  },
  {
    name: 'a date',
    ...{ at: NOW + 5_000, step: 1_000 },
    ask: (at: number) => waitAfter(new Date(at).toUTCString()),
    ...{ below: 4_000, exact: 5_000, above: 6_000 },
  },
  {
    name: 'a date in the past',
    ...{ at: NOW, step: 1_000 },
    ask: (at: number) => waitAfter(new Date(at).toUTCString()),
    ...{ below: 0, exact: 0, above: 1_000 },
  },
  {
    name: 'nothing',
    at: 0,
    ask: () => waitAfter(null),
    ...{ below: HOUR_MS, exact: HOUR_MS, above: HOUR_MS },
  },
]);

testBounds('a connector runs', [
  {
    name: 'once it is due',
    at: NOW,
    ask: (nextRunAt: number) => runs({ nextRunAt, startedAt: null }),
    ...{ below: true, exact: true, above: false },
  },
  {
    name: 'again, 20 minutes after it was cut off',
    at: NOW - 20 * 60_000,
    ask: (startedAt: number) => runs({ nextRunAt: NOW, startedAt }),
    ...{ below: true, exact: false, above: false },
  },
]);
