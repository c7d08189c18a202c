import { ClickRecord } from '#attribution';
import { LoggedEvent } from '#catalogue';
import { describeFaults, toFaults } from '#http';
import { applicationIdOf, EventMessage, type Parked, parkedBody, parkedId } from '#rollup';

/** A validated message, with the parts that have to be parked. */
export type CheckedMessage = {
  message: Message;
  events: LoggedEvent[];
  clicks: ClickRecord[];
  parked: Parked[];
};

/** Parks a whole message. */
export async function parkedWhole(message: Message, reason: string): Promise<Parked> {
  return {
    id: await parkedId(message.id, 'whole'),
    applicationId: applicationIdOf(message.body),
    body: parkedBody(message.body),
    reason,
  };
}

/** Validates a message of the event queue, which may come from another version of the Worker. */
export async function checkMessage(message: Message): Promise<CheckedMessage> {
  const checked: CheckedMessage = { message, events: [], clicks: [], parked: [] };
  const parsed = EventMessage.safeParse(message.body);
  if (!parsed.success) {
    const reason = `not a message of this version: ${describeFaults(toFaults(parsed.error))}`;
    checked.parked.push(await parkedWhole(message, reason));
    return checked;
  }
  const { events, clicks } = parsed.data;
  for (const [index, item] of events.entries()) {
    const event = LoggedEvent.safeParse(item);
    if (event.success) checked.events.push(event.data);
    else {
      checked.parked.push({
        id: await parkedId(message.id, index),
        applicationId: applicationIdOf(item),
        body: parkedBody({ v: 1, events: [item] }),
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
