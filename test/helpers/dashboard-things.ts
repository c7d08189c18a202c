import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Demo } from '../../src/cli/seed-demo.ts';

const DAY_MS = 86_400_000;
/** Every so many deliveries, the receiver refuses one. */
const REFUSED_EVERY = 7;

async function create(demo: Demo, path: string, body: object): Promise<void> {
  const answer = await fetch(demo.base_url + path, {
    method: 'POST',
    headers: { [`${demo.service_name}-Token`]: demo.team_token, 'Content-Type': 'application/json' },
    body: JSON.stringify({ application_id: demo.application.id, ...body }),
  });
  if (answer.status !== 201) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
}

/** Takes what a destination sends, and refuses some of it. */
async function startReceiver(): Promise<Server> {
  let received = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    received++;
    response.statusCode = received % REFUSED_EVERY === 0 ? 400 : 200;
    response.end(response.statusCode === 400 ? '{"error":"unknown user"}' : '{"ok":true}');
  });
  await new Promise<void>((resolve) => {
    receiver.listen(0, '127.0.0.1', resolve);
  });
  return receiver;
}

/**
 * One of each thing that history alone does not make: alerts, a note, a connector, and a destination with its receiver, which gets what is
 * counted from then on. Close the receiver at the end.
 */
export async function addThings(demo: Demo): Promise<Server> {
  const receiver = await startReceiver();
  const { port } = receiver.address() as AddressInfo;
  const day = new Date(Date.now() - 9 * DAY_MS).toISOString().slice(0, 10);
  // Fires for none of them, even while the history is being counted.
  const watched = { kind: 'metric', metric: 'cpi', condition: 'above', threshold: 50, days: 7 };
  await create(demo, '/v1/alerts', { ...watched, group_by: 'campaign' });
  await create(demo, '/v1/alerts', { kind: 'no_events', threshold: 1 });
  await create(demo, '/v1/notes', { day, text: 'Version 2.3 released' });
  await create(demo, '/v1/connectors', {
    kind: 'pull',
    settings: { url: 'https://costs.example.com/daily.csv?from={from}&to={to}' },
    credentials: {},
  });
  await create(demo, '/v1/destinations', {
    kind: 'webhook',
    url: `http://127.0.0.1:${port}/in`,
    events: ['install', 'purchase'],
  });
  return receiver;
}
