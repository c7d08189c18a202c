import { chunksBySize } from '#lib/collections/chunks';
import { MAX_CALL_BYTES, type MessagePart, packMessages } from '../message.ts';
import { sendWithRetry } from './send-with-retry.ts';

/**
 * Sends parts to a queue, in order, in as few messages and calls as the platform's limits allow. Calls `onSent` for each part once it is known
 * whether the queue accepted it: one of several calls may fail after others have succeeded.
 */
export async function sendParts<Part extends MessagePart>(
  queue: Queue,
  head: string,
  parts: readonly Part[],
  onSent: (part: Part, isAccepted: boolean) => void,
  deadline?: number,
): Promise<void> {
  const calls = chunksBySize(packMessages(head, parts), MAX_CALL_BYTES, ({ bytes }) => bytes);
  await Promise.all(
    calls.map(async (call) => {
      const [first, ...others] = call;
      const send = async () => {
        if (first && others.length === 0) await queue.send(first.body, { contentType: 'text' });
        else await queue.sendBatch(call.map(({ body }) => ({ body, contentType: 'text' as const })));
      };
      const isAccepted = await sendWithRetry(send, deadline);
      for (const { parts: own } of call) for (const part of own) onSent(part, isAccepted);
    }),
  );
}
