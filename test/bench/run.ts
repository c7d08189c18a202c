import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';
import { ROOT } from '../../src/cli/local-state.ts';
import { database } from '../../src/db/index.ts';
import { signToken } from '../../src/ingestion/token.ts';
import { createApplication, createTeam } from '../../src/teams/index.ts';
import { pick, seededRandom, shuffled } from '../helpers/random.ts';
import { httpRequest, type Load, putLoad } from './load.ts';
import { measureBundle, measureStartup, type Rig, type Role, startRig } from './rig.ts';

// `npm run bench`: what a webhook, an event and a report cost. Seeded and bounded; ratios come from the same run, whose parts
// are interleaved in a shuffled order, because a shared machine's speed varies.

const SEED = 1;
const HTTP_ROUNDS = 5;
const HTTP_SECONDS = 2;
const CONNECTIONS = 64;
/** Few enough that a request hardly waits for another: latencies of the service and not of its queue. */
const RELAXED_CONNECTIONS = 4;
const BATCH_EVENTS = 500;

/** Cloudflare's list prices past the allotments, in dollars a million. */
const PRICE = { request: 0.3, cpuMillisecond: 0.02, queueOperation: 0.4, rowWritten: 1 };
/** A message is written, read and deleted, and each 64 KB of it is an operation. */
const OPERATIONS_PER_64_KB = 3;

const median = (values: number[]) =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;

type Credentials = { apiKey: string; tokens: string[] };

async function migrate(db: D1Database): Promise<void> {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    await readFile(path.join(ROOT, 'migrations/meta/_journal.json'), 'utf8'),
  );
  for (const { tag } of journal.entries) {
    const sql = await readFile(path.join(ROOT, 'migrations', `${tag}.sql`), 'utf8');
    await db.batch(sql.split('--> statement-breakpoint').map((statement) => db.prepare(statement)));
  }
}

async function makeCredentials(db: D1Database): Promise<Credentials> {
  const team = await createTeam(database(db), 'Bench', Date.now());
  const secret = 'a-key-encryption-secret-of-the-benchmark';
  const made = await createApplication(database(db), team.id, { name: 'Bench' }, secret, Date.now());
  const tokens = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      signToken(
        {
          tokenId: `tok_${String(index).padStart(32, '0')}`,
          applicationId: made.application.id,
          deviceId: `dev_${String(index).padStart(32, '0')}`,
          creativeId: null,
          acquiredDay: '2026-01-10',
          createdAt: Date.now(),
          expiresAt: Date.now() + 86_400_000,
        },
        'a-token-secret-of-the-benchmark-00000000',
      ),
    ),
  );
  return { apiKey: made.apiKey, tokens };
}

/** A webhook of the event mix. */
function makeEnvelope(random: () => number, token: string): Record<string, unknown> {
  const common = {
    created_at: '2026-01-12 10:00:00',
    creativeToken: token,
    device_name: 'Pixel 9',
    device_model: 'Pixel 9',
    os_system: 'Android 16',
    utc_offset: '+01:00',
  };
  const kind = random();
  const money = { value: Math.floor(random() * 20_000) / 1e6, currency: 'usd' };
  if (kind < 0.8) {
    const format = pick(random, ['rewarded_video', 'interstitial', 'banner', 'native', 'app_open']);
    const network = pick(random, ['admob', 'unity_ads', 'applovin', 'ironsource', 'meta_an', 'vungle']);
    return {
      ...common,
      type: 'custom.ad',
      payload: {
        ad_id: 'level_end',
        name: 'Level end',
        source: format,
        media_source: network,
        channel: 'paid',
        watch_time: 30,
        reward: true,
        ...money,
      },
    };
  }
  if (kind < 0.92)
    return {
      ...common,
      type: 'retention',
      retention_day: '2',
      payload: { retentionDay: '2', backfillDay: '1' },
    };
  if (kind < 0.98)
    return {
      ...common,
      type: 'custom',
      payload: { event_name: 'level_1', params: { value: '1', id: 'a', key: 'b' } },
    };
  return {
    ...common,
    type: 'custom.purchase',
    payload: { item_id: 'gold', item_name: 'Gold', status: 'completed', ...money },
  };
}

