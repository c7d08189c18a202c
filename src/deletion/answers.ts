import * as z from 'zod';

export const ApplicationDeleted = z.object({
  deleted: z.literal(true),
  id: z.string(),
  data: z
    .enum(['pending', 'done'])
    .meta({ description: '`pending` while data is still being deleted in the background.' }),
});
export type ApplicationDeleted = z.input<typeof ApplicationDeleted>;
