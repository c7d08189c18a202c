import { setImmediate } from 'node:timers/promises';
import { runCommand } from '../../src/cli/command.ts';
import { readCount } from '../helpers/options.ts';
import { CountingBench } from './measure-counting.ts';
import { MonthCount } from './month-count.ts';
import { startRig } from './rig.ts';
import { makeTenant, type Tenant } from './tenant.ts';
import { ACQUISITION_DAYS, benchDay, DEVICES, makeDevices, median } from './workload.ts';

// `npm run bench:month -- --events 300000`: a month of one application, day after day through the consumer in full batches of the
// queue, then every report, whose figures are compared with a second count. They are printed as they come, so that a run that is ended
// early has still told what it saw.

const DAYS = 30;
const EVENTS = 10_000_000;
/** What a counter counts in one run when it is behind: see FULL_RUN in src/counting/runs/next-run.ts. */
const EVENTS_PER_RUN = 200_000;
const REPORT_ROUNDS = 3;
const SEED = 1;
const MB = 1e6;

const PERIOD = `from=${benchDay(DAYS - 1)}&to=${benchDay(0)}`;
const REPORTS: Record<string, string> = {
  'by day': `performance?${PERIOD}&group_by=day`,
  'by creative': `performance?${PERIOD}&group_by=creative`,
  'by day and creative': `performance?${PERIOD}&group_by=day,creative`,
  'by country': `performance?${PERIOD}&group_by=country`,
  retention: `retention?${PERIOD}&days=0,1,7,14,28`,
  'retention by creative': `retention?${PERIOD}&group_by=creative&days=0,1,7,14,28`,
  'retention by country': `retention?${PERIOD}&group_by=country&days=0,1,7,14,28`,
  LTV: `ltv?${PERIOD}&days=0,1,7,14,28`,
  'LTV by creative': `ltv?${PERIOD}&group_by=creative&days=0,1,7,14,28`,
  ads: `ads?${PERIOD}`,
  funnel: `funnel?${PERIOD}&steps=install,ad,purchase`,
  'client totals': `client-totals?${PERIOD}`,
};

const say = (...columns: string[]) => console.log(columns.map((column) => column.padStart(13)).join(''));
const rounded = (value: number) => (Number.isNaN(value) ? 'n/a' : String(Number(value.toPrecision(4))));

class Month {
  private readonly bench: CountingBench;
  private readonly applicationId: string;
  private readonly peakMemoryMb: () => Promise<number>;
  /** What was sent, to be counted once more. */
  readonly sent: { seed: number; age: number; events: number }[] = [];
  private events = 0;
  private milliseconds = 0;
  private cpuMilliseconds = 0;

  constructor(bench: CountingBench, applicationId: string, peakMemoryMb: () => Promise<number>) {
    this.bench = bench;
    this.applicationId = applicationId;
    this.peakMemoryMb = peakMemoryMb;
  }

  /** The installs and events of a day, so many days before the last. */
  async addDay(age: number, events: number): Promise<void> {
    const { bench, applicationId } = this;
    const days = { from: age === DAYS - 1 ? ACQUISITION_DAYS : age, to: age };
    const acquired = makeDevices(SEED, DEVICES).filter(
      ({ acquiredDay }) => acquiredDay >= benchDay(days.from) && acquiredDay <= benchDay(days.to),
    );
    if (acquired.length > 0)
      this.add(await bench.consume(applicationId, acquired.length, { installs: days, age }));
    for (let done = 0; done < events; done += EVENTS_PER_RUN) {
      const count = Math.min(EVENTS_PER_RUN, events - done);
      this.sent.push({ seed: bench.nextSeed, age, events: count });
      this.add(await bench.consume(applicationId, count, { age }));
      this.add({ events: 0, ...(await bench.ring(applicationId)) });
    }
    await this.print(benchDay(age));
  }

  private add(part: { events: number; milliseconds: number; cpuMilliseconds: number }): void {
    this.events += part.events;
    this.milliseconds += part.milliseconds;
    this.cpuMilliseconds += part.cpuMilliseconds;
  }

  private async print(day: string): Promise<void> {
    const { d1Bytes, bytes } = await this.bench.costs(this.applicationId);
    say(
      day,
      String(this.events),
      rounded(this.milliseconds / 1000),
      rounded((this.events / this.milliseconds) * 1000),
      rounded((this.cpuMilliseconds * 1000) / this.events),
      rounded(d1Bytes / MB),
      rounded(bytes / MB),
      rounded(await this.peakMemoryMb()),
    );
  }

