import { parseArgs } from 'node:util';
import type { LoggedEvent } from '../../src/catalogue/index.ts';
import { insertDevice } from '../../src/counting/devices.ts';
import { appendFresh } from '../../src/counting/log.ts';
import { packEvents } from '../../src/counting/pack.ts';
import { outbox } from '../../src/counting/schema.ts';
import { SeenIds } from '../../src/counting/seen-ids.ts';
import { FULL_RUN, settleSteps } from '../../src/counting/settle.ts';
import { openStore } from '../../src/counting/store.ts';
import { PIXEL } from '../helpers/device-description.ts';
import { memoryStorage } from '../helpers/memory-storage.ts';
import { APPLICATION_ID, DEVICES, makeDevices, makeEvents } from './workload.ts';

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
const seen = new SeenIds(store);
/** A function of its own, so that what makes the events is not kept while they are counted. */
function fill(): void {
  const devices = makeDevices(1);
  for (const { id, acquiredDay, creativeId, country, os } of devices) {
    insertDevice(store, null, {
      id,
      acquiredDay,
      creativeId,
      acquiredAt: 1,
      description: { ...PIXEL, country, os },
      attribution: '{}',
    });
  }
  let minted = 0;
  const stream = makeEvents(3, devices, 1, () => `evt_${(++minted).toString(16).padStart(32, '0')}`);
  const padding = 'x'.repeat(Number(values.bytes));
  for (let made = 0; made < total; ) {
    const events: LoggedEvent[] = [];
    for (; events.length < 500 && made < total; made++) {
      const event = stream.next().value;
      if (event.type === 'click') continue;
      if (padding !== '') event.device = { ...event.device, padding };
      if (event.type === 'custom' && Number(values.names) > 0)
        event.event_name = `${made % Number(values.names)}`.repeat(20);
      events.push(event);
    }
    appendFresh(store, seen, packEvents(APPLICATION_ID, events), Date.now());
  }
}
fill();
seen.forget();

/** How often the heap is looked at. */
const STEPS_PER_LOOK = 20;
const appendRows = rowsWritten;
let [runs, events, heap] = [0, 0, 0];
const cpu = process.cpuUsage();
for (;;) {
  const steps = settleSteps(storage, APPLICATION_ID, FULL_RUN, Date.now());
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
  for (const [, rows] of JSON.parse(payload) as [string, unknown[]][]) d1Rows += rows.length;
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
