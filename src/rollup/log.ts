import type { LoggedEvent, PackedEvent } from './event.ts';

/** The events of a chunk with what stands beside them put back in. Those of an erased device are null, and folded long ago. */
export function unpack(chunk: { application_id: string; event_ids: string; events: string }): LoggedEvent[] {
  const ids: string[] = JSON.parse(chunk.event_ids);
  const events: (PackedEvent | null)[] = JSON.parse(chunk.events);
  return events.flatMap((event, index) =>
    event ? [{ ...event, id: ids[index] ?? '', application_id: chunk.application_id }] : [],
  );
}
