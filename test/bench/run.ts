import cliProgress from 'cli-progress';
import { runCommand } from '../../src/cli/command.ts';
import { LOG_SAMPLE } from '../../src/lib/log-sample.ts';
import { againstBar } from './bars.ts';
import { BURST_STEPS, measureBurst } from './measure-burst.ts';
import { CountingBench, countingSteps, FULL_SIZE, QUICK_SIZE } from './measure-counting.ts';
import { DELIVERY_STEPS, measureDeliveries } from './measure-deliveries.ts';
import { GROWTH_STEPS, measureGrowth } from './measure-growth.ts';
import { FULL_PACE, httpSteps, measureHttp, QUICK_PACE } from './measure-http.ts';
import { measureNeighbours, NEIGHBOUR_STEPS } from './measure-neighbours.ts';
import { FULL_PAGES, measurePages, PAGE_STEPS, QUICK_PAGES } from './measure-pages.ts';
import { measureReceivers, RECEIVER_STEPS } from './measure-receivers.ts';
import { measureScript, SCRIPT_STEPS } from './measure-script.ts';
import { FULL_YEAR, measureSegments, QUICK_YEAR, SEGMENT_STEPS } from './measure-segments.ts';
import { measureSharing, SHARING_STEPS } from './measure-sharing.ts';
import { measureSmall, SMALL_STEPS } from './measure-small.ts';
import { BENCH_OPTIONS, type Figures, medianFigures, PARTS, type Part, readOptions } from './options.ts';
import { type Consumption, priceOfAMillion } from './price.ts';
import { type Rig, startRig } from './rig.ts';
import { makeTenant, type Tenant } from './tenant.ts';
import { BATCH_EVENTS } from './workload.ts';

// `npm run bench`: what a request, an event and a report cost. Seeded and bounded; ratios come from the same run, whose parts
// are interleaved in a shuffled order, because a machine's speed varies. `-- --quick` for a short run, `-- --json` for machines,
// `-- --only http` for one part, `-- --rounds 3` for the medians of three runs of the parts that measure requests.

const LEFT_OUT = `Left out: reads of rows ($0.001 a million), the allotments of the plan, rows of \`/fetch-token\` and of clicks, alarms
(two rows a run), the network and the queue's latency. Stores are a local disk's, and one thread of workerd carries the service, its
counters and its database, which are apart in production. The log lines of the consumer are counted, those of requests are
taken as one in ${LOG_SAMPLE}.`;

type Http = Awaited<ReturnType<typeof measureHttp>>;
type Counting = Awaited<ReturnType<CountingBench['measure']>>;

/** Measures on a workerd of its own, with a fresh database, so that no part leaves anything to another. */
async function onFreshRig<Result>(work: (rig: Rig, tenant: Tenant) => Promise<Result>): Promise<Result> {
  const rig = await startRig();
  try {
    return await work(rig, await makeTenant(rig.db));
  } finally {
    await rig.stop();
  }
}

function pricesOf(http: Http, { figures, live }: Counting) {
  const counted = 1000 / figures.consumer_events_per_s;
  const consumption = (
    of: (typeof live)['single'],
    requests: number,
    webhookMilliseconds: number,
    queueOperations = of.queueOperations,
  ): Consumption => ({
    requests,
    // Counting is the object's, which is billed by the second and not by the CPU; so this is on the safe side.
    cpuMilliseconds: webhookMilliseconds + counted,
    queueOperations,
    rows: of.rows,
    logLines: of.logLines + requests / LOG_SAMPLE,
    objectCalls: of.calls,
    files: of.filesPerEvent,
    bytes: {
      d1: figures.d1_bytes_per_event_of_a_day - figures.d1_cube_bytes_per_event_of_a_day,
      parts: figures.d1_cube_bytes_per_event_of_a_day,
      object: figures.hot_bytes_per_event,
      // Base64 is for D1 only.
      file: figures.lake_bytes_per_event + 0.75 * figures.d1_cube_bytes_per_event_of_a_day,
    },
  });
  const webhook = 1000 / http.webhook_without_queue_rps;
  return {
    // Messages are shared; what else they cost is as if each event had its own, on the safe side.
    single: priceOfAMillion(consumption(live.single, 1, webhook, http.queue_ops_per_event_single)),
    single_alone: priceOfAMillion(consumption(live.single, 1, webhook)),
    batch: priceOfAMillion(consumption(live.batched, 1 / BATCH_EVENTS, 1000 / http.batch_events_per_s)),
  };
}

const print = (label: string, shares: Record<string, number>) => {
  const parts = Object.entries(shares).map(([part, share]) => `${part} ${share.toFixed(3)}`);
  console.log(`${label}: ${parts.join(', ')}`);
};

const USAGE = `Usage: npm run bench -- [--quick] [--json] [--only <part>]… [--rounds <number>]

Measures what requests, events and reports cost. --only runs one of its parts: ${PARTS.join(', ')}. --rounds takes the
medians of several runs of the parts that measure requests.`;

