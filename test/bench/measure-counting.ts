import type { CounterCosts } from './bench-counter.ts';
import type { Consumed, Load } from './control.ts';
import { bytesOfADay, LIVE_RUN, RUNS_PER_MERGE } from './price.ts';
import type { Rig } from './rig.ts';
import type { Timing } from './stopwatch.ts';
import { makeApplication, type Tenant } from './tenant.ts';
import { BATCH_EVENTS, benchDay, DEVICES, MANY_DEVICES, median } from './workload.ts';

/** How much is counted; `--quick` counts less. */
export type Size = {
  large: number;
  huge: number;
  run: number;
  rounds: number;
  liveRuns: number;
  /** The runs from which a whole day is extrapolated: two cycles of merges, which take several alarms, or without merges. */
  dayRuns: number;
};
export const FULL_SIZE: Size = {
  large: 1_000_000,
  huge: 3_000_000,
  run: 200_000,
  rounds: 3,
  liveRuns: 3,
  dayRuns: 2 * RUNS_PER_MERGE + 4,
};
export const QUICK_SIZE: Size = {
  large: 100_000,
  huge: 200_000,
  run: 50_000,
  rounds: 1,
  liveRuns: 2,
  dayRuns: 2,
};

/** A queue hands out a batch after 2 s or 100 messages: of 10 million events a day, 232 events. */
const SINGLE = { perRequest: 1, requestsPerBatch: 100 };
const BATCHED = { perRequest: BATCH_EVENTS, requestsPerBatch: 1 };
/** With a backlog, batches are full. */
const BACKLOG = { perRequest: BATCH_EVENTS, requestsPerBatch: 40 };

const MESSAGES_OF_A_HERD = 16;
/** Made before they are sent, because making them takes the same thread; as many as keep a counter busy for some seconds. */
const BUSY_EVENTS = 100_000;

type Speed = { perSecond: number; cpuMicroseconds: number };

function speedOf(events: number, ...parts: readonly Timing[]): Speed {
  const sum = (of: keyof Timing) => parts.reduce((total, part) => total + part[of], 0);
  return {
    perSecond: (events / sum('milliseconds')) * 1000,
    cpuMicroseconds: (sum('cpuMilliseconds') / events) * 1000,
  };
}

/** `partBytes`: those of `d1Bytes` that are parts of the cube. */
type Costs = CounterCosts & { d1Bytes: number; partBytes: number };

export class CountingBench {
  private readonly rig: Rig;
  private readonly tenant: Tenant;
  private readonly step: (what: string) => void;
  private seed = 1;

  constructor(rig: Rig, tenant: Tenant, step: (what: string) => void) {
    this.rig = rig;
    this.tenant = tenant;
    this.step = step;
  }

