import type { LoggedEvent } from '#catalogue';
import { type EventMessage, sendWithRetry } from '#rollup';

/** The platform accepts 128 KB per message and 256 KB per call. Both limits leave a margin. */
const MAX_MESSAGE_BYTES = 110_000;
const MAX_CALL_BYTES = 220_000;

const encoder = new TextEncoder();

/** Packs events, in order, into as few messages as possible. A single event is at most about 64 KB and always fits. */
export function packMessages(events: LoggedEvent[]): { message: EventMessage; bytes: number }[] {
  const messages: { message: EventMessage; bytes: number }[] = [];
  for (const event of events) {
    const bytes = encoder.encode(JSON.stringify(event)).length;
    const last = messages.at(-1);
    if (last && last.bytes + bytes <= MAX_MESSAGE_BYTES) {
      last.message.events.push(event);
      last.bytes += bytes;
    } else {
      messages.push({ message: { v: 1, events: [event] }, bytes });
    }
  }
  return messages;
}

/** Sends one event. Returns false if the queue did not accept it after three attempts within a fraction of a second. */
export async function enqueueEvent(queue: Queue, event: LoggedEvent): Promise<boolean> {
  const message: EventMessage = { v: 1, events: [event] };
  return sendWithRetry(() => queue.send(message));
}

/**
 * Sends many events in as few calls as the platform's limits allow. Returns the ids that the queue accepted: one of several calls may fail
 * after others have succeeded.
 */
export async function enqueueEvents(queue: Queue, events: LoggedEvent[]): Promise<Set<string>> {
  const calls: { message: EventMessage; bytes: number }[][] = [];
  let room = 0;
  for (const packed of packMessages(events)) {
    if (calls.length === 0 || packed.bytes > room) {
      calls.push([]);
      room = MAX_CALL_BYTES;
    }
    calls.at(-1)?.push(packed);
    room -= packed.bytes;
  }
  const taken = new Set<string>();
  await Promise.all(
    calls.map(async (call) => {
      if (!(await sendWithRetry(() => queue.sendBatch(call.map(({ message }) => ({ body: message }))))))
        return;
      for (const { message } of call) for (const event of message.events) taken.add(event.id);
    }),
  );
  return taken;
}
