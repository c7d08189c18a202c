import { writeFiles } from '../../src/lake/index.ts';
import { MemoryBucket } from './memory-bucket.ts';
import { APPLICATION_ID, makeSlices } from './workload.ts';

// Writes events with so many bytes of parameters each, and prints how many files they made: for a process with a heap limit.

const [events, bytes] = process.argv.slice(2).map(Number);

function* slices() {
  for (const slice of makeSlices({ events: events ?? 0, devices: 20_000 })) {
    yield slice.map((event, index) => ({
      ...event,
      ...(bytes ? { warnings: [{ path: `${event.id}/${index}`, message: 'x'.repeat(bytes) }] } : {}),
    }));
  }
}

const entries = await writeFiles(new MemoryBucket(), { applicationId: APPLICATION_ID, shard: 0 }, slices());
console.log(JSON.stringify(entries.map(({ rows }) => rows)));
