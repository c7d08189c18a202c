import * as z from 'zod';
import { database } from '#db';
import type { Fault } from '#http';
import { findPasswordReset, listPasskeys, newPassword, type PasswordReset, resetPassword } from '#members';
import { Fields } from '../../forms/fields.tsx';
import { parseForm } from '../../forms/form.ts';
import { dateOfTime } from '../../shell/dates.ts';
import { renderPlainPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { zoneOf } from '../../shell/view.ts';
import { enter, openSecret, passwordField } from './sign-in.tsx';

/** The member's passkeys, and whether they are to be removed: preset, because whoever else knew the password may have added one. */
function KeptPasskeys({
  rows,
  remove,
  zone,
}: {
  rows: Awaited<ReturnType<typeof listPasskeys>>;
  remove: boolean;
  zone: string;
}) {
  if (rows.length === 0) return null;
  return (
    <div class="passkeys">
      <p>These passkeys sign in to this account without the password:</p>
      <ul>
        {rows.map(({ name, createdAt }) => (
          <li>
            {name}
            {createdAt && `, added ${dateOfTime(createdAt.getTime(), zone)}`}
          </li>
        ))}
      </ul>
      <div class="field check">
        <input
          type="checkbox"
          id="field-remove_passkeys"
          name="remove_passkeys"
          value="true"
          checked={remove}
        />
        <label for="field-remove_passkeys">Remove them. You can add yours again later</label>
      </div>
    </div>
  );
}

async function resetPage(
  c: DashboardContext,
  reset: PasswordReset,
  { faults, removePasskeys }: { faults: readonly Fault[]; removePasskeys: boolean },
) {
  const [passkeys, zone] = await Promise.all([
    listPasskeys(database(c.env.DB), reset.userId),
    zoneOf(c, reset.teamId),
  ]);
  return renderPlainPage(
    c,
    { status: faults.length > 0 ? 400 : 200 },
    <form method="post" class="stack">
      <p>
        For <strong>{reset.email}</strong>. All open sessions of this account end.
      </p>
      <Fields fields={[passwordField('New password')]} faults={faults} />
      <KeptPasskeys rows={passkeys} remove={removePasskeys} zone={zone} />
      <button type="submit">Set password</button>
    </form>,
  );
}

const openReset = (c: DashboardContext) =>
  openSecret(c, findPasswordReset, 'This link no longer works: it was used or replaced, or has expired.');

const routes = pageRoutes()
  .get('/:secret', async (c) => resetPage(c, await openReset(c), { faults: [], removePasskeys: true }))
  .post('/:secret', async (c) => {
    const reset = await openReset(c);
    const { data, values, faults } = await parseForm(
      c,
      z.object({
        password: newPassword([reset.name, reset.email]),
        remove_passkeys: z.literal('true').optional(),
      }),
    );
    const removePasskeys = values.remove_passkeys === 'true';
    if (!data) return resetPage(c, reset, { faults, removePasskeys });
    const chosen = { password: data.password, removePasskeys };
    await resetPassword(database(c.env.DB), reset, chosen, Date.now());
    const pair = { email: reset.email, password: data.password };
    return (await enter(c, pair, '/')) ?? c.redirect('/login', 303);
  });

export const passwordReset: PageRecord = {
  path: '/reset-password',
  title: 'Choose a new password',
  opens: null,
  routes,
};