async function main({ parts, rounds, isQuick, isJson }: ReturnType<typeof readOptions>): Promise<void> {
  const [size, fullPace, pages, year] = isQuick
    ? [QUICK_SIZE, QUICK_PACE, QUICK_PAGES, QUICK_YEAR]
    : [FULL_SIZE, FULL_PACE, FULL_PAGES, FULL_YEAR];
  // Several runs share the rounds of one, so that they take about as long.
  const pace = { ...fullPace, rounds: Math.ceil(fullPace.rounds / rounds) };
  const steps: Record<Part, number> = {
    script: SCRIPT_STEPS,
    http: rounds * httpSteps(pace),
    sharing: SHARING_STEPS,
    counting: countingSteps(size),
    burst: BURST_STEPS,
    small: SMALL_STEPS,
    neighbours: NEIGHBOUR_STEPS + RECEIVER_STEPS,
    pages: rounds * PAGE_STEPS,
    segments: SEGMENT_STEPS,
    growth: GROWTH_STEPS,
    deliveries: DELIVERY_STEPS,
  };
  const bar = new cliProgress.SingleBar({
    format: '{bar} {what}',
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: 5000,
  });
  bar.start(
    parts.reduce((sum, part) => sum + steps[part], 0),
    0,
    { what: '' },
  );
  const step = (what: string) => bar.increment(1, { what });
  const repeat = async <Result extends Figures>(work: (rig: Rig, tenant: Tenant) => Promise<Result>) => {
    const runs: Result[] = [];
    for (let round = 0; round < rounds; round++) runs.push(await onFreshRig(work));
    return medianFigures(runs);
  };
  const has = (part: Part) => parts.includes(part);
  try {
    const script = has('script') ? await measureScript(isQuick ? 5 : 15, step) : {};
    const http = has('http') ? await repeat((rig, tenant) => measureHttp(rig, tenant, pace, step)) : null;
    const sharing = has('sharing')
      ? await onFreshRig((rig, tenant) => measureSharing(rig, tenant, isQuick, step))
      : {};
    const counting = has('counting')
      ? await onFreshRig((rig, tenant) => new CountingBench(rig, tenant, step).measure(size))
      : null;
    const burst = has('burst')
      ? await onFreshRig((rig, tenant) => measureBurst(rig, tenant, isQuick, step))
      : {};
    const small = has('small')
      ? await onFreshRig((rig, tenant) => measureSmall(rig, tenant, isQuick, step))
      : null;
    const neighbours = has('neighbours')
      ? {
          ...(await onFreshRig((rig, tenant) => measureNeighbours(rig, tenant, step))),
          ...(await onFreshRig((rig, tenant) => measureReceivers(rig, tenant, isQuick, step))),
        }
      : {};
    const pageFigures = has('pages') ? await repeat((rig) => measurePages(rig, pages, step)) : {};
    const segments = has('segments')
      ? await onFreshRig((rig, tenant) => measureSegments(rig, tenant, year, step))
      : {};
    const growth = has('growth')
      ? await onFreshRig((rig, tenant) => measureGrowth(rig, tenant, isQuick, step))
      : {};
    const deliveries = has('deliveries')
      ? await onFreshRig((rig, tenant) => measureDeliveries(rig, tenant, step))
      : {};
    bar.stop();
    const prices = http && counting ? pricesOf(http, counting) : null;
    const figures: Figures = {
      ...http,
      ...sharing,
      ...counting?.figures,
      ...burst,
      ...small?.figures,
      ...neighbours,
      ...pageFigures,
      ...segments,
      ...growth,
      ...deliveries,
      ...(prices
        ? {
            usd_per_million_single: prices.single.total,
            usd_per_million_single_alone: prices.single_alone.total,
            usd_per_million_batch: prices.batch.total,
          }
        : {}),
      ...script,
    };
    for (const [name, value] of Object.entries(figures)) {
      const figure = String(Number(value.toPrecision(4)));
      console.log(`${name.padEnd(44)} ${figure.padEnd(8)} ${againstBar(name, value)}`.trimEnd());
    }
    for (const [name, parts] of Object.entries(small?.bills ?? {})) print(`dollars a month, ${name}`, parts);
    for (const [name, price] of Object.entries(prices ?? {}))
      print(`dollars a million, ${name}`, price.parts);
    for (const [name, { tables }] of Object.entries(counting?.live ?? {})) {
      const largest = Object.entries(tables).sort(([, left], [, right]) => right - left);
      print(`rows written an event by table, ${name}`, Object.fromEntries(largest.slice(0, 8)));
    }
    console.log(`\n${LEFT_OUT}`);
    if (isJson) console.log(JSON.stringify(figures));
  } finally {
    bar.stop();
  }
}

await runCommand({ usage: USAGE, options: BENCH_OPTIONS }, async ({ values }) => main(readOptions(values)));
