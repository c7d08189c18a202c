import * as z from 'zod';
import type { Fault } from './fields.ts';

// What decides money or identity is strict. Everything else only describes an event: where it is malformed it is dropped, the
// event is taken, and the answer names what was dropped.

/** More faults than these say nothing new about a request. */
const MAX_WARNINGS = 20;

/** Stands in a parsed body for a malformed field, until `withWarnings` takes it out. */
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

/** An optional field that only describes: dropped where it is malformed. */
export function descriptive<Schema extends z.ZodType>(schema: Schema) {
  return schema.catch((caught) => dropped(`${reasonOf(caught)}; ignored`) as never);
}

/** A required field that only describes: refused where it is absent, replaced where it is malformed. */
export function replaceable<Schema extends z.ZodType>(
  schema: Schema,
  replacement: z.output<Schema>,
  more: { effect?: string; isAbsent?: (value: unknown) => boolean } = {},
) {
  const { effect = `taken as ${replacement}`, isAbsent = isEmpty } = more;
  return z.preprocess(
    (value, ctx) => {
      if (isAbsent(value)) ctx.issues.push({ code: 'custom', message: 'is required', input: value });
      return value;
    },
    schema.catch((caught) => new Dropped(`${reasonOf(caught)}; ${effect}`, replacement) as never),
  );
}

/** A value that was dropped within a descriptive field, such as one parameter of many. */
export const dropped = (message: string) => new Dropped(message);

function sweep(value: unknown, path: string, warnings: Fault[]): unknown {
  if (value instanceof Dropped) {
    if (warnings.length < MAX_WARNINGS) warnings.push({ path, message: value.message });
    return value.replacement;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  let swept: Record<string, unknown> | undefined;
  for (const [name, field] of Object.entries(value)) {
    if (typeof field !== 'object' || field === null) continue;
    const clean = sweep(field, path === '' ? name : `${path}.${name}`, warnings);
    if (clean === field) continue;
    swept ??= { ...value };
    swept[name] = clean;
  }
  return swept ?? value;
}

/** Takes the dropped fields out of a parsed body and adds `warnings`, which name them. For `.transform()`. */
export function withWarnings<Body extends object>(body: Body) {
  const warnings: Fault[] = [];
  return { ...(sweep(body, '', warnings) as Body), warnings };
}
