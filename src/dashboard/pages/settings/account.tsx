import * as z from 'zod';
import { invalidRequest } from '#http';
import { changePassword, listPasskeys, newPassword, type Person, secondFactorOf, signOut } from '#members';
import { currentPasswordField, newPasswordField, PostForm } from '../../forms/fields.tsx';
import { again, requireForm, type Submitted } from '../../forms/form.ts';
import { takeShown } from '../../forms/show-once.ts';
import { callerOf, setCookies } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card, FormMenu } from '../../shell/parts.tsx';
import { zoneOf } from '../../shell/view.ts';
import { ROLE_NAMES } from '../../shell/words.ts';
import { enter, limitPerson } from '../access/sign-in.tsx';
import { challengePasskey, deletePasskey, PasskeysCard, savePasskey } from './passkeys.tsx';
import { addApp, confirmApp, removeApp, SecondFactorCard } from './second-factor.tsx';
import { renderSettings } from './settings-page.tsx';

const passwordsOf = ({ name, email, team }: Person) =>
  z.object({
    current: z.string().min(1).max(128),
    next: newPassword([name, email, team.name]),
  });

const PASSWORD_FIELDS = [
  currentPasswordField('Current password', 'current'),
  newPasswordField('New password', 'At least 12 characters. You are signed out everywhere else.', 'next'),
];

async function accountPage(c: DashboardContext, { faults = [] }: Submitted = {}) {
  const { userId, name, email, role, team } = c.get('person');
  const state = await secondFactorOf(callerOf(c).db, userId);
  const keys = await listPasskeys(callerOf(c).db, userId);
  const shown = await takeShown(c, '/settings/account');
  return renderSettings(
    c,
    {},
    <>
      <Card title={name}>
        <p>
          {email} · {ROLE_NAMES[role]} of {team.name}
        </p>
      </Card>
      <Card
        title="Password"
        aside={
          <FormMenu
            label="Change"
            id="password"
            kind="quiet"
            open={faults.some(({ path }) => path === 'current' || path === 'next')}
          >
            <PostForm
              to="/settings/account"
              button="Change password"
              fields={PASSWORD_FIELDS}
              faults={faults}
            />
          </FormMenu>
        }
      >
        <p class="muted">Signs you in with your email. Changing it signs you out everywhere else.</p>
      </Card>
      <SecondFactorCard state={state} shown={shown} faults={faults} />
      <PasskeysCard rows={keys} zone={await zoneOf(c)} faults={faults} />
    </>,
  );
}

const routes = pageRoutes()
  .get('/', (c) => accountPage(c))
  .post('/', again(accountPage), async (c) => {
    const person = c.get('person');
    await limitPerson(c);
    const data = await requireForm(c, passwordsOf(person));
    if (!(await changePassword(callerOf(c), person, data))) {
      throw invalidRequest([{ path: 'current', message: 'is incorrect' }]);
    }
    // Their sessions have ended, this one included.
    const pair = { email: person.email, password: data.next };
    return (await enter(c, pair, '/settings/account?done=password')) ?? c.redirect('/login', 303);
  })
  .post('/passkeys/challenge', challengePasskey)
  .post('/passkeys', again(accountPage), savePasskey)
  .post('/passkeys/:id/remove', deletePasskey)
  .post('/app', again(accountPage), addApp)
  .post('/app/confirm', again(accountPage), confirmApp)
  .post('/app/remove', again(accountPage), removeApp);

export const account: PageRecord = {
  path: '/settings/account',
  title: 'Your account',
  routes,
};

export const signingOut: PageRecord = {
  path: '/logout',
  title: 'Sign out',
  routes: pageRoutes().post('/', async (c) => {
    setCookies(c, await signOut(c.env, c.req.raw));
    return c.redirect('/login', 303);
  }),
};
