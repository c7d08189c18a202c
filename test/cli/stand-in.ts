import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { EventEnvelope, keysOfEnvelope } from '#catalogue';
import type { Target } from '../../src/cli/import/file.ts';

type Body = Record<string, unknown>;
type SentDevice = { created_at: string; data: Record<string, string> };
type Answer = { status: number; body: unknown; headers?: Record<string, string> };

/** A service that imports talk to: it checks events like the real one and counts an event once, however often it arrives. */
export async function startStandIn() {
  const seen = new Set<string>();
  const known = new Map<string, SentDevice>();
  const state = {
    /** Requests by path, in order. */
    asked: [] as { path: string; headers: IncomingMessage['headers']; body: Body; bytes: Buffer }[],
    /** The devices, by id. */
    devices: known,
    /** The events that count, in order. */
    events: [] as Body[],
    /** Answers a request in place of the service, or closes the connection. */
    intercept: (_path: string, _body: Body): Answer | 'hang up' | null => null,
  };

  function takeEvents(events: Body[], key?: string): Answer {
    const results = events.map((event, index) => {
      const parsed = EventEnvelope.safeParse(event);
      if (!parsed.success)
        return {
          index,
          error: 'malformed',
          details: parsed.error.issues.map((issue) => issue.path.join('.')),
        };
      const keys = keysOfEnvelope(key, parsed.data);
      if (!keys.some((key) => seen.has(key))) state.events.push(event);
      for (const key of keys) seen.add(key);
      return { index, event_id: `evt_${index}` };
    });
    const accepted = results.filter((result) => 'event_id' in result).length;
    return { status: 200, body: { success: true, accepted, rejected: events.length - accepted, results } };
  }

  function answer(path: string, body: Body, headers: IncomingMessage['headers']): Answer {
    if (path === '/webhook') {
      const taken = takeEvents([body], headers['idempotency-key']?.toString());
      return (taken.body as { rejected: number }).rejected === 0 ? taken : { ...taken, status: 400 };
    }
    if (path === '/webhook/batch') return takeEvents(body.events as Body[]);
    if (path === '/v1/creatives') {
      const link = `https://t.example.com/t/link-of-${body.campaign}/${body.adset}/${body.creative}`;
      return {
        status: 201,
        body: { creative: { tracking_link: link.replaceAll(/(?<=link-of-.*)\//g, '|') } },
      };
    }
    const results = (body.devices as SentDevice[]).map((device, index) => {
      const id = device.data.device_id ?? '';
      if (!known.has(id)) known.set(id, device);
      return { index, token: `token-of-${id}` };
    });
    return { status: 200, body: { results } };
  }

  const server = createServer(async (request, response) => {
    const bytes = await buffer(request);
    const isJson = request.headers['content-type'] === 'application/json';
    const body: Body = isJson ? JSON.parse(bytes.toString()) : {};
    const path = request.url ?? '';
    state.asked.push({ path, headers: request.headers, body, bytes });
    const answered = state.intercept(path, body) ?? answer(path, body, request.headers);
    if (answered === 'hang up') {
      request.socket.destroy();
      return;
    }
    const { status, body: sent, headers } = answered;
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(sent));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const target: Target = { url: `http://127.0.0.1:${port}`, apiKey: 'key', headerName: 'service-api-key' };
  return Object.assign(state, {
    target,
    requests: (path: string) => state.asked.filter((request) => request.path === path),
    stop: () => new Promise((resolve) => server.close(resolve)),
  });
}
