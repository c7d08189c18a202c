import { scheduler } from 'node:timers/promises';
import { FULL_RUN } from '../../src/counting/runs/next-run.ts';
import { RunScheduler } from '../../src/counting/runs/run-scheduler.ts';
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

const schedulers = Array.from({ length: COUNTERS }, () => {
  const storage = memoryStorage();
  fillCounter(storage, { events: EVENTS, bytes: 0, names: EVENTS });
  const store = openStore(storage);
  const scheduler = new RunScheduler({
    outbound: async () => [],
    store: () => store,
    storage: () => storage,
    applicationId: () => APPLICATION_ID,
    fullRun: () => FULL_RUN,
    waitMs: () => 0,
  });
  scheduler.begin(storage, store);
  return scheduler;
});
const waiting = () => schedulers.reduce((sum, { pending }) => sum + pending.events, 0);
const before = waiting();
await Promise.all(
  schedulers.map(async (scheduler) => {
    while (await scheduler.countNext());
  }),
);
console.log(JSON.stringify({ events: before - waiting(), waiting: waiting() }));
