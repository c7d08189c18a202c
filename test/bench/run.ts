import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';
import { LOG_SAMPLE } from '../../src/lib/log-sample.ts';
import { againstBar } from './bars.ts';
import { CountingBench, countingSteps, FULL_SIZE, QUICK_SIZE } from './measure-counting.ts';
import { measureHeap } from './measure-heap.ts';
import { FULL_PACE, httpSteps, measureHttp, QUICK_PACE } from './measure-http.ts';
import { FULL_PAGES, measurePages, PAGE_STEPS, QUICK_PAGES } from './measure-pages.ts';
import { FULL_YEAR, measureSegments, QUICK_YEAR, SEGMENT_STEPS } from './measure-segments.ts';
import { type Consumption, priceOfAMillion } from './price.ts';
import { measureBundle, measureStartup, startRig } from './rig.ts';
import { makeTenant } from './tenant.ts';
import { BATCH_EVENTS, median } from './workload.ts';

// `npm run bench`: what a request, an event and a report cost. Seeded and bounded; ratios come from the same run, whose parts
// are interleaved in a shuffled order, because a machine's speed varies. `-- --quick` for a short run, `-- --json` for machines.

const LEFT_OUT = `Left out: reads of rows ($0.001 a million), the allotments of the plan, rows of \`/fetch-token\` and of clicks, alarms
(two rows a run), the network and the queue's latency. Stores are a local disk's, and one thread of workerd carries the service, its
counters and its database, which are apart in production. The log lines of the consumer are counted, those of requests are
taken as one in ${LOG_SAMPLE}.`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
  });
  const [size, pace, pages] = values.quick
    ? [QUICK_SIZE, QUICK_PACE, QUICK_PAGES]
    : [FULL_SIZE, FULL_PACE, FULL_PAGES];
  const bar = new cliProgress.SingleBar({
    format: '{bar} {what}',
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: 5000,
  });
  bar.start(httpSteps(pace) + countingSteps(size) + PAGE_STEPS + SEGMENT_STEPS + 4, 0, { what: '' });
  const step = (what: string) => bar.increment(1, { what });
  step('bundle');
  const bundleGzipKib = await measureBundle();
  step('start-up');
  const startups: number[] = [];
  for (let round = 0; round < (values.quick ? 1 : 3); round++) startups.push(await measureStartup());
  step('heap of a run');
  const heap = {
    // The smallest heap of a V8 in which it works, of 56, 64, 72, 96 and 128 MB; SQLite's own memory is outside of it.
    settle_heap_mb_200k: await measureHeap('--events', '200000'),
    settle_heap_mb_20k_of_6_kb: await measureHeap('--events', '20000', '--bytes', '6000'),
  };
  step('rig');
  const rig = await startRig();
  try {
    const tenant = await makeTenant(rig.db);
    const http = await measureHttp(rig, tenant, pace, step);
    const counting = await new CountingBench(rig, tenant, step).measure(size);
    const pageFigures = await measurePages(rig, pages, step);
    const segments = await measureSegments(rig, tenant, values.quick ? QUICK_YEAR : FULL_YEAR, step);
    bar.stop();
    const { single, batched } = counting.live;
    const { d1_bytes_per_event_of_a_day, hot_bytes_per_event, lake_bytes_per_event } = counting.figures;
    const counted = 1000 / counting.figures.consumer_events_per_s;
    const consumption = (
      live: typeof single,
      requests: number,
      webhookMilliseconds: number,
    ): Consumption => ({
      requests,
      // Counting is the object's, which is billed by the second and not by the CPU; so this is on the safe side.
      cpuMilliseconds: webhookMilliseconds + counted,
      queueOperations: live.queueOperations,
      rows: live.rows,
      logLines: live.logLines + requests / LOG_SAMPLE,
      objectCalls: live.calls,
      files: live.filesPerEvent,
      bytes: {
        d1: d1_bytes_per_event_of_a_day,
        object: hot_bytes_per_event,
        file: lake_bytes_per_event,
      },
    });
    const prices = {
      single: priceOfAMillion(consumption(single, 1, 1000 / http.webhook_without_queue_rps)),
      batch: priceOfAMillion(consumption(batched, 1 / BATCH_EVENTS, 1000 / http.batch_events_per_s)),
    };
    const figures: Record<string, number> = {
      ...http,
      ...counting.figures,
      ...pageFigures,
      ...segments,
      usd_per_million_single: prices.single.total,
      usd_per_million_batch: prices.batch.total,
      ...heap,
      bundle_gzip_kib: bundleGzipKib,
      startup_cpu_ms: median(startups),
    };
    for (const [name, value] of Object.entries(figures)) {
      const figure = String(Number(value.toPrecision(4)));
      console.log(`${name.padEnd(44)} ${figure.padEnd(8)} ${againstBar(name, value)}`.trimEnd());
    }
    for (const [name, { parts }] of Object.entries(prices)) {
      const shares = Object.entries(parts).map(([part, dollars]) => `${part} ${dollars.toFixed(3)}`);
      console.log(`dollars a million, ${name}: ${shares.join(', ')}`);
    }
    for (const [name, { tables }] of Object.entries(counting.live)) {
      const largest = Object.entries(tables).sort(([, left], [, right]) => right - left);
      const shares = largest.slice(0, 8).map(([table, rows]) => `${table} ${rows.toFixed(3)}`);
      console.log(`rows written an event by table, ${name}: ${shares.join(', ')}`);
    }
    console.log(`\n${LEFT_OUT}`);
    if (values.json) console.log(JSON.stringify(figures));
  } finally {
    bar.stop();
    await rig.stop();
  }
}

await main();
