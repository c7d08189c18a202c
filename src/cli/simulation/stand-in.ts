import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { devicesAd } from './apple-ads.ts';
import { maxReport, SIMULATED_KEY, type Simulated, tiktokCosts } from './told.ts';

// Answers in the place of the services that a simulated application is connected to, none of which exists. Requests that were not simulated, such as
// those of a connector with a real key, are passed on to whom they are for.

/** Hosts of receivers that nobody can own (RFC 2606). */
export const RECEIVER_URL = 'https://receiver.example/events';
/** Every so many deliveries, the receiver refuses one. */
const REFUSED_EVERY = 12;
const NOT_PASSED_ON = new Set(['host', 'connection', 'content-length', 'stand-in-for', 'accept-encoding']);
const NOT_PASSED_BACK = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'connection']);

type SimulatedRequest = { method: string; url: URL; headers: Headers; body: string };
type SimulatedAnswer = { status: number; body: string; headers?: Record<string, string> };

const json = (body: unknown, status = 200): SimulatedAnswer => ({ status, body: JSON.stringify(body) });

/** The answer to a simulated request; null for any other. `delivered`: how many deliveries there were before. */
function answerFor(
  { url, headers, body }: SimulatedRequest,
  simulated: Simulated,
  delivered: number,
): SimulatedAnswer | null {
  const { hostname, pathname, searchParams } = url;
  if (hostname === new URL(RECEIVER_URL).hostname) {
    return delivered % REFUSED_EVERY === REFUSED_EVERY - 1
      ? json({ error: 'unknown user' }, 400)
      : json({ ok: true });
  }
  if (hostname === 'api-adservices.apple.com') {
    const device = /^simulated (.+)$/.exec(Buffer.from(body, 'base64').toString())?.[1];
    return device === undefined ? null : json(devicesAd(device));
  }
  if (hostname === 'r.applovin.com' && searchParams.get('api_key') === SIMULATED_KEY) {
    const report = new URL(`https://reports.example/${SIMULATED_KEY}`);
    for (const name of ['date', 'platform']) report.searchParams.set(name, searchParams.get(name) ?? '');
    return json({ ad_revenue_report_url: report.href });
  }
  if (hostname === 'reports.example') {
    const [date, platform] = [searchParams.get('date') ?? '', searchParams.get('platform') ?? ''];
    return {
      status: 200,
      body: maxReport(simulated, date, platform),
      headers: { 'Content-Type': 'text/csv' },
    };
  }
  if (hostname === 'business-api.tiktok.com' && headers.get('Access-Token') === SIMULATED_KEY) {
    const data = pathname.endsWith('/advertiser/info/')
      ? { list: [{ currency: 'USD', timezone: simulated.timezone }] }
      : tiktokCosts(simulated, searchParams.get('start_date') ?? '', searchParams.get('end_date') ?? '');
    return json({ code: 0, message: 'OK', data });
  }
  return null;
}

async function passOn({ method, url, headers, body }: SimulatedRequest): Promise<SimulatedAnswer> {
  const passed = [...headers].filter(([name]) => !NOT_PASSED_ON.has(name));
  const init = { method, headers: passed, redirect: 'manual', ...(body === '' ? {} : { body }) } as const;
  const answer = await fetch(url, init);
  const back = [...answer.headers].filter(([name]) => !NOT_PASSED_BACK.has(name));
  return { status: answer.status, body: await answer.text(), headers: Object.fromEntries(back) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** What `npm run simulate` keeps in the state directory for the stand-in. */
export const simulatedFile = (directory: string): string => path.join(directory, 'simulated.json');

const NOTHING: Simulated = { timezone: 'UTC', ads: [], costs: [] };

/** Starts the stand-in on a free port of this machine. Returns its address, which other local users cannot guess. */
export async function startStandIn(directory: string): Promise<{ url: string; close: () => void }> {
  const secret = `/${randomUUID()}/`;
  let delivered = 0;
  const server = createServer(async (request, response) => {
    const to = request.headers['stand-in-for'];
    if (request.url !== secret || typeof to !== 'string' || !URL.canParse(to)) {
      response.writeHead(404).end();
      return;
    }
    const headers = new Headers(
      Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const asked = { method: request.method ?? 'GET', url: new URL(to), headers, body: await textOf(request) };
    const text = await readFile(simulatedFile(directory), 'utf8').catch(() => null);
    const simulated: Simulated = text === null ? NOTHING : JSON.parse(text);
    if (to.startsWith(RECEIVER_URL)) delivered++;
    const answer = answerFor(asked, simulated, delivered) ?? (await passOn(asked).catch(() => null));
    // Ends the connection, as a service does that cannot be reached.
    if (answer === null) response.destroy();
    else
      response
        .writeHead(answer.status, answer.headers ?? { 'Content-Type': 'application/json' })
        .end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The stand-in has no port');
  // It must not keep the process alive.
  server.unref();
  return { url: `http://127.0.0.1:${address.port}${secret}`, close: () => server.close() };
}