  async call<Answer>(at: string, method = 'POST', body?: unknown): Promise<Answer> {
    const response = await fetch(new URL(at, await this.rig.url('control')), {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${at} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  /** An application with devices and nothing else. */
  async open(name: string, devices = DEVICES, segments: 'many' | 'one' = 'many'): Promise<string> {
    const { applicationId } = await makeApplication(this.rig.db, this.tenant, name);
    await this.call(`/devices/${applicationId}/${devices}?segments=${segments}`);
    return applicationId;
  }

  /** The seed of the next load. */
  get nextSeed(): number {
    return this.seed;
  }

  async consume(applicationId: string, events: number, more: Partial<Load> = {}): Promise<Consumed> {
    const load: Load = {
      applicationId,
      events,
      ...BACKLOG,
      days: 1,
      seed: this.seed++,
      consumers: 1,
      ...more,
    };
    return this.call<Consumed>('/consume', 'POST', load);
  }

  count = (applicationId: string) => this.call<Timing>(`/count/${applicationId}`);
  ring = (applicationId: string) => this.call<Timing>(`/ring/${applicationId}`);
  costs = (applicationId: string) => this.call<Costs>(`/costs/${applicationId}`, 'GET');

  /** Takes and counts events over 30 days, in the runs of a backlog. */
  async fill(applicationId: string, events: number, run: number): Promise<void> {
    for (let done = 0; done < events; done += run) {
      this.step(`${(done / 1e6).toFixed(1)} of ${events / 1e6} million events over 30 days`);
      await this.consume(applicationId, Math.min(run, events - done), { days: 30 });
      await this.ring(applicationId);
    }
  }

  /** Events a second that a counter appends, counts and adds to D1, without what the consumer does before and the export after. */
  async counterSpeed(applicationId: string, events: number): Promise<Speed> {
    const appended = await this.call<Timing>(`/append/${applicationId}/${events}/${this.seed++}`);
    return speedOf(events, appended, await this.count(applicationId));
  }

  /** Events a second that a counter writes as raw event files, once they are counted. */
  async exportSpeed(applicationId: string): Promise<number> {
    const { hotEvents, milliseconds } = await this.call<{ hotEvents: number; milliseconds: number }>(
      `/export-speed/${applicationId}`,
    );
    return (hotEvents / milliseconds) * 1000;
  }

  /** Events a second, taken from the queue, counted and added to D1. */
  async speed(applicationId: string, events: number): Promise<Speed> {
    const consumed = await this.consume(applicationId, events);
    return speedOf(events, consumed, await this.count(applicationId));
  }

  /** Milliseconds of a report over HTTP. */
  async report(applicationId: string): Promise<number> {
    const query = `application_id=${applicationId}&from=${benchDay(29)}&to=${benchDay(0)}&group_by=day,creative`;
    const url = new URL(`/v1/reports/performance?${query}`, await this.rig.url('service'));
    const startedAt = performance.now();
    const response = await fetch(url, { headers: { 'Service-Token': this.tenant.teamToken } });
    const text = await response.text();
    if (!response.ok) throw new Error(`the report answered ${response.status}: ${text}`);
    const milliseconds = performance.now() - startedAt;
    const { data } = JSON.parse(text) as { data: unknown[] };
    if (data.length === 0) throw new Error('the report is empty, so its time means nothing');
    return milliseconds;
  }

  private async reports(applicationId: string): Promise<number> {
    const times: number[] = [];
    for (let index = 0; index < 11; index++) times.push(await this.report(applicationId));
    return median(times);
  }

  /** The report without costs and with them. */
  private async bothReports(applicationId: string): Promise<[plain: number, roas: number]> {
    const plain = await this.reports(applicationId);
    await this.call(`/spend/${applicationId}`);
    const roas = await this.reports(applicationId);
    await this.call('/spend', 'DELETE');
    return [plain, roas];
  }

  /** Rows of all stores and what else is billed, of a day in the life of an application; all that it wrote is deleted in the end. */
  async live(
    name: string,
    devices: number,
    requests: typeof SINGLE,
    runs: number,
    segments: 'many' | 'one' = 'many',
  ) {
    const app = await this.open(name, devices, segments);
    const before = await this.costs(app);
    let [queueOperations, logLines, batches] = [0, 0, 0];
    for (let run = 0; run < runs; run++) {
      this.step(`${name}: run ${run + 1} of ${runs}`);
      const consumed = await this.consume(app, LIVE_RUN, requests);
      await this.ring(app);
      queueOperations += consumed.queueOperations;
      logLines += consumed.logLines;
      batches += consumed.batches;
    }
    const counted = await this.costs(app);
    const files = await this.call<{ files: number }>(`/export/${app}`);
    await this.call(`/forget/${app}`);
    const after = await this.costs(app);
    const events = runs * LIVE_RUN;
    const rows = (from: Costs, to: Costs, store: 'object' | 'd1') =>
      (to[store].rowsWritten - from[store].rowsWritten) / events;
    return {
      rowsInObject: rows(before, counted, 'object'),
      rowsInD1: rows(before, counted, 'd1'),
      rowsDeleted: rows(counted, after, 'object') + rows(counted, after, 'd1'),
      rows: rows(before, after, 'object') + rows(before, after, 'd1'),
      tables: Object.fromEntries(
        (['object', 'd1'] as const).flatMap((store) =>
          Object.entries(after[store].tables).map(([table, written]) => [
            table,
            (written - (before[store].tables[table] ?? 0)) / events,
          ]),
        ),
      ),
      d1Bytes: (counted.d1Bytes - before.d1Bytes) / events,
      filesPerEvent: files.files / events,
      queueOperations: queueOperations / events,
      logLines: logLines / events,
      calls: batches / events,
    };
  }

  /** D1's bytes per event at the end of a day: of the cube, and of everything else. */
  async bytesOfADay(runs: number): Promise<{ parts: number; tables: number }> {
    const app = await this.open('A day');
    const sizes = [await this.costs(app)];
    for (let run = 0; run < runs; run++) {
      this.step(`a day: run ${run + 1} of ${runs}`);
      await this.call(`/append/${app}/${LIVE_RUN}/${this.seed++}`);
      await this.ring(app);
      sizes.push(await this.costs(app));
    }
    return {
      parts: bytesOfADay(sizes.map(({ partBytes }) => partBytes)),
      tables: bytesOfADay(sizes.map(({ d1Bytes, partBytes }) => d1Bytes - partBytes)),
    };
  }

  /** What 16 consumers at once read of all stores, against one. */
  async herd(): Promise<number> {
    const read = async (consumers: number) => {
      const app = await this.open(`${consumers} consumers`);
      const before = await this.costs(app);
      await this.consume(app, 60_000, { perRequest: BATCH_EVENTS, requestsPerBatch: 8, consumers, seed: 99 });
      await this.ring(app);
      const after = await this.costs(app);
      return after.object.rowsRead + after.d1.rowsRead - before.object.rowsRead - before.d1.rowsRead;
    };
    this.step('60,000 events, one consumer and 16 at once');
    const one = await read(1);
    return (await read(MESSAGES_OF_A_HERD)) / one;
  }

  /** A report while another application's counter takes events and counts them without a pause. */
  async besideABusyCounter(applicationId: string): Promise<number> {
    const alone = await this.reports(applicationId);
    const other = await this.open('Busy');
    await this.call(`/prepare/${other}/${BUSY_EVENTS}/${this.seed++}`);
    let isBusy = true;
    const feeding = (async () => {
      while (isBusy && !(await this.call<{ isEmpty: boolean }>(`/feed/${other}`)).isEmpty);
    })();
    const counting = (async () => {
      while (isBusy) await this.count(other);
    })();
    const beside = await this.reports(applicationId);
    isBusy = false;
    await Promise.all([feeding, counting]);
    return beside / alone;
  }

  async measure(size: Size) {
    const { step } = this;
    const main = await this.open('Main');
    await this.call(`/creatives/${main}`);
    const empty = await this.costs(main);
    await this.fill(main, 10_000, 10_000);
    step('reports over 10,000 events');
    const [report10k, roas10k] = await this.bothReports(main);
    await this.fill(main, size.large - 10_000, size.run);
    step(`reports over ${size.large} events`);
    const [report1m, roas1m] = await this.bothReports(main);
    const full = await this.costs(main);
    step('export');
    const files = await this.call<{ bytes: number }>(`/export/${main}`);
    const exported = await this.costs(main);
    const live = (name: string, devices: number, requests: typeof SINGLE) =>
      this.live(name, devices, requests, size.liveRuns);
    const single = await live('one event a message', DEVICES, SINGLE);
    const batched = await live('500 events a request', DEVICES, BATCHED);
    const plain = await this.live('one country and OS', DEVICES, BATCHED, size.liveRuns, 'one');
    const many = await live(`500 a request, ${MANY_DEVICES} devices`, MANY_DEVICES, BATCHED);
    const manySingle = await live(`one a message, ${MANY_DEVICES} devices`, MANY_DEVICES, SINGLE);
    const bytesOfADay = await this.bytesOfADay(size.dayRuns);
    const herd = await this.herd();
    const beforeMore = await this.costs(main);
    await this.fill(main, size.huge - size.large, size.run);
    const afterMore = await this.costs(main);
    const speeds: { consumer: Speed; fresh: Speed; full: Speed }[] = [];
    for (let round = 0; round < size.rounds; round++) {
      step(`speed, round ${round + 1} of ${size.rounds}`);
      const consumer = await this.speed(await this.open(`Consumer ${round}`), size.run);
      const fresh = await this.counterSpeed(await this.open(`Counter ${round}`), size.run);
      speeds.push({ consumer, fresh, full: await this.counterSpeed(main, size.run) });
    }
    const exportSpeed = await this.exportSpeed(main);
    step('client totals, funnel, erasure');
    const totals = await this.call<{ milliseconds: number }>(`/client-totals/${main}`);
    const funnel = await this.call<{ milliseconds: number }>(`/funnel/${main}`);
    const erasure = await this.call<{ milliseconds: number }>(`/erase/${main}/0`);
    step('reports beside a busy counter');
    const beside = await this.besideABusyCounter(main);
    return {
      live: { single, batched, manyBatched: many },
      figures: {
        // On one thread; in production the consumer and the counter have one each.
        consumer_events_per_s: median(speeds.map(({ consumer }) => consumer.perSecond)),
        consumer_cpu_us_per_event: median(speeds.map(({ consumer }) => consumer.cpuMicroseconds)),
        counter_events_per_s: median(speeds.map(({ fresh }) => fresh.perSecond)),
        counter_cpu_us_per_event: median(speeds.map(({ fresh }) => fresh.cpuMicroseconds)),
        [`counter_speed_ratio_at_${size.huge / 1e6}m`]: median(
          speeds.map(({ fresh, full }) => full.perSecond / fresh.perSecond),
        ),
        [`counter_cpu_ratio_at_${size.huge / 1e6}m`]: median(
          speeds.map(({ fresh, full }) => full.cpuMicroseconds / fresh.cpuMicroseconds),
        ),
        export_events_per_s: exportSpeed,
        rows_written_per_event_single: single.rows,
        rows_written_per_event_batch: batched.rows,
        rows_written_per_event_single_300k_devices: manySingle.rows,
        rows_written_per_event_batch_300k_devices: many.rows,
        rows_written_ratio_20_countries_vs_1: batched.rows / plain.rows,
        rows_in_object_per_event_batch: batched.rowsInObject,
        rows_in_d1_per_event_batch: batched.rowsInD1,
        rows_deleted_per_event_batch: batched.rowsDeleted,
        queue_ops_per_event_single_alone: single.queueOperations,
        queue_ops_per_event_batch: batched.queueOperations,
        d1_bytes_per_event: (full.d1Bytes - empty.d1Bytes) / size.large,
        d1_bytes_per_further_event: (afterMore.d1Bytes - beforeMore.d1Bytes) / (size.huge - size.large),
        d1_bytes_per_live_event: batched.d1Bytes,
        d1_bytes_per_event_of_a_day: bytesOfADay.parts + bytesOfADay.tables,
        d1_cube_bytes_per_event_of_a_day: bytesOfADay.parts,
        hot_bytes_per_event: (exported.bytes - empty.bytes) / size.large,
        lake_bytes_per_event: files.bytes / size.large,
        rows_read_16_consumers_vs_1: herd,
        report_ms_10k: report10k,
        report_ms_1m: report1m,
        report_ms_ratio_1m_vs_10k: report1m / report10k,
        report_roas_ms_1m: roas1m,
        report_roas_ms_ratio_1m_vs_10k: roas1m / roas10k,
        report_ms_ratio_beside_busy_counter: beside,
        client_totals_ms: totals.milliseconds,
        funnel_ms: funnel.milliseconds,
        erase_device_ms: erasure.milliseconds,
      },
    };
  }
}

/** How often `step` is called at most. */
export const countingSteps = ({ large, huge, run, rounds, liveRuns, dayRuns }: Size) =>
  2 + Math.ceil(large / run) + Math.ceil((huge - large) / run) + 5 * liveRuns + dayRuns + rounds + 5;
