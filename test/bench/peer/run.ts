import { isDeepStrictEqual } from 'node:util';
import { runCommand } from '../../../src/cli/command.ts';
import { readCount } from '../../helpers/options.ts';
import { pick, seededRandom, shuffled } from '../../helpers/random.ts';
import { againstBar } from '../bars.ts';
import type { Credentials } from '../credentials.ts';
import { makeEnvelope } from '../envelope.ts';
import { httpRequest, sendAll } from '../load.ts';
import { BATCH_EVENTS, DEVICES, makeDevices, median } from '../workload.ts';
import { findPostgres, startPostgres, usualFolders } from './postgres.ts';
import { type Side, type Sums, startOurs, startPeer } from './sides.ts';

// `npm run bench:peer`: how fast events are acknowledged and counted, against a Fastify server that writes each event and the sums of
// its day to Postgres in one transaction. Both get the same requests in turns, and after each turn their sums must equal what was sent.

const NOTES = `Ours is one thread of workerd, with its counters and its database; the peer has a process of its own and Postgres's, on all cores.
Timed until the last event's sums are committed: for us after the queue, the counter's log and a run, for the peer with the answer.
Ours sums up by placement, item, hour, cohort, country, OS and app version too, keeps each device's state, and exports to R2 what is
more than 50,000 events behind; the peer keeps one row per day, creative and currency. The peer's disk has each transaction
before it answers (fsync is on); our local queue holds a message in memory.`;

const SEED = 1;

type Kind = { path: string; perRequest: number; connections: number; requests: number };
const FULL = {
  single: { path: '/webhook', perRequest: 1, connections: 64, requests: 10_000 },
  batch: { path: '/webhook/batch', perRequest: BATCH_EVENTS, connections: 8, requests: 100 },
} satisfies Record<string, Kind>;
type KindName = keyof typeof FULL;
const QUICK: Record<KindName, Kind> = {
  single: { ...FULL.single, requests: 2_000 },
  batch: { ...FULL.batch, requests: 20 },
};
const KIND_NAMES = Object.keys(FULL) as KindName[];
const SIDE_NAMES = ['ours', 'peer'] as const;
type SideName = (typeof SIDE_NAMES)[number];

type Turn = { eventsPerSecond: number; cpuMicroseconds: number };
type Envelope = Record<string, unknown>;

/** What a side must have counted of these envelopes. */
function addTo(sums: Sums, envelopes: readonly Envelope[]): void {
  for (const { type, payload } of envelopes) {
    if (type === 'custom.ad') {
      sums.impressions++;
      sums.ad_revenue_nanos += Math.round((payload as { value: number }).value * 1e9);
    } else if (type === 'custom.purchase') sums.purchases++;
    else if (type === 'retention') sums.sessions++;
    else sums.custom_events++;
  }
}

class Pair {
  private readonly sides: Record<SideName, Side>;
  private readonly credentials: Credentials;
  private readonly random = seededRandom(SEED);
  private readonly expected: Sums = {
    impressions: 0,
    ad_revenue_nanos: 0,
    purchases: 0,
    sessions: 0,
    custom_events: 0,
  };
  private sent = 0;

  constructor(sides: Record<SideName, Side>, credentials: Credentials) {
    this.sides = sides;
    this.credentials = credentials;
  }

  private makeEnvelopes(count: number): Envelope[] {
    const createdAt = new Date().toISOString().slice(0, 19).replace('T', ' ');
    return Array.from({ length: count }, () =>
      makeEnvelope(this.random, pick(this.random, this.credentials.tokens), createdAt),
    );
  }

  private makeRequests(side: Side, { path }: Kind, bodies: readonly unknown[]): Buffer[] {
    const headers = { 'Content-Type': 'application/json', 'service-api-key': this.credentials.apiKey };
    return bodies.map((body) => httpRequest(side.url, path, headers, JSON.stringify(body)));
  }

  private async check(): Promise<void> {
    for (const name of SIDE_NAMES) {
      const sums = await this.sides[name].sums();
      if (!isDeepStrictEqual(sums, this.expected)) {
        throw new Error(
          `${name} counted ${JSON.stringify(sums)} instead of ${JSON.stringify(this.expected)}`,
        );
      }
    }
  }

  /** Both sides count an event once that comes twice, by its id or by its key, and refuse what is malformed. */
  async checkRules(): Promise<void> {
    const [first = {}] = this.makeEnvelopes(1);
    const bought = {
      ...first,
      type: 'custom.purchase',
      eid: crypto.randomUUID(),
      dk: `GPA.${crypto.randomUUID()}`,
      payload: { item_id: 'gold', status: 'completed', value: 4.99, currency: 'usd' },
    };
    const repeats = [first, { ...bought, eid: crypto.randomUUID() }];
    const taken = [first, bought, ...repeats];
    const malformed = { ...first, eid: crypto.randomUUID(), created_at: '2026-02-30 10:00:00' };
    addTo(this.expected, [first, bought]);
    this.sent += taken.length;
    for (const name of SIDE_NAMES) {
      const side = this.sides[name];
      // One at a time: which of two at once is the repeat is not defined.
      await sendAll(side.url, this.makeRequests(side, FULL.single, taken), 1);
      const refused = await sendAll(side.url, this.makeRequests(side, FULL.single, [malformed]), 1).then(
        () => false,
        (error: Error) => error.message.endsWith('answered 400'),
      );
      if (!refused) throw new Error(`${name} does not refuse an impossible date`);
      await side.untilCounted(this.sent);
    }
    await this.check();
  }

