import { ClickRecord } from '#attribution';
import { LoggedEvent } from '#catalogue';
import { describeFaults, toFaults } from '#http';
import {
  applicationIdOf,
  EventMessage,
  eventText,
  type Parked,
  parkedBody,
  parkedId,
  readMessage,
} from '#rollup';
import type { EventWithText } from '../pack.ts';

/** A validated message, with the parts that have to be parked. */
export type CheckedMessage = {
  message: Message;
  events: EventWithText[];
  clicks: ClickRecord[];
  parked: Parked[];
  /** Whether the credit of the events' devices was open when they were sent. */
  creditOpen: boolean;
};

/** Parks a whole message. */
export async function parkedWhole({ id, body }: Message, reason: string): Promise<Parked> {
  const { message } = readMessage(body);
  return {
    id: await parkedId(id, 'whole'),
    applicationId: applicationIdOf(message),
    body: parkedBody(message),
    reason,
  };
}

/**
 * Validates a message of the event queue, which may come from another version of the Worker. Events that this version has validated before
 * it sent them are not validated again. `version` is null if it is unknown.
 */
export async function checkMessage(message: Message, version: string | null): Promise<CheckedMessage> {
  const checked: CheckedMessage = { message, events: [], clicks: [], parked: [], creditOpen: false };
  const { message: body, texts, checkedBy } = readMessage(message.body);
  const parsed = EventMessage.safeParse(body);
  if (!parsed.success) {
    const reason = `not a message of this version: ${describeFaults(toFaults(parsed.error))}`;
    checked.parked.push(await parkedWhole(message, reason));
    return checked;
  }
  const { v, application_id: applicationId, events, clicks } = parsed.data;
  checked.creditOpen = v === 2;
  if (applicationId !== undefined) for (const event of events) nameApplication(event, applicationId);
  const isChecked = texts !== null && version !== null && checkedBy === version;
  for (const [index, item] of events.entries()) {
    const text = isChecked ? texts[index] : undefined;
    if (text !== undefined) {
      checked.events.push({ event: item as LoggedEvent, text });
      continue;
    }
    const event = LoggedEvent.safeParse(item);
    if (event.success) checked.events.push({ event: event.data, text: eventText(event.data) });
    else {
      checked.parked.push({
        id: await parkedId(message.id, index),
        applicationId: applicationIdOf(item),
        body: parkedBody({ v, events: [item] }),
        reason: `not an event of this version: ${describeFaults(toFaults(event.error))}`,
      });
    }
  }
  for (const [index, item] of clicks.entries()) {
    const click = ClickRecord.safeParse(item);
    if (click.success) checked.clicks.push(click.data);
    else {
      checked.parked.push({
        id: await parkedId(message.id, events.length + index),
        applicationId: applicationIdOf(item),
        body: parkedBody({ v: 1, events: [], clicks: [item] }),
        reason: `not a click of this version: ${describeFaults(toFaults(click.error))}`,
      });
    }
  }
  return checked;
}

function nameApplication(event: unknown, applicationId: string): void {
  if (typeof event !== 'object' || event === null || 'application_id' in event) return;
  Object.assign(event, { application_id: applicationId });
}
