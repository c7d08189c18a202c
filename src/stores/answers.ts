import * as z from 'zod';
import { nullableText } from '#http/operations';

export const NotificationReceived = z.object({
  success: z.literal(true),
  message: z.literal('Notification received'),
  event_id: nullableText().meta({
    description: 'The event that counts it. Null if it counts nothing; `reason` says why.',
  }),
  reason: nullableText(),
});
export type NotificationReceived = z.input<typeof NotificationReceived>;
