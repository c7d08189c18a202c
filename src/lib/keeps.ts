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

type Field = { name: string; schema: z.core.$ZodType; isKept: Predicate; mayBeAbsent: boolean };

const fieldsOf = (schema: z.core.$ZodObject): Field[] =>
  Object.entries(schema._zod.def.shape).map(([name, field]) => {
    const isKept = keptBy(field);
    const mayBeAbsent = field._zod.optin !== undefined && isKept(undefined);
    return { name, schema: field, isKept, mayBeAbsent };
  });

/**
 * Makes an object's schema copy the fields that their own schemas would keep, and run only the others' schemas. As with `keeps`, input with a
 * fault takes the schema's own path. Absent fields stay absent. For objects without checks that drop unknown fields.
 */
export function keepsFields<Schema extends z.core.$ZodObject>(schema: Schema): Schema {
  const { run } = schema._zod;
  let fields: Field[] | null = null;
  const copy = (input: object, ctx: z.core.ParseContextInternal): object | null => {
    fields ??= fieldsOf(schema);
    const sent = input as Record<string, unknown>;
    const copied: Record<string, unknown> = {};
    for (const { name, schema: field, isKept, mayBeAbsent } of fields) {
      const value = sent[name];
      if (value === undefined && mayBeAbsent) continue;
      if (isKept(value)) {
        copied[name] = value;
        continue;
      }
      const result = name in sent ? field._zod.run({ value, issues: [] }, ctx) : null;
      if (result === null || result instanceof Promise || result.issues.length > 0) return null;
      copied[name] = result.value;
    }
    return copied;
  };
  schema._zod.run = (payload, ctx) => {
    const { value } = payload;
    const copied =
      typeof value === 'object' && value !== null && !Array.isArray(value) ? copy(value, ctx) : null;
    if (copied === null) return run(payload, ctx);
    payload.value = copied;
    return payload;
  };
  return schema;
}
