import { pick, seededRandom, shuffled } from '../helpers/random.ts';
import type { CounterCosts } from './bench-counter.ts';
import { makeCredentials } from './credentials.ts';
import { makeEnvelope } from './envelope.ts';
import { httpRequest, type Load, putLoad } from './load.ts';
import type { Rig, Role } from './rig.ts';
import type { Tenant } from './tenant.ts';
import { BATCH_EVENTS, median } from './workload.ts';

const SEED = 1;
const CONNECTIONS = 64;
/** Few enough that a request hardly waits for another: latencies of the service and not of its queue. */
const RELAXED_CONNECTIONS = 4;
/**
 * How long each part is under load in each round. Many short rounds: what else the machine does then falls on both sides of a ratio,
 * and its median means something. Of a single round of a second the same code gave 0.38, 0.52 and 0.71.
 */
export type Pace = { rounds: number; seconds: number };
export const FULL_PACE: Pace = { rounds: 25, seconds: 0.4 };
export const QUICK_PACE: Pace = { rounds: 7, seconds: 0.3 };
/** How long each part is under load before it is measured, so that its code is compiled. */
const WARM_UP_SECONDS = 1.5;
const PARTS = 11;
const ORGANIC_DEVICES = Array.from({ length: 200 }, (_, index) => ({
  id: `dev_${String(index).padStart(32, '0')}`,
  creativeId: null,
  acquiredDay: '2026-01-10',
}));
/** How often `step` is called. */
export const httpSteps = ({ rounds }: Pace) => PARTS * rounds;

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148';
const ANDROID =
  'Mozilla/5.0 (Linux; Android 14; SM-S911B Build/UP1A.231005.007) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Mobile Safari/537.36';
const CREATIVE = `crt_${'f'.repeat(32)}`;
const LINK = 'bench0123456789_-ABCDE';

/** Goes to the fallback, because the application is in no store for it: the click with the least to do. */
const TO_FALLBACK = { 'User-Agent': IPHONE };
/** Goes to Google Play with the signed id of its click, as most clicks on a link for Android do. Its address is stored as a keyed hash. */
const TO_STORE = { 'User-Agent': ANDROID, 'cf-connecting-ip': '203.0.113.7' };

/** A creative whose link leads to a store. */
async function makeLink(db: D1Database, applicationId: string): Promise<void> {
  const values = (...rest: unknown[]) => [...rest, applicationId, 0];
  const insert = (table: string, columns: string, ...rest: unknown[]) =>
    db
      .prepare(
        `INSERT INTO ${table} (${columns}, application_id, created_at) VALUES (${values(...rest).map(() => '?')})`,
      )
      .bind(...values(...rest));
  await db.batch([
    insert('campaigns', 'id, name', 'cmp_http', 'Campaign'),
    insert('adsets', 'id, campaign_id, name', 'ads_http', 'cmp_http', 'Ad set'),
    insert('creatives', 'id, adset_id, name, token', CREATIVE, 'ads_http', 'Creative', LINK),
    db
      .prepare('UPDATE applications SET android_store_url = ?, fallback_url = ? WHERE id = ?')
      .bind(
        'https://play.google.com/store/apps/details?id=com.example',
        'https://example.com/',
        applicationId,
      ),
  ]);
}

/** Of a phone that was opened just now, so that its click is sought. */
const METRICS = {
  type: 'device-metrics',
  created_at: new Date().toISOString(),
  data: {
    device_name: 'Pixel 9',
    device_model: 'Pixel 9',
    os_system: 'Android 16',
    timezone: 'Europe/Berlin',
  },
};

