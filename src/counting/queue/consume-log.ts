import { type LogFields, logLine } from '#lib/log';
import { isSampled, LOG_SAMPLE } from '#lib/log-sample';
import { type CheckedMessage, readMessage } from '#rollup';

// The log lines of the consumer. They never have a message's content.

/** The log fields of a message, never its content. The first event's id represents all of them. */
const logFields = (messageId: string, eventId: unknown): LogFields => ({
  message_id: messageId,
  ...(typeof eventId === 'string' ? { event_id: eventId } : {}),
});

/** The log fields of a message that may not be valid. */
function fieldsOf({ id, body }: Message): LogFields {
  const { message } = readMessage(body);
  const { events } = (message ?? {}) as { events?: unknown };
  const [first] = (Array.isArray(events) ? events : []) as { id?: unknown }[];
  return logFields(id, first?.id);
}

/** Logs one line for each message that failed. */
export function logMessage(what: string, message: Message, error: unknown): void {
  const { attempts } = message;
  logLine('warn', what, {
    ...fieldsOf(message),
    attempt: attempts,
    ...(error ? { error: String(error) } : {}),
  });
}

/** Logs one line for a batch in which something failed or was parked, and one for 1 in 100 of all messages. */
export function logBatch(
  batch: Pick<MessageBatch, 'messages'>,
  checked: readonly CheckedMessage[],
  failed: number,
): void {
  const sum = (count: (item: CheckedMessage) => number) =>
    checked.reduce((total, item) => total + count(item), 0);
  for (const { message, events, clicks } of checked) {
    const eventId = events[0]?.event.id;
    if (!isSampled(eventId ?? message.id)) continue;
    const counts = { events: events.length, clicks: clicks.length };
    logLine('info', 'message taken', { ...logFields(message.id, eventId), ...counts, sampled: LOG_SAMPLE });
  }
  const parked = sum((item) => item.parked.length);
  if (failed + parked === 0) return;
  logLine('warn', 'batch taken', {
    messages: batch.messages.length,
    failed,
    events: sum(({ events }) => events.length),
    clicks: sum(({ clicks }) => clicks.length),
    parked,
  });
}
