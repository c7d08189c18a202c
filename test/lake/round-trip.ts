import fc from 'fast-check';
import { expect } from 'vitest';
import { readEvents, type StoredEvent, writeFiles } from '#lake';
import { arbitraryEvent } from './arbitrary-event.ts';
import { kept } from './kept.ts';
import { MemoryBucket } from './memory-bucket.ts';
import { eventsIn } from './stream.ts';

const SOURCE = { applicationId: 'app_1', shard: 3 };

const byId = (events: readonly StoredEvent[]) =>
  [...events].sort((left, right) => (left.id < right.id ? -1 : 1));

/** Writes files of arbitrary events, `runs` times, and expects each event back as it was, but for the keys that only purchases keep. */
export async function checkRoundTrip(runs: number): Promise<void> {
  const events = fc.uniqueArray(arbitraryEvent, { selector: ({ id }) => id, minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(events, async (written) => {
      const bucket = new MemoryBucket();
      const entries = await writeFiles(bucket, SOURCE, [written]);
      expect(byId(await eventsIn(bucket, entries))).toEqual(
        byId(written.map((event) => kept(event, SOURCE.shard))),
      );
      const page = await readEvents(bucket, entries, {}, { limit: 100, cursor: '' });
      expect(page).toEqual({
        events: byId(written.map((event) => kept(event, SOURCE.shard))).reverse(),
        next_cursor: null,
      });
    }),
    { numRuns: runs },
  );
}
