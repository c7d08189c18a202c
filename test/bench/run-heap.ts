import { parseArgs } from 'node:util';
import { FULL_RUN, nextRun } from '../../src/counting/runs/next-run.ts';
import { outbox } from '../../src/counting/schema.ts';
import { openStore } from '../../src/counting/store.ts';
import { loadParquet } from '../../src/lib/encoding/parquet.ts';
import { memoryStorage } from '../helpers/memory-storage.ts';
import { fillCounter } from './fill-counter.ts';
import { APPLICATION_ID, DEVICES } from './workload.ts';

// One run of a counter in a V8 whose heap is limited from outside (`node --max-old-space-size=64`), on SQLite in memory outside
// of that heap. Prints one line of JSON: events, runs, milliseconds of CPU and the largest heap that was seen between steps.

const { values } = parseArgs({
  options: {
    events: { type: 'string' },
    bytes: { type: 'string', default: '0' },
    names: { type: 'string', default: '0' },
  },
});
const total = Number(values.events);

let rowsWritten = 0;

const storage = memoryStorage((rows) => {
  rowsWritten += rows;
});
const store = openStore(storage);
await loadParquet();
fillCounter(storage, { events: total, bytes: Number(values.bytes), names: Number(values.names) });

/** How often the heap is looked at. */
const STEPS_PER_LOOK = 20;
const appendRows = rowsWritten;
let [runs, events, heap] = [0, 0, 0];
const cpu = process.cpuUsage();
for (;;) {
  const steps = nextRun(storage, APPLICATION_ID, FULL_RUN, Date.now());
  let step = steps.next();
  for (let count = 0; !step.done; count++) {
    if (count % STEPS_PER_LOOK === 0) heap = Math.max(heap, process.memoryUsage().heapUsed);
    step = steps.next();
  }
  if (!step.value) break;
  runs++;
  events += step.value.events;
}
const { user, system } = process.cpuUsage(cpu);
let d1Rows = 0;
for (const { payload } of store.select({ payload: outbox.payload }).from(outbox).all()) {
  for (const { rows } of JSON.parse(payload) as { rows: unknown[] }[]) d1Rows += rows.length;
}
const perEvent = (rows: number) => Number((rows / events).toFixed(3));
const rows = {
  append: perEvent(appendRows - DEVICES),
  settle: perEvent(rowsWritten - appendRows),
  d1: perEvent(d1Rows),
};
console.log(
  JSON.stringify({
    events,
    runs,
    rows,
    cpuMs: Math.round((user + system) / 1000),
    heapMb: Math.round(heap / 1e6),
  }),
);