/** What a request costs, against routes that do less. */
export async function measureHttp(rig: Rig, tenant: Tenant, pace: Pace, step: (what: string) => void) {
  const { applicationId, apiKey, tokens } = await makeCredentials(rig.db, tenant, 'HTTP', ORGANIC_DEVICES);
  await makeLink(rig.db, applicationId);
  const random = seededRandom(SEED);
  const headers = { 'Content-Type': 'application/json', 'service-api-key': apiKey };
  const single = Array.from({ length: 500 }, () =>
    JSON.stringify(makeEnvelope(random, pick(random, tokens))),
  );
  const batches = Array.from({ length: 10 }, () =>
    JSON.stringify({
      events: Array.from({ length: BATCH_EVENTS }, () => makeEnvelope(random, pick(random, tokens))),
    }),
  );
  const devices = Array.from({ length: 20_000 }, (_, index) =>
    JSON.stringify({ ...METRICS, data: { ...METRICS.data, device_id: `bench-${index}` } }),
  );
  let nextDevice = 0;
  let seconds = WARM_UP_SECONDS;
  const post = async (role: Role, at = '/webhook', bodies = single, connections = CONNECTIONS) => {
    const url = await rig.url(role);
    const requests = bodies.map((body) => httpRequest(url, at, headers, body));
    return putLoad(url, requests, connections, seconds);
  };
  const click = async (role: Role, phone: Record<string, string>) => {
    const url = await rig.url(role);
    const request = httpRequest(url, `/t/${LINK}?gclid=1`, phone, null);
    return putLoad(url, [request], CONNECTIONS, seconds);
  };
  /** New devices each time. */
  const fetchTokens = async (role: Role) => {
    const result = await post(role, '/fetch-token', devices.slice(nextDevice, nextDevice + 5_000), 16);
    if (role === 'service') nextDevice += result.requests + 16;
    return result;
  };
  const parts = {
    service: () => post('service'),
    enqueueOnly: () => post('enqueue-only'),
    withoutQueue: () => post('service-without-queue'),
    bare: () => post('bare'),
    relaxed: () => post('service', '/webhook', single, RELAXED_CONNECTIONS),
    batch: () => post('service', '/webhook/batch', batches, 4),
    redirect: () => click('service-without-queue', TO_FALLBACK),
    storeRedirect: () => click('service-without-queue', TO_STORE),
    bareRedirect: () => click('bare', TO_STORE),
    fetchToken: () => fetchTokens('service'),
    twoRoundTrips: () => fetchTokens('two-round-trips'),
  };
  type Part = keyof typeof parts;
  // The parts of a ratio run one after another, in any order, so that the machine is equally busy with other things for each of them.
  const groups: Part[][] = [
    ['service', 'enqueueOnly'],
    ['withoutQueue', 'bare'],
    ['redirect', 'storeRedirect', 'bareRedirect'],
    ['fetchToken', 'twoRoundTrips'],
    ['relaxed'],
    ['batch'],
  ];
  const names = groups.flat();
  type Round = Load & { cpuSecondsPerRequest: number };
  const loads = Object.fromEntries(names.map((name) => [name, [] as Round[]])) as Record<Part, Round[]>;
  for (const name of names) await parts[name]();
  seconds = pace.seconds;
  const d1 = async () => {
    const response = await fetch(new URL('/d1', await rig.url('service')));
    return (await response.json()) as { statements: number; rowsWritten: number };
  };
  const queue = async () => {
    const response = await fetch(new URL('/queue', await rig.url('service')));
    return (await response.json()) as { messages: number; operations: number };
  };
  /** Rows that the application's counter has written. */
  const counterRows = async () => {
    const response = await fetch(new URL(`/costs/${applicationId}`, await rig.url('control')));
    return ((await response.json()) as CounterCosts).object.rowsWritten;
  };
  const statementsPerRequest: number[] = [];
  const tokenRows: number[] = [];
  const shared: { perMessage: number; operations: number }[] = [];
  for (let round = 0; round < pace.rounds; round++) {
    for (const name of shuffled(random, groups).flatMap((group) => shuffled(random, group))) {
      step(`HTTP, round ${round + 1} of ${pace.rounds}: ${name}`);
      const [before, counterBefore, queueBefore] = [await d1(), await counterRows(), await queue()];
      await rig.untilIdle();
      const cpuBefore = await rig.cpuSeconds();
      const result = await parts[name]();
      const cpuSeconds = (await rig.cpuSeconds()) - cpuBefore;
      const [after, counterAfter] = [await d1(), await counterRows()];
      const { requests } = result;
      if (name === 'service') {
        statementsPerRequest.push(Math.round(after.statements - before.statements) / requests);
        const { messages, operations } = await queue();
        shared.push({
          perMessage: requests / (messages - queueBefore.messages),
          operations: (operations - queueBefore.operations) / requests,
        });
      }
      if (name === 'fetchToken') {
        const rows = after.rowsWritten - before.rowsWritten + counterAfter - counterBefore;
        tokenRows.push(rows / requests);
      }
      if (result.failures > 0) throw new Error(`${result.failures} requests of "${name}" failed`);
      loads[name].push({ ...result, cpuSecondsPerRequest: cpuSeconds / requests });
    }
  }
  const rate = (name: Part) => median(loads[name].map(({ perSecond }) => perSecond));
  const ratio = (above: Part, below: Part) =>
    median(
      loads[above].map(({ perSecond }, round) => perSecond / (loads[below][round]?.perSecond ?? Number.NaN)),
    );
  const cpuMicroseconds = (name: Part) =>
    median(loads[name].map(({ cpuSecondsPerRequest }) => cpuSecondsPerRequest)) * 1e6;
  return {
    // Of a round in which no remembered credential was renewed in the background, as happens once in 40 s.
    d1_statements_per_warm_webhook: median(statementsPerRequest),
    webhook_rps: rate('service'),
    events_per_message_64: median(shared.map(({ perMessage }) => perMessage)),
    queue_ops_per_event_single: median(shared.map(({ operations }) => operations)),
    webhook_cpu_us: cpuMicroseconds('service'),
    enqueue_only_cpu_us: cpuMicroseconds('enqueueOnly'),
    webhook_vs_enqueue_only: ratio('service', 'enqueueOnly'),
    webhook_vs_bare: ratio('withoutQueue', 'bare'),
    webhook_p50_ms: median(loads.relaxed.map(({ p50 }) => p50)),
    webhook_p99_ms: median(loads.relaxed.map(({ p99 }) => p99)),
    batch_events_per_s: rate('batch') * BATCH_EVENTS,
    batch_cpu_us_per_event: cpuMicroseconds('batch') / BATCH_EVENTS,
    webhook_without_queue_rps: rate('withoutQueue'),
    webhook_without_queue_cpu_us: cpuMicroseconds('withoutQueue'),
    bare_rps: rate('bare'),
    bare_cpu_us: cpuMicroseconds('bare'),
    redirect_rps: rate('redirect'),
    redirect_cpu_us: cpuMicroseconds('redirect'),
    redirect_vs_bare: ratio('redirect', 'bareRedirect'),
    store_redirect_cpu_us: cpuMicroseconds('storeRedirect'),
    store_redirect_vs_bare: ratio('storeRedirect', 'bareRedirect'),
    bare_redirect_cpu_us: cpuMicroseconds('bareRedirect'),
    fetch_token_rps: rate('fetchToken'),
    fetch_token_cpu_us: cpuMicroseconds('fetchToken'),
    two_d1_round_trips_cpu_us: cpuMicroseconds('twoRoundTrips'),
    fetch_token_vs_two_d1_round_trips: ratio('fetchToken', 'twoRoundTrips'),
    // Of the database and the counter; the install is counted with other events.
    fetch_token_rows: median(tokenRows),
  };
}
