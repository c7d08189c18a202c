import * as z from 'zod';

export const ImpressionReceived = z.object({
  success: z.literal(true),
  message: z.literal('Impression received'),
  event_id: z.string(),
});
export type ImpressionReceived = z.input<typeof ImpressionReceived>;
