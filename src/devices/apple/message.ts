import * as z from 'zod';

/** A message of the event queue that asks to resolve the open credit of a device. */
const CreditMessage = z.lazy(() =>
  z.object({
    open_credit: z.object({
      application_id: z.string(),
      shard: z.int().min(0),
      device_id: z.string(),
    }),
  }),
);
export type CreditMessage = z.infer<typeof CreditMessage>;

/** The open credit that a message is about; null if it cannot be read. */
export const creditIn = (body: unknown): CreditMessage['open_credit'] | null =>
  CreditMessage.safeParse(body).data?.open_credit ?? null;
