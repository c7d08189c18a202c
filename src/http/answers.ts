import * as z from 'zod';

// What the schemas of answers consist of.

/** A page of a list. */
export const list = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), next_cursor: nullableText() });

export const time = () => z.iso.datetime();
export const day = () => z.iso.date();
export const nullableText = () => z.string().nullable();

export const faults = z.array(z.object({ path: z.string(), message: z.string() }));

/** The body of an error of the team API. */
export const TeamFailure = z.object({ message: z.string() }).meta({ id: 'TeamError' });
export type TeamFailure = z.input<typeof TeamFailure>;

/** The ingestion API's error body, and that of every endpoint that does not set another. */
export const Failure = z
  .object({ success: z.literal(false), error: z.string(), details: faults.optional() })
  .meta({ id: 'IngestionError' });
export type Failure = z.input<typeof Failure>;