async function measureHttp(rig: Rig, { apiKey, tokens }: Credentials, step: (what: string) => void) {
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
  const load = async (role: Role, connections = CONNECTIONS, bodies = single, at = '/webhook') => {
    const url = await rig.url(role);
    return putLoad(
      url,
      bodies.map((body) => httpRequest(url, at, headers, body)),
      connections,
      HTTP_SECONDS,
    );
  };
  const parts = {
    service: () => load('service'),
    enqueueOnly: () => load('enqueue-only'),
    withoutQueue: () => load('service-without-queue'),
    bare: () => load('bare'),
    relaxed: () => load('service', RELAXED_CONNECTIONS),
    batch: () => load('service', 4, batches, '/webhook/batch'),
  };
  const names = Object.keys(parts) as (keyof typeof parts)[];
  const loads = Object.fromEntries(names.map((name) => [name, [] as Load[]])) as Record<
    keyof typeof parts,
    Load[]
  >;
  for (const name of names) await parts[name]();
  const statements = async () => {
    const response = await fetch(new URL('/d1-statements', await rig.url('service')));
    return ((await response.json()) as { statements: number }).statements;
  };
  const statementsPerRequest: number[] = [];
  for (let round = 0; round < HTTP_ROUNDS; round++) {
    for (const name of shuffled(random, names)) {
      step(`HTTP, round ${round + 1} of ${HTTP_ROUNDS}: ${name}`);
      const before = await statements();
      const result = await parts[name]();
      if (name === 'service') {
        statementsPerRequest.push(((await statements()) - before) / (result.perSecond * HTTP_SECONDS));
      }
      if (result.failures > 0) throw new Error(`${result.failures} requests of "${name}" failed`);
      loads[name].push(result);
    }
  }
  const rate = (name: keyof typeof parts) => median(loads[name].map(({ perSecond }) => perSecond));
  const ratio = (above: keyof typeof parts, below: keyof typeof parts) =>
    median(
      loads[above].map(({ perSecond }, round) => perSecond / (loads[below][round]?.perSecond ?? Number.NaN)),
    );
  return {
    // Of a round in which no remembered credential was renewed in the background, as happens once in 40 s.
    d1_statements_per_warm_webhook: median(statementsPerRequest),
    webhook_rps: rate('service'),
    webhook_vs_enqueue_only: ratio('service', 'enqueueOnly'),
    webhook_vs_bare: ratio('withoutQueue', 'bare'),
    webhook_p50_ms: median(loads.relaxed.map(({ p50 }) => p50)),
    webhook_p99_ms: median(loads.relaxed.map(({ p99 }) => p99)),
    batch_events_per_s: rate('batch') * BATCH_EVENTS,
    webhook_without_queue_rps: rate('withoutQueue'),
    bare_rps: rate('bare'),
  };
}

type Consumed = { events: number; messages: number; milliseconds: number; rowsWritten: number };

