import * as z from 'zod';

const MAX_CHARACTERS = 20_000;

/** A form's field with JSON of a schema. `fault`: what is wrong with anything else. */
export const jsonField = <Schema extends z.ZodType>(schema: Schema, fault: string) =>
  z
    .string('is required')
    .max(MAX_CHARACTERS)
    .transform((text, ctx): z.infer<Schema> => {
      try {
        return schema.parse(JSON.parse(text));
      } catch {
        ctx.addIssue({ code: 'custom', message: fault });
        return z.NEVER;
      }
    });
