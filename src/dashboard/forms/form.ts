import { createMiddleware } from 'hono/factory';
import type * as z from 'zod';
import { AppError, type Fault, invalidRequest, toFaults } from '#http';
import type { DashboardContext, DashboardEnv, FormPage } from '../shell/page-record.ts';

/** A form's fields, including files. Throws `invalid_request` if the body does not match its content type. */
export async function readFields(c: DashboardContext): Promise<Record<string, string | File>> {
  try {
    return await c.req.parseBody();
  } catch (error) {
    // Thrown by the runtime's own parser. Any other error is not the sender's fault.
    if (!(error instanceof TypeError)) throw error;
    throw invalidRequest([{ path: '', message: 'The form could not be read' }]);
  }
}

/** A form's text fields as typed, without files and repeated fields. */
export async function readForm(c: DashboardContext): Promise<Record<string, string>> {
  const fields = Object.entries(await readFields(c));
  return Object.fromEntries(
    fields.filter((field): field is [string, string] => typeof field[1] === 'string'),
  );
}

/** Validates a form against a schema. Returns its values, or its faults to show next to the fields. */
export function checkForm<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
): { data: z.infer<Schema>; faults: null } | { data: null; faults: Fault[] } {
  const result = schema.safeParse(values);
  return result.success
    ? { data: result.data, faults: null }
    : { data: null, faults: toFaults(result.error) };
}

/** A form's text as submitted, and its faults. A page shows both; without them, it shows an empty form. */
export type Submitted = Partial<Parameters<FormPage>[1]>;

/**
 * A submitted form: its data, or null if it is invalid, and what the page shows again in that case. `toInput` converts the form's text to what
 * the schema expects.
 */
export async function parseForm<Schema extends z.ZodType>(
  c: DashboardContext,
  schema: Schema,
  toInput: (values: Record<string, string>) => unknown = (values) => values,
): Promise<Required<Submitted> & { data: z.infer<Schema> | null }> {
  const values = await readForm(c);
  const { data, faults } = checkForm(schema, toInput(values));
  return { data, values, faults: faults ?? [] };
}

/** The data of a form. Throws `invalid_request` if it is invalid: see `again`. */
export async function requireForm<Schema extends z.ZodType>(
  c: DashboardContext,
  schema: Schema,
  toInput?: (values: Record<string, string>) => unknown,
): Promise<z.infer<Schema>> {
  const { data, faults } = await parseForm(c, schema, toInput);
  if (data === null) throw invalidRequest(faults);
  return data;
}

/** For a form that a person can get wrong: its page shows it again if it is refused for what is in it. Others lead to an error page. */
export const again = (page: FormPage) =>
  createMiddleware<DashboardEnv>(async (c, next) => {
    c.set('formPage', page);
    await next();
  });

/** The page of a form that was refused for what is in it, with the form as it was typed; null for any other error. */
export async function answerAgain(c: DashboardContext, thrown: unknown): Promise<Response | null> {
  const page = c.get('formPage');
  if (!page || !(thrown instanceof AppError) || thrown.details.length === 0) return null;
  // The page itself may be refused, too.
  c.set('formPage', undefined);
  c.status(400);
  return page(c, { values: await readForm(c), faults: thrown.details });
}