async function measureConsumer(rig: Rig, step: (what: string) => void) {
  const url = await rig.url('control');
  const call = async <Answer>(at: string, method = 'POST'): Promise<Answer> => {
    const response = await fetch(new URL(at, url), { method });
    if (!response.ok) throw new Error(`${at} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  };
  const consume = (events: number, perMessage: number, days: number, seed: number) =>
    call<Consumed>(`/consume?events=${events}&per_message=${perMessage}&days=${days}&seed=${seed}`);
  const report = async () => {
    const times: number[] = [];
    for (let index = 0; index < 9; index++)
      times.push((await call<{ milliseconds: number }>('/report', 'GET')).milliseconds);
    return median(times);
  };
  step('devices');
  await call('/devices');
  step('10,000 events');
  await consume(10_000, BATCH_EVENTS, 30, 2);
  step('report over 10,000 events');
  const report10k = await report();
  const live = async (perMessage: number, firstSeed: number) => {
    const parts: Consumed[] = [];
    for (let part = 0; part < 5; part++) {
      step(`a day of events, ${perMessage} a message, part ${part + 1} of 5`);
      parts.push(await consume(60_000, perMessage, 1, firstSeed + part));
    }
    return parts;
  };
  const single = await live(1, 10);
  const batched = await live(BATCH_EVENTS, 20);
  step('a month of events');
  await consume(390_000, BATCH_EVENTS, 30, 30);
  step('report over 1,000,000 events');
  const report1m = await report();
  step('the same with ROAS');
  await call('/spend');
  const reportWithRoas = await report();
  const total = (parts: Consumed[], key: keyof Consumed) => parts.reduce((sum, part) => sum + part[key], 0);
  const rate = (parts: Consumed[]) =>
    median(parts.map(({ events, milliseconds }) => (events / milliseconds) * 1000));
  return {
    consumer_events_per_s: rate(batched),
    consumer_events_per_s_single: rate(single),
    rows_written_per_event_single: total(single, 'rowsWritten') / total(single, 'events'),
    rows_written_per_event_batch: total(batched, 'rowsWritten') / total(batched, 'events'),
    report_ms_10k: report10k,
    report_ms_1m: report1m,
    report_ms_ratio_1m_vs_10k: report1m / report10k,
    // With costs, and every other currency converted by the rate of each day of earning.
    report_with_roas_ms_1m: reportWithRoas,
  };
}

function price(rows: number, operations: number, requests: number, cpuMilliseconds: number): number {
  return (
    PRICE.request * requests +
    PRICE.cpuMillisecond * cpuMilliseconds +
    PRICE.queueOperation * operations +
    PRICE.rowWritten * rows
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
  const bar = new cliProgress.SingleBar({
    format: '{bar} {what}',
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: 5000,
  });
  bar.start(6 * HTTP_ROUNDS + 19, 0, { what: '' });
  const step = (what: string) => bar.increment(1, { what });
  step('bundle');
  const bundleGzipKib = await measureBundle();
  step('start-up');
  const startups = [await measureStartup(), await measureStartup(), await measureStartup()];
  step('rig');
  const rig = await startRig();
  try {
    await migrate(rig.db);
    const http = await measureHttp(rig, await makeCredentials(rig.db), step);
    const consumer = await measureConsumer(rig, step);
    bar.stop();
    // A batch of 500 is some 190 KB in the queue, so three times 64 KB.
    const operationsBatch = (OPERATIONS_PER_64_KB * 3) / BATCH_EVENTS;
    const consumerCpu = 1000 / consumer.consumer_events_per_s;
    const figures = {
      ...http,
      ...consumer,
      queue_ops_per_event_single: OPERATIONS_PER_64_KB,
      queue_ops_per_event_batch: operationsBatch,
      usd_per_million_single: price(
        consumer.rows_written_per_event_single,
        OPERATIONS_PER_64_KB,
        1,
        1000 / http.webhook_without_queue_rps + 1000 / consumer.consumer_events_per_s_single,
      ),
      usd_per_million_batch: price(
        consumer.rows_written_per_event_batch,
        operationsBatch,
        1 / BATCH_EVENTS,
        consumerCpu + 1000 / http.batch_events_per_s,
      ),
      bundle_gzip_kib: bundleGzipKib,
      startup_cpu_ms: median(startups),
    };
    for (const [name, value] of Object.entries(figures))
      console.log(`${name.padEnd(34)} ${Number(value.toPrecision(4))}`);
    if (values.json) console.log(JSON.stringify(figures));
  } finally {
    bar.stop();
    await rig.stop();
  }
}

await main();
