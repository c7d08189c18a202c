import { WAIT_MS } from '../../src/counting/runs/pace.ts';
import { CountingBench } from './measure-counting.ts';
import { type Measured, priceOfAMonth } from './month-price.ts';
import type { Rig } from './rig.ts';
import type { Tenant } from './tenant.ts';
import { BATCH_EVENTS } from './workload.ts';

// An hour of applications of several sizes, one event per request. Watched: someone asks for a report every minute. Unwatched: counters
// count by their own alarms.

const DEVICES = 5_000;
const MINUTES = 60;
const DAY_MINUTES = 24 * MINUTES;
const SECONDS_PER_BATCH = 2;
/** How long a dashboard is open per day, for the month's price. */
const WATCHED_SHARE = 8 / 24;
/** Events per day, by the name of the size. The third is 23 events per second. */
const SIZES = { '10k': 10_000, '100k': 100_000, '2m': 2_000_000, '10m': 10_000_000 };
const SMALL = '2m';

export const SMALL_STEPS = 2 * Object.keys(SIZES).length;

async function measureHour(
  bench: CountingBench,
  eventsPerDay: number,
  isWatched: boolean,
): Promise<Measured & { ofRun: Record<'rows' | 'statements', number> }> {
  const app = await bench.open(`Small ${eventsPerDay} ${isWatched}`, DEVICES);
  const before = await bench.costs(app);
  const minutesPerRun = isWatched ? 1 : WAIT_MS / 60_000;
  const runs = MINUTES / minutesPerRun;
  let [events, cpuMilliseconds, logLines] = [0, 0, 0];
  for (let run = 1; run <= runs; run++) {
    const due = Math.round((eventsPerDay / DAY_MINUTES) * minutesPerRun * run) - events;
    const perBatch = Math.ceil((eventsPerDay / 86_400) * SECONDS_PER_BATCH);
    const consumed = await bench.consume(app, due, {
      perRequest: 1,
      requestsPerBatch: Math.min(perBatch, 100),
    });
    events += due;
    logLines += consumed.logLines;
    cpuMilliseconds += consumed.cpuMilliseconds;
    if (!isWatched) cpuMilliseconds += (await bench.ring(app)).cpuMilliseconds;
    else while (!(await bench.call<{ settled: boolean }>(`/settle/${app}`)).settled);
  }
  await bench.ring(app);
  const counted = await bench.costs(app);
  const ofRun = (what: 'rowsWritten' | 'statements') => (counted.d1[what] - before.d1[what]) / runs;
  const files = await bench.call<{ files: number; bytes: number }>(`/export/${app}`);
  const stored = await bench.costs(app);
  await bench.call(`/forget/${app}`);
  const after = await bench.costs(app);
  const rows = (store: 'd1' | 'object') => (after[store].rowsWritten - before[store].rowsWritten) / events;
  return {
    rows: { d1: rows('d1'), object: rows('object') },
    cpuMilliseconds: cpuMilliseconds / events,
    logLines: logLines / events,
    files: files.files / events,
    bytes: {
      d1: (stored.d1Bytes - before.d1Bytes) / events,
      object: (stored.bytes - before.bytes) / events,
      file: files.bytes / events,
    },
    runsPerDay: DAY_MINUTES / minutesPerRun,
    ofRun: { rows: ofRun('rowsWritten'), statements: ofRun('statements') },
  };
}

/** Figures of a day of which a dashboard is open for a part. */
function mixed(watched: Measured, unwatched: Measured): Measured {
  const mix = (of: (one: Measured) => number) =>
    WATCHED_SHARE * of(watched) + (1 - WATCHED_SHARE) * of(unwatched);
  return {
    ...unwatched,
    rows: { d1: mix(({ rows }) => rows.d1), object: mix(({ rows }) => rows.object) },
    cpuMilliseconds: mix((one) => one.cpuMilliseconds),
    runsPerDay: mix((one) => one.runsPerDay),
  };
}

export async function measureSmall(rig: Rig, tenant: Tenant, isQuick: boolean, step: (what: string) => void) {
  const bench = new CountingBench(rig, tenant, step);
  const figures: Record<string, number> = {};
  const bills: Record<string, Record<string, number>> = {};
  for (const [name, eventsPerDay] of Object.entries(isQuick ? { [SMALL]: SIZES[SMALL] } : SIZES)) {
    step(`an hour of ${eventsPerDay} events a day, watched`);
    const watched = await measureHour(bench, eventsPerDay, true);
    step(`an hour of ${eventsPerDay} events a day, unwatched`);
    const unwatched = await measureHour(bench, eventsPerDay, false);
    const prefix = name === SMALL ? 'small' : `hour_of_${name}`;
    const all = ({ rows }: Measured) => rows.d1 + rows.object;
    figures[`${prefix}_rows_per_event_watched`] = all(watched);
    figures[`${prefix}_rows_per_event_unwatched`] = all(unwatched);
    figures[`${prefix}_d1_rows_per_run`] = unwatched.ofRun.rows;
    figures[`${prefix}_d1_statements_per_run`] = unwatched.ofRun.statements;
    // An hour's files, of the one counter that such an application has.
    figures[`${prefix}_files_per_counter_and_day`] = unwatched.files * eventsPerDay;
    const day = mixed(watched, unwatched);
    for (const [sent, eventsPerRequest, more] of [
      ['', 1, {}],
      ['_single', 1, { isShared: true }],
      ['_batched', BATCH_EVENTS, {}],
      ['_batched_with_destination', BATCH_EVENTS, { destinations: 1 }],
      ['_batched_second_year', BATCH_EVENTS, { isSecondYear: true }],
    ] as const) {
      const bill = priceOfAMonth(eventsPerDay, eventsPerRequest, day, more);
      bills[`${name} events a day${sent.replaceAll('_', ' ')}`] = bill;
      figures[`usd_per_month_${name}_per_day${sent}`] = bill.total ?? Number.NaN;
    }
  }
  return { figures, bills };
}
