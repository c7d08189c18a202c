import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Rig } from './rig.ts';
import type { Tenant } from './tenant.ts';

// Receivers of destinations, in this process.

/** As long as a destination waits for an answer. */
const SLOW_MS = 15_000;

const ANSWERS = {
  fast: (response: ServerResponse) => void response.end('ok'),
  slow: (response: ServerResponse) => void setTimeout(() => response.end('ok'), SLOW_MS).unref(),
  failing: (response: ServerResponse) => void response.writeHead(503).end(),
};

/** Notes which events came when. */
export async function startReceiver(kind: keyof typeof ANSWERS = 'fast') {
  const ids = new Set<string>();
  const [times, repeats] = [[] as number[], { count: 0 }];
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    if (ids.has(id)) repeats.count++;
    ids.add(id);
    times.push(performance.now());
    request.resume().on('end', () => ANSWERS[kind](response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/`, ids, times, repeats, stop };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

async function callDestinations<Answer>(
  rig: Rig,
  tenant: Tenant,
  method: string,
  path: string,
  body: object,
) {
  const answer = await fetch(new URL(`/v1/destinations${path}`, await rig.url('service')), {
    method,
    headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`the destination was refused: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

/** Has an application's events sent to a receiver. Returns what switches that on and off. */
export async function addDestination(rig: Rig, tenant: Tenant, application_id: string, { url }: Receiver) {
  const events = ['ad', 'purchase', 'retention'];
  const { id } = await callDestinations<{ id: string }>(rig, tenant, 'POST', '', {
    ...{ application_id, kind: 'webhook', url, events },
  });
  return (enabled: boolean) => callDestinations(rig, tenant, 'PATCH', `/${id}`, { enabled });
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until nothing came for a while. */
export async function untilQuiet(
  { times }: Receiver,
  { quietMs, maxMs }: { quietMs: number; maxMs: number },
) {
  const startedAt = performance.now();
  // What came before does not count: a receiver is used several times.
  const isQuiet = () => performance.now() - Math.max(times.at(-1) ?? 0, startedAt) > quietMs;
  while (!isQuiet() && performance.now() < startedAt + maxMs) await wait(100);
}