  /** The same requests to both sides, one after the other. */
  async turn(kind: Kind): Promise<Record<SideName, Turn>> {
    const events = kind.requests * kind.perRequest;
    const envelopes = this.makeEnvelopes(events);
    const bodies = Array.from({ length: kind.requests }, (_, index) => {
      const own = envelopes.slice(index * kind.perRequest, (index + 1) * kind.perRequest);
      return kind.perRequest === 1 ? own[0] : { events: own };
    });
    addTo(this.expected, envelopes);
    this.sent += events;
    const turns = {} as Record<SideName, Turn>;
    for (const name of shuffled(this.random, SIDE_NAMES)) {
      const side = this.sides[name];
      const requests = this.makeRequests(side, kind, bodies);
      const [cpuBefore, startedAt] = [await side.cpuSeconds(), performance.now()];
      await sendAll(side.url, requests, kind.connections);
      await side.untilCounted(this.sent);
      const seconds = (performance.now() - startedAt) / 1000;
      turns[name] = {
        eventsPerSecond: events / seconds,
        cpuMicroseconds: (((await side.cpuSeconds()) - cpuBefore) * 1e6) / events,
      };
    }
    await this.check();
    return turns;
  }
}

/** Medians of each side, and the median of the rounds' ratios. */
function figuresOf(name: KindName, turns: readonly Record<SideName, Turn>[]): Record<string, number> {
  const of = (side: SideName, figure: keyof Turn) => median(turns.map((turn) => turn[side][figure]));
  return {
    [`counted_vs_postgres_${name}`]: median(
      turns.map(({ ours, peer }) => ours.eventsPerSecond / peer.eventsPerSecond),
    ),
    [`counted_events_per_s_${name}`]: of('ours', 'eventsPerSecond'),
    [`postgres_events_per_s_${name}`]: of('peer', 'eventsPerSecond'),
    [`counted_cpu_us_per_event_${name}`]: of('ours', 'cpuMicroseconds'),
    [`postgres_cpu_us_per_event_${name}`]: of('peer', 'cpuMicroseconds'),
    [`counted_cpu_vs_postgres_${name}`]: median(
      turns.map(({ ours, peer }) => ours.cpuMicroseconds / peer.cpuMicroseconds),
    ),
  };
}

/** Stops one after the other, then throws the first error. */
async function stopEach(stops: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const stop of stops) await stop().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

const USAGE = `Usage: npm run bench:peer -- [--quick] [--json] [--rounds <number>]

Compares acknowledging and counting events with a Fastify server on Postgres, which must be installed.`;

const OPTIONS = {
  json: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  rounds: { type: 'string', default: '7' },
} as const;

async function main(values: { json: boolean; quick: boolean }, rounds: number): Promise<number> {
  const kinds = values.quick ? QUICK : FULL;
  const programs = await findPostgres(await usualFolders());
  if (programs === null) {
    console.error(
      "Postgres is not installed (Debian's package `postgresql`), so there is nothing to compare with.",
    );
    return 1;
  }
  const stops: (() => Promise<void>)[] = [];
  let stopping: Promise<void> | null = null;
  // Once, and each of them whether or not another fails: an interrupt also reaches Postgres, so the peer may lose its connection first.
  const stopAll = () => {
    stopping ??= stopEach(stops.toReversed());
    return stopping;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void stopAll().finally(() => process.exit(1)));
  }
  try {
    const cluster = await startPostgres(programs);
    stops.push(cluster.stop);
    const devices = makeDevices(SEED, DEVICES);
    const ours = await startOurs(devices);
    stops.push(ours.stop);
    const peer = await startPeer(cluster, devices, ours.credentials);
    stops.push(peer.stop);
    const pair = new Pair({ ours, peer }, ours.credentials);
    await pair.checkRules();
    const turns: Record<KindName, Record<SideName, Turn>[]> = { single: [], batch: [] };
    // The first round compiles the code of both.
    for (let round = 0; round <= rounds; round++) {
      for (const name of KIND_NAMES) {
        const turn = await pair.turn(kinds[name]);
        if (round > 0) turns[name].push(turn);
        const [one, other] = SIDE_NAMES.map(
          (side) => `${side} ${Math.round(turn[side].eventsPerSecond)} events/s`,
        );
        console.error(
          `${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}, ${name}: ${one}, ${other}`,
        );
      }
    }
    const figures: Record<string, number> = Object.assign(
      {},
      ...KIND_NAMES.map((name) => figuresOf(name, turns[name])),
    );
    for (const [name, value] of Object.entries(figures)) {
      const figure = String(Number(value.toPrecision(4)));
      console.log(`${name.padEnd(44)} ${figure.padEnd(8)} ${againstBar(name, value)}`.trimEnd());
    }
    console.log(`\n${NOTES}`);
    if (values.json) console.log(JSON.stringify(figures));
  } finally {
    await stopAll();
  }
  return 0;
}

await runCommand({ usage: USAGE, options: OPTIONS }, ({ values }) =>
  main(values, readCount('rounds', values.rounds)),
);
