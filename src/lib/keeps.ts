import type * as z from 'zod';

type Predicate = (value: unknown) => boolean;

const predicates = new WeakMap<z.core.$ZodType, Predicate>();

/**
 * Lets a schema give back what it would not change without walking its chain: `isKept` tells such input. zod compiles schemas where
 * `new Function` is allowed; a Worker does not allow it, and then each link of each field costs, absent fields' too, which most of
 * an event's are. Whatever is not kept goes the schema's own way, so errors come from there alone.
 */
export function keeps<Schema extends z.ZodType>(schema: Schema, isKept: Predicate): Schema {
  const { run } = schema._zod;
  schema._zod.run = (payload, ctx) => (isKept(payload.value) ? payload : run(payload, ctx));
  predicates.set(schema, isKept);
  return schema;
}

const nothing = () => false;

/** What `keeps` was told of a schema, for another schema around it. */
export const keptBy = (schema: z.core.$ZodType): Predicate => predicates.get(schema) ?? nothing;
