import { database } from '../../src/db/index.ts';
import { signToken } from '../../src/ingestion/token.ts';
import { createApplication, createTeam } from '../../src/teams/index.ts';
import { pick, seededRandom, shuffled } from '../helpers/random.ts';
import { httpRequest, type Load, putLoad } from './load.ts';
import type { Rig, Role } from './rig.ts';
import { BATCH_EVENTS, median } from './workload.ts';

const SEED = 1;
const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 64;
/** Few enough that a request hardly waits for another: latencies of the service and not of its queue. */
const RELAXED_CONNECTIONS = 4;
/** How often `step` is called. */
export const HTTP_STEPS = 6 * ROUNDS;

type Credentials = { apiKey: string; tokens: string[] };

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
          shard: 0,
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

/** What a webhook costs, against routes that do less; the parts of a round in a shuffled order. */
export async function measureHttp(rig: Rig, step: (what: string) => void) {
  const { apiKey, tokens } = await makeCredentials(rig.db);
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
      SECONDS,
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
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of shuffled(random, names)) {
      step(`HTTP, round ${round + 1} of ${ROUNDS}: ${name}`);
      const before = await statements();
      const result = await parts[name]();
      if (name === 'service') {
        statementsPerRequest.push(((await statements()) - before) / (result.perSecond * SECONDS));
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
