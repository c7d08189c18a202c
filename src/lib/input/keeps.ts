import type * as z from 'zod';

type Predicate = (value: unknown) => boolean;

const predicates = new WeakMap<z.core.$ZodType, Predicate>();

/**
 * Makes a schema return input unchanged, without running its checks, if `isKept` says that they would not change or refuse it. zod
 * usually compiles schemas with `new Function`, which Workers do not allow. Without it every step of every field costs time, even for
 * absent fields, and most fields of an event are absent. Any other input takes the schema's own path, so errors only come from there.
 */
export function keeps<Schema extends z.ZodType>(schema: Schema, isKept: Predicate): Schema {
  const { run } = schema._zod;
  schema._zod.run = (payload, ctx) => (isKept(payload.value) ? payload : run(payload, ctx));
  predicates.set(schema, isKept);
  return schema;
}

const nothing = () => false;

/** The predicate that `keeps` was given for a schema, for a schema that wraps it. */
export const keptBy = (schema: z.core.$ZodType): Predicate => predicates.get(schema) ?? nothing;
