import { queueFor } from '#env';
import { joinMessage, sendWithRetry } from '#rollup';

/** The platform accepts 128 KB per message and 256 KB per call. Both limits leave a margin. */
const MAX_MESSAGE_BYTES = 110_000;
const MAX_CALL_BYTES = 220_000;
/** The largest event: a request of 64 KB is never larger as text. */
export const MAX_EVENT_BYTES = 120_000;

const encoder = new TextEncoder();
/** Large enough to see that an event is too large. */
const encoded = new Uint8Array(MAX_EVENT_BYTES + 4);

/** The length of an event's text in UTF-8; of a larger event, a little more than `MAX_EVENT_BYTES`. Unlike `encode`, it allocates nothing. */
export const measureEvent = (text: string): number => encoder.encodeInto(text, encoded).written;

/** An event as a line of a message: see `eventText`. */
export type EventLine = { text: string; bytes: number };

/** A message of the queue: its text, how many bytes it has in UTF-8, and how many events. */
export type PackedMessage = { body: string; bytes: number; events: number };

/** Packs events, in order, into as few messages as possible. `head`: see `messageHead`. */
export function packMessages(head: string, events: readonly EventLine[]): PackedMessage[] {
  const messages: PackedMessage[] = [];
  let texts: string[] = [];
  let bytes = head.length;
  const close = () => {
    if (texts.length > 0) messages.push({ body: joinMessage(head, texts), bytes, events: texts.length });
    [texts, bytes] = [[], head.length];
  };
  for (const event of events) {
    const added = event.bytes + 1;
    if (bytes + added > MAX_MESSAGE_BYTES) close();
    texts.push(event.text);
    bytes += added;
  }
  close();
  return messages;
}

/** An application's shard, whose events go to the same queue. */
type CounterAddress = { applicationId: string; shard: number };

/** Sends one event. Returns false if the queue did not accept it after three attempts within a fraction of a second. */
export async function enqueueEvent(
  env: Env,
  { applicationId, shard }: CounterAddress,
  head: string,
  text: string,
): Promise<boolean> {
  const queue = queueFor(env, applicationId, shard);
  const body = joinMessage(head, [text]);
  return sendWithRetry(() => queue.send(body, { contentType: 'text' }));
}

/**
 * Sends many events of an application, each under its head and to the queue of its shard, in as few calls as the platform's limits allow. Returns
 * for each whether its queue accepted it: one of several calls may fail after others have succeeded.
 */
export async function enqueueEvents(
  env: Env,
  applicationId: string,
  events: readonly (EventLine & { shard: number; head: string })[],
): Promise<boolean[]> {
  const accepted = new Map<EventLine, boolean>();
  const sent = [...Map.groupBy(events, ({ head }) => head)].flatMap(([head, alike]) =>
    [...Map.groupBy(alike, ({ shard }) => queueFor(env, applicationId, shard))].map(
      async ([queue, lines]) => {
        const answers = await sendLines(queue, head, lines);
        for (const [index, line] of lines.entries()) accepted.set(line, answers[index] === true);
      },
    ),
  );
  await Promise.all(sent);
  return events.map((event) => accepted.get(event) === true);
}

async function sendLines(queue: Queue, head: string, events: readonly EventLine[]): Promise<boolean[]> {
  const calls: PackedMessage[][] = [];
  let room = 0;
  for (const packed of packMessages(head, events)) {
    if (calls.length === 0 || packed.bytes > room) {
      calls.push([]);
      room = MAX_CALL_BYTES;
    }
    calls.at(-1)?.push(packed);
    room -= packed.bytes;
  }
  const accepted = await Promise.all(
    calls.map(async (call) => {
      const messages = call.map(({ body }) => ({ body, contentType: 'text' as const }));
      const isAccepted = await sendWithRetry(() => queue.sendBatch(messages));
      return call.flatMap((message) => Array.from({ length: message.events }, () => isAccepted));
    }),
  );
  return accepted.flat();
}