  /** Exports what is still in the object, and prints the size of every store. */
  async printStores(empty: { d1Bytes: number; bytes: number }): Promise<void> {
    const before = await this.bench.costs(this.applicationId);
    const files = await this.bench.call<{ files: number; bytes: number }>(`/export/${this.applicationId}`);
    const after = await this.bench.costs(this.applicationId);
    const line = (store: string, bytes: number) =>
      console.log(
        `${store.padEnd(28)} ${rounded(bytes / MB).padStart(9)} MB  ${rounded(bytes / this.events).padStart(7)} bytes an event`,
      );
    line('D1', after.d1Bytes - empty.d1Bytes);
    line('object, before the export', before.bytes - empty.bytes);
    line('object, after the export', after.bytes - empty.bytes);
    line(`R2, ${files.files} files`, files.bytes);
  }
}

/** Median milliseconds of a request. */
async function timeRequest(url: URL, { teamToken }: Tenant, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    const response = await fetch(url, { headers: { 'Service-Token': teamToken } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}: ${text}`);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** All events of one device, page by page. */
async function timeHistory(
  url: URL,
  { teamToken }: Tenant,
): Promise<{ events: number; first: number; all: number }> {
  const startedAt = performance.now();
  let [events, first] = [0, 0];
  for (let cursor = ''; ; ) {
    url.searchParams.set('cursor', cursor);
    const response = await fetch(url, { headers: { 'Service-Token': teamToken } });
    if (!response.ok) throw new Error(`/v1/events answered ${response.status}: ${await response.text()}`);
    const page = (await response.json()) as { data: unknown[]; next_cursor: string | null };
    first ||= performance.now() - startedAt;
    events += page.data.length;
    if (!page.next_cursor) return { events, first, all: performance.now() - startedAt };
    cursor = page.next_cursor;
  }
}

const USAGE = `Usage: npm run bench:month -- [--events <number>]

Sends ${EVENTS.toLocaleString('en')} events over ${DAYS} days through the consumer, times every report and compares it with a second count.`;

async function main(events: number): Promise<void> {
  const rig = await startRig();
  try {
    const tenant = await makeTenant(rig.db);
    const bench = new CountingBench(rig, tenant, () => undefined);
    const startedAt = performance.now();
    const applicationId = await bench.open('Month');
    await bench.call(`/creatives/${applicationId}`);
    await bench.call(`/spend/${applicationId}`);
    const empty = await bench.costs(applicationId);
    const month = new Month(bench, applicationId, rig.peakMemoryMb);
    say('day', 'events', 'seconds', 'events/s', 'CPU µs/event', 'D1 MB', 'object MB', 'peak RSS MB');
    for (let age = DAYS - 1; age >= 0; age--) {
      const share =
        Math.round((events * (DAYS - age)) / DAYS) - Math.round((events * (DAYS - age - 1)) / DAYS);
      await month.addDay(age, share);
    }
    console.log();
    await month.printStores(empty);
    console.log();
    const url = await rig.url('service');
    for (const [name, query] of Object.entries(REPORTS)) {
      const report = new URL(`/v1/reports/${query}&application_id=${applicationId}`, url);
      console.log(
        `${name.padEnd(28)} ${rounded(await timeRequest(report, tenant, REPORT_ROUNDS)).padStart(9)} ms`,
      );
    }
    const count = new MonthCount(SEED, DEVICES, DAYS);
    for (const { seed, age, events } of month.sent) {
      count.addEvents(seed, age, events);
      // Otherwise the next request would not see that its idle connection was closed meanwhile.
      await setImmediate();
    }
    const compared = await count.compare(async (query) => {
      const report = new URL(`/v1/reports/${query}&${PERIOD}&application_id=${applicationId}`, url);
      const response = await fetch(report, { headers: { 'Service-Token': tenant.teamToken } });
      if (!response.ok) throw new Error(`${query} answered ${response.status}: ${await response.text()}`);
      return ((await response.json()) as { data: Record<string, unknown>[] }).data;
    });
    console.log(`\nfigures equal to a second count: ${compared}\n`);
    const device = makeDevices(SEED, 1)[0]?.id ?? '';
    const list = new URL(`/v1/events?application_id=${applicationId}&device_id=${device}&limit=200`, url);
    const history = await timeHistory(list, tenant);
    console.log(`${'events of a device, a page'.padEnd(28)} ${rounded(history.first).padStart(9)} ms`);
    console.log(`${`… all ${history.events}`.padEnd(28)} ${rounded(history.all).padStart(9)} ms`);
    console.log(
      `\npeak memory of workerd: ${rounded(await rig.peakMemoryMb())} MB, the making of the events included`,
    );
    console.log(`the whole run: ${rounded((performance.now() - startedAt) / 60_000)} minutes`);
  } finally {
    await rig.stop();
  }
}

await runCommand(
  { usage: USAGE, options: { events: { type: 'string', default: String(EVENTS) } } },
  async ({ values }) => main(readCount('events', values.events)),
);
