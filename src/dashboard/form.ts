import type * as z from 'zod';
import { type Fault, invalidRequest, toFaults } from '#http';
import type { DashboardContext } from './guard.ts';

/** A form's fields, files among them. Throws `invalid_request` for a body that is not what its content type says. */
export async function readFields(c: DashboardContext): Promise<Record<string, string | File>> {
  try {
    return await c.req.parseBody();
  } catch (error) {
    // What the runtime's own parser throws; anything else is not the sender's fault.
    if (!(error instanceof TypeError)) throw error;
    throw invalidRequest([{ path: '', message: 'The form could not be read' }]);
  }
}

/** A form's text fields as they were typed; a file or a repeated field is not among them. */
export async function readForm(c: DashboardContext): Promise<Record<string, string>> {
  const fields = Object.entries(await readFields(c));
  return Object.fromEntries(
    fields.filter((field): field is [string, string] => typeof field[1] === 'string'),
  );
}

/** The values of a form by a schema, or its faults for the page to show beside the fields. */
export function checkForm<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
): { data: z.infer<Schema>; faults: null } | { data: null; faults: Fault[] } {
  const result = schema.safeParse(values);
  return result.success
    ? { data: result.data, faults: null }
    : { data: null, faults: toFaults(result.error) };
}

/** What a redirect after a change says on the next page; the URL carries only the name of the sentence. */
const DONE = {
  saved: 'Saved.',
  created: 'Created.',
  new_creative: 'Created. Use its tracking link as the destination of your ad.',
  new_key: 'A new API key was created. It works everywhere within 10 seconds; show it below.',
  archived: 'Archived. Its link keeps working.',
  restored: 'Unarchived.',
  revoked: 'Revoked. It stops working everywhere within 60 seconds.',
  invited: 'Invitation created.',
  withdrawn: 'Invitation withdrawn.',
  removed: 'Removed. Their sessions have ended.',
  password: 'Your password was changed. Your other sessions have ended.',
  replayed: 'Sent to the queue again. It is counted in a few seconds, or parked again with a reason.',
  discarded: 'Discarded.',
  resumed: 'Counting has resumed.',
  deleted_application: 'Deleted. Its data is removed in the background.',
  deleted: 'Removed.',
  mapped: 'Mapped. Stored costs moved, and later uploads follow.',
  test_sent: 'A test message is on its way. It arrives within a minute, or its failure shows below.',
  revoked_link: 'The link has ended.',
} as const;

export type Done = keyof typeof DONE;

export function doneText(c: DashboardContext): string | null {
  const name = c.req.query('done') ?? '';
  return Object.hasOwn(DONE, name) ? DONE[name as Done] : null;
}

export function redirectDone(c: DashboardContext, path: string, done: Done): Response {
  return c.redirect(`${path}${path.includes('?') ? '&' : '?'}done=${done}`, 303);
}
