import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';
import { CONSUMER_STEPS, measureConsumer } from './measure-consumer.ts';
import { HTTP_STEPS, measureHttp } from './measure-http.ts';
import { measureBundle, measureStartup, startRig } from './rig.ts';
import { BATCH_EVENTS, median } from './workload.ts';

// `npm run bench`: what a webhook, an event and a report cost. Seeded and bounded; ratios come from the same run, whose parts
// are interleaved in a shuffled order, because a machine's speed varies.

/** What each figure has to hold. */
const BARS: Record<string, ['>=' | '<=', number]> = {
  d1_statements_per_warm_webhook: ['<=', 0],
  webhook_vs_enqueue_only: ['>=', 0.85],
  webhook_vs_bare: ['>=', 0.5],
  batch_events_per_s: ['>=', 10_000],
  consumer_events_per_s: ['>=', 8_000],
  rows_written_per_event_single: ['<=', 2],
  rows_written_per_event_batch: ['<=', 1.3],
  report_ms_ratio_1m_vs_10k: ['<=', 1.5],
  usd_per_million_single: ['<=', 3.6],
  usd_per_million_batch: ['<=', 1.5],
  bundle_gzip_kib: ['<=', 600],
  startup_cpu_ms: ['<=', 60],
};

/** Cloudflare's list prices past the allotments, in dollars a million. */
const PRICE = { request: 0.3, cpuMillisecond: 0.02, queueOperation: 0.4, rowWritten: 1 };
/** A message is written, read and deleted, and each 64 KB of it is an operation. */
const OPERATIONS_PER_64_KB = 3;

function price(rows: number, operations: number, requests: number, cpuMilliseconds: number): number {
  return (
    PRICE.request * requests +
    PRICE.cpuMillisecond * cpuMilliseconds +
    PRICE.queueOperation * operations +
    PRICE.rowWritten * rows
  );
}

function againstBar(name: string, value: number): string {
  const [sign, bar] = BARS[name] ?? [];
  if (bar === undefined) return '';
  const isMet = sign === '>=' ? value >= bar : value <= bar;
  return `${sign} ${bar}${isMet ? '' : '  short of it'}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
  const bar = new cliProgress.SingleBar({
    format: '{bar} {what}',
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: 5000,
  });
  bar.start(HTTP_STEPS + CONSUMER_STEPS + 3, 0, { what: '' });
  const step = (what: string) => bar.increment(1, { what });
  step('bundle');
  const bundleGzipKib = await measureBundle();
  step('start-up');
  const startups = [await measureStartup(), await measureStartup(), await measureStartup()];
  step('rig');
  const rig = await startRig();
  try {
    const http = await measureHttp(rig, step);
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
    for (const [name, value] of Object.entries(figures)) {
      const figure = String(Number(value.toPrecision(4)));
      console.log(`${name.padEnd(34)} ${figure.padEnd(8)} ${againstBar(name, value)}`.trimEnd());
    }
    if (values.json) console.log(JSON.stringify(figures));
  } finally {
    bar.stop();
    await rig.stop();
  }
}

await main();
