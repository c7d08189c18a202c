import { scheduler } from 'node:timers/promises';
import { FULL_RUN } from '../../src/counting/runs/settle.ts';
import { Settler } from '../../src/counting/runs/settler.ts';
import { openStore } from '../../src/counting/store.ts';
import { fillCounter } from '../bench/fill-counter.ts';
import { APPLICATION_ID } from '../bench/workload.ts';
import { memoryStorage } from '../helpers/memory-storage.ts';

// Several counters of one isolate count at once, in a V8 whose heap is limited from outside, on SQLite in memory outside of that heap. Prints one
// line of JSON: how many events they counted.

const COUNTERS = 4;
const EVENTS = 40_000;

// What a Worker has without importing it.
Object.assign(globalThis, { scheduler });

const settlers = Array.from({ length: COUNTERS }, () => {
  const storage = memoryStorage();
  fillCounter(storage, { events: EVENTS, bytes: 0, names: EVENTS });
  const store = openStore(storage);
  const settler = new Settler({
    store: () => store,
    storage: () => storage,
    applicationId: () => APPLICATION_ID,
    fullRun: () => FULL_RUN,
    waitMs: () => 0,
  });
  settler.begin(storage, store);
  return settler;
});
const waiting = () => settlers.reduce((sum, { pending }) => sum + pending.events, 0);
const before = waiting();
await Promise.all(
  settlers.map(async (settler) => {
    while (await settler.countNext());
  }),
);
console.log(JSON.stringify({ events: before - waiting(), waiting: waiting() }));
