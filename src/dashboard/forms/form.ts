import { createMiddleware } from 'hono/factory';
import type * as z from 'zod';
import { AppError, type Fault, invalidRequest, toFaults } from '#http';
import type { MemberCaller } from '#members';
import { callerOf } from '../shell/guard.ts';
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

/** Messages that a page shows after a redirect; the URL contains only a message's key. */
const DONE = {
  saved: 'Saved.',
  created: 'Created.',
  connected: 'Added. It runs within a minute.',
  connector_due: 'It runs within a minute.',
  new_creative: 'Created. Use its tracking link as the destination of your ad.',
  duplicate_creative:
    'Created. This ad set has another creative of the same name; their figures are apart, by their links.',
  new_key: 'A new API key was created. It works everywhere within 10 seconds; show it below.',
  archived: 'Archived. Its link keeps working.',
  restored: 'Unarchived.',
  revoked: 'Revoked. It stops working everywhere within 60 seconds.',
  withdrawn: 'Invitation withdrawn.',
  removed: 'Removed. Their sessions have ended.',
  password: 'Your password was changed. Your other sessions have ended.',
  second_factor_added: 'From now on, signing in takes a code of your authenticator app.',
  second_factor_removed: 'Your authenticator app was removed. Signing in takes only your password.',
  passkey_added: 'Passkey added. It signs you in from now on.',
  passkey_removed: 'Passkey removed.',
  replayed: 'Sent to the queue again. It is counted in a few seconds, or parked again with a reason.',
  discarded: 'Discarded.',
  resumed: 'Counting has resumed.',
  deleted_application: 'Deleted. Its data is removed in the background.',
  deleted: 'Removed.',
  mapped: 'Mapped. Stored costs moved, and later uploads follow.',
  test_sent: 'A test message is on its way. It arrives within a minute, or its failure shows below.',
  sent_again: 'They are sent again now.',
  revoked_link: 'Link revoked.',
} as const;

export type Done = keyof typeof DONE;

export function doneText(c: DashboardContext): string | null {
  const name = c.req.query('done') ?? '';
  return Object.hasOwn(DONE, name) ? DONE[name as Done] : null;
}

export function redirectDone(c: DashboardContext, path: string, done: Done): Response {
  return c.redirect(`${path}${path.includes('?') ? '&' : '?'}done=${done}`, 303);
}

/**
 * Answers a button: changes what the `:id` of its address names, then leads to the page at `path`, which may have the same `:id`, with the view
 * that the button had.
 */
export const changing =
  (
    path: string,
    done: Done,
    change: (caller: MemberCaller, id: string, c: DashboardContext) => Promise<unknown>,
  ) =>
  async (c: DashboardContext): Promise<Response> => {
    const { id = '' } = c.req.param();
    await change(callerOf(c), id, c);
    return redirectDone(c, path.replace(':id', () => id) + new URL(c.req.url).search, done);
  };
