import { deviceIdIn } from '#catalogue';
import { rewriteWithout, writeFiles } from '../../src/lake/index.ts';
import { MemoryBucket, MemoryIndex } from './memory-bucket.ts';
import { APPLICATION_ID, makeSlices } from './workload.ts';

// Writes events with so many bytes of text each, takes the first device out of the first file again, and prints how many rows the
// files have: for a process with a heap limit.

const [events, bytes] = process.argv.slice(2).map(Number);

let erased = '';

function* slices() {
  for (const slice of makeSlices({ events: events ?? 0, devices: 20_000 })) {
    const [first] = slice;
    if (first) erased ||= deviceIdIn(first);
    yield slice.map((event, index) => ({
      ...event,
      ...(bytes ? { warnings: [{ path: `${event.id}/${index}`, message: 'x'.repeat(bytes) }] } : {}),
    }));
  }
}

const bucket = new MemoryBucket();
const entries = await writeFiles(bucket, { applicationId: APPLICATION_ID, shard: 0 }, slices());
const [entry] = entries;
if (!entry) throw new Error('nothing was written');
const { removed } = await rewriteWithout(bucket, new MemoryIndex(entries), entry, new Set([erased]));
console.log(JSON.stringify({ rows: entries.map(({ rows }) => rows), removed }));
