import { eq, sql } from 'drizzle-orm';
import { type Segment, SegmentBook, storedSegment } from '#catalogue';
import { segments } from './schema.ts';
import { type ObjectStore, toParameters } from './store.ts';

/** The segments that a counter distinguishes. Those of earlier purchases are read one by one, when a refund needs them. */
export function openSegments(store: ObjectStore): SegmentBook {
  const known = store.select({ id: segments.segmentId }).from(segments).all();
  const read = (id: number) => {
    const row = store.select().from(segments).where(eq(segments.segmentId, id)).get();
    return row && storedSegment(JSON.parse(row.values));
  };
  return new SegmentBook(
    known.map(({ id }) => id),
    read,
  );
}

export function saveSegments(store: ObjectStore, added: readonly (Segment & { id: number })[]): void {
  const rows = added.map(({ id, ...segment }) => [id, JSON.stringify(segment)]);
  for (const parameter of toParameters(rows)) {
    store.run(
      sql`INSERT INTO ${segments} (segment_id, "values") SELECT value ->> 0, value ->> 1 FROM json_each(${parameter})`,
    );
  }
}
