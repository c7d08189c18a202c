import * as z from 'zod';
import type { Fault } from './fields.ts';
import { keeps, keptBy } from './keeps.ts';
import { COUNTED_AS_ABSENT, placeholderId, placeholderName } from './placeholder.ts';

// Fields that decide money or identity are strict. All others only describe an event: a malformed one is dropped, the event is accepted,
// and the answer names what was dropped.

/** More warnings than this would add nothing new about a request. */
const MAX_WARNINGS = 20;

/** Marks a malformed field in a parsed body until `withWarnings` removes it. */
class Dropped {
  readonly message: string;
  readonly replacement: unknown;

  constructor(message: string, replacement?: unknown) {
    this.message = message;
    this.replacement = replacement;
  }
}

const isEmpty = (value: unknown) =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

type Caught = { error: { issues: readonly { message: string; path: PropertyKey[] }[] }; value: unknown };

const reasonOf = ({ error }: Caught) => error.issues[0]?.message ?? 'is malformed';

const lenient = <Schema extends z.ZodType>(schema: Schema) => {
  const isKept = keptBy(schema);
  return keeps(
    schema.catch((caught) => dropped(`${reasonOf(caught)}; ignored`) as never),
    (value) => value === undefined || isKept(value),
  );
};

const made = new WeakMap<z.core.$ZodType, z.core.$ZodType>();

/** An optional descriptive field: dropped if malformed. Returns the same schema for the same argument. */
export function descriptive<Schema extends z.ZodType>(schema: Schema): ReturnType<typeof lenient<Schema>> {
  const known = made.get(schema) ?? lenient(schema);
  made.set(schema, known);
  return known as ReturnType<typeof lenient<Schema>>;
}

/** A required descriptive field: refused if absent, replaced if malformed. */
export function replaceable<Schema extends z.ZodType>(
  schema: Schema,
  replacement: z.output<Schema>,
  more: { effect?: string; isAbsent?: (value: unknown) => boolean } = {},
) {
  const { effect = `taken as ${replacement}`, isAbsent = isEmpty } = more;
  const isKept = keptBy(schema);
  const checked = z.preprocess(
    (value, ctx) => {
      if (isAbsent(value)) ctx.issues.push({ code: 'custom', message: 'is required', input: value });
      return value;
    },
    schema.catch((caught) => new Dropped(`${reasonOf(caught)}; ${effect}`, replacement) as never),
  );
  return keeps(checked, (value) => isKept(value) && !isAbsent(value));
}

/** An optional field that is not ignored if it is malformed, but replaced. `effect`: what that leads to. */
export function replacedIfMalformed<Schema extends z.ZodType>(
  schema: Schema,
  replacement: z.output<Schema>,
  effect: string,
) {
  return keeps(
    schema.catch((caught) => new Dropped(`${reasonOf(caught)}; ${effect}`, replacement) as never),
    keptBy(schema),
  );
}

const meaningful = <Schema extends z.ZodType>(
  schema: Schema,
  placeholderIn: (text: string) => string | null,
) => {
  const isKept = keptBy(schema);
  const checked = schema.transform((value) => {
    const reason = typeof value === 'string' ? placeholderIn(value) : null;
    return reason === null ? value : (dropped(`${reason}; ${COUNTED_AS_ABSENT}`) as never);
  });
  return keeps(
    checked as unknown as Schema,
    (value) => isKept(value) && (typeof value !== 'string' || placeholderIn(value) === null),
  );
};

/** An optional text that identifies something: dropped if it is a placeholder. */
export const identifier = <Schema extends z.ZodType<string | undefined>>(schema: Schema) =>
  meaningful(schema, placeholderId);

/** An optional name, likewise. */
export const naming = <Schema extends z.ZodType<string | undefined>>(schema: Schema) =>
  meaningful(schema, placeholderName);

/** Drops one value inside a descriptive field, such as one parameter of many. */
export const dropped = (message: string) => new Dropped(message);

/** Stands for what does not fit into a list of warnings. */
export const MORE_WARNINGS: Fault = {
  path: '',
  message: 'more was dropped or replaced than is listed here',
};

/** Adds a warning that no single field of a schema gives, as long as there are few. The last of many says that there are more. */
export function addWarning({ warnings }: { warnings: Fault[] }, warning: Fault): void {
  if (warnings.length < MAX_WARNINGS) warnings.push(warning);
  else warnings[MAX_WARNINGS - 1] = MORE_WARNINGS;
}

/** Replaces what was dropped in an object that a schema has made, and in the objects in it. */
function sweep(parsed: Record<string, unknown>, path: string, warnings: Fault[]): void {
  for (const name in parsed) {
    const field = parsed[name];
    if (typeof field !== 'object' || field === null) continue;
    if (field instanceof Dropped) {
      addWarning({ warnings }, { path: path + name, message: field.message });
      parsed[name] = field.replacement;
    } else sweep(field as Record<string, unknown>, `${path}${name}.`, warnings);
  }
}

/** Removes the dropped fields from a parsed body and adds `warnings`, which name them. For use in `.transform()`. */
export function withWarnings<Body extends object>(body: Body) {
  const warnings: Fault[] = [];
  sweep(body as Record<string, unknown>, '', warnings);
  return Object.assign(body, { warnings });
}
