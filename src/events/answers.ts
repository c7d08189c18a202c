import * as z from 'zod';
import { day, list, nullableText, time } from '#http/answers';

// The other fields depend on the event's type.
const Event = z
  .looseObject({
    event_id: z.string(),
    type: z.string(),
    created_at: time(),
    received_at: time(),
    day: day(),
    device_id: z.string().optional().meta({ description: 'Absent for a click.' }),
    creative_id: nullableText(),
    client_event_id: z
      .string()
      .optional()
      .meta({ description: 'The `event_id` that the event was sent with.' }),
    country: z.string().optional().meta({
      description:
        'ISO 3166 code: where the device was at its acquisition, or where the click came from. Absent if unknown.',
    }),
    os_family: z
      .string()
      .optional()
      .meta({ description: 'The operating system of the device or of the click, such as `android`.' }),
    network: z.string().optional().meta({
      description: 'The network that brought the device, or that the click came from. Absent if unknown.',
    }),
  })
  .meta({ id: 'Event' });
export type Event = z.input<typeof Event>;

export const Events = list(Event);

export const EventStatus = z.object({
  event_id: z.string(),
  application_id: z.string().optional(),
  status: z.enum(['queued', 'counted', 'duplicate', 'ignored', 'parked']).meta({
    description:
      'An `ignored` event is stored but counted in no report: a test event, an event sent with a revoked token, or an event of an erased device. A `parked` event could not be counted; see `/v1/parked`.',
  }),
  received_at: time(),
  logged_at: time()
    .optional()
    .meta({ description: 'When the queue delivered it. Absent once the event is in a raw event file.' }),
  settled_by: time().optional().meta({
    description: 'When it was counted, found to be a duplicate, ignored or parked, at the latest.',
  }),
  duplicate_of: z.string().optional().meta({ description: 'The event that was counted with the same key.' }),
  waits_for_purchase: z.literal(true).optional().meta({
    description:
      'Of a refund or its reversal: no purchase with its `tr_id` is known, so it takes nothing back yet. Send it with the token of the device that purchased. Absent otherwise.',
  }),
  implausible_amount: z.literal(true).optional().meta({
    description:
      'The amount is counted as it was sent, but looks like millionths of a unit (micros): it is more than 100 times the 99th percentile of the application in the last days, or more than $5 for one impression. Absent otherwise.',
  }),
  reason: z.string().optional().meta({ description: 'Why the event was ignored or parked.' }),
  event: Event.optional(),
});
export type EventStatus = z.input<typeof EventStatus>;
