import type { MemberCaller } from '#members';
import { callerOf } from './guard.ts';
import type { DashboardContext } from './page-record.ts';

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
  columns: 'Remembered. Upload the file again.',
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
