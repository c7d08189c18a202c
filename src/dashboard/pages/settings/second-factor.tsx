import * as z from 'zod';
import { type Fault, invalidRequest } from '#http';
import {
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  type SecondFactor,
  secondFactorOf,
} from '#members';
import type { FormField } from '../../forms/field.tsx';
import { currentPasswordField, PostForm } from '../../forms/fields.tsx';
import { requireForm } from '../../forms/form.ts';
import { redirectShowing } from '../../forms/show-once.ts';
import { redirectDone } from '../../shell/done.ts';
import { callerOf } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Card, FormMenu, Notice } from '../../shell/parts.tsx';
import { QrCode } from '../../shell/qr-code.tsx';
import { limitPerson } from '../access/sign-in.tsx';

const PATH = '/settings/account';

const PasswordCheck = z.object({ password: z.string().min(1).max(128) });
const AppCode = z.object({
  code: z
    .string()
    .transform((code) => code.replaceAll(' ', ''))
    .pipe(z.string().regex(/^\d{6}$/, 'must have six digits')),
});

/** The key of an `otpauth:` URI, in groups of four as apps show it. */
const keyOf = (uri: string) =>
  (new URL(uri).searchParams.get('secret') ?? '').replaceAll(/.{4}(?=.)/g, '$& ');

const Key = ({ uri, recoveryCodes }: { uri: string; recoveryCodes: string }) => (
  <Notice kind="good">
    <p>
      <strong>Add this key to your authenticator app now:</strong> scan the code,{' '}
      <a href={uri}>open the app</a> on this phone, or type the key <code>{keyOf(uri)}</code>.
    </p>
    <QrCode text={uri} of="the key" />
    <p>
      <strong>Keep these recovery codes.</strong> Each signs you in once without the app. They are shown only
      here.
    </p>
    <pre>{recoveryCodes}</pre>
  </Notice>
);

const PASSWORD = [currentPasswordField('Your password')];
const CODE: readonly FormField[] = [
  {
    label: 'Code',
    name: 'code',
    autocomplete: 'one-time-code',
    hint: 'The six digits that the app shows. From then on, signing in takes such a code.',
    required: true,
  },
];

type FormMessages = Readonly<Record<string, string | undefined>>;

/** How a person adds an authenticator app to their sign-in, and removes it. `shown` has the key and the recovery codes, right after it was made. */
export const SecondFactorCard = ({
  state,
  shown: { uri, recoveryCodes },
  faults,
}: {
  state: SecondFactor;
  shown: FormMessages;
  faults: readonly Fault[];
}) => {
  const label = state === 'unconfirmed' ? 'Start again' : 'Set up';
  return (
    <Card
      title="Authenticator app"
      aside={
        <FormMenu
          label={state === 'on' ? 'Remove' : label}
          id="app"
          kind="quiet"
          open={faults.some(({ path }) => path === 'password')}
        >
          <PostForm
            to={`${PATH}/app${state === 'on' ? '/remove' : ''}`}
            button={state === 'on' ? 'Remove the app' : label}
            fields={PASSWORD}
            faults={faults}
          />
        </FormMenu>
      }
    >
      {uri !== undefined && <Key uri={uri} recoveryCodes={recoveryCodes ?? ''} />}
      {state === 'unconfirmed' && (
        <PostForm to={`${PATH}/app/confirm`} button="Turn on" fields={CODE} faults={faults} />
      )}
      <p class="muted">
        {state === 'on' && 'Signing in takes your password and a code of your authenticator app.'}
        {state === 'off' &&
          'With an authenticator app, signing in takes a code that changes every 30 seconds, so a stolen password is not enough.'}
        {state === 'unconfirmed' && 'If you no longer see the key, start again with a new one.'}
      </p>
    </Card>
  );
};

const wrongPassword = () => invalidRequest([{ path: 'password', message: 'is incorrect' }]);

export async function addApp(c: DashboardContext): Promise<Response> {
  await limitPerson(c);
  const { password } = await requireForm(c, PasswordCheck);
  if ((await secondFactorOf(callerOf(c).db, c.get('person').userId)) === 'on') return c.redirect(PATH, 303);
  const made = await beginSecondFactor(c.env, c.req.raw, password);
  if (!made) throw wrongPassword();
  return redirectShowing(c, PATH, { uri: made.uri, recoveryCodes: made.recoveryCodes.join('\n') });
}

export async function confirmApp(c: DashboardContext): Promise<Response> {
  await limitPerson(c);
  const { code } = await requireForm(c, AppCode);
  if (!(await confirmSecondFactor(c.env, callerOf(c), c.get('person'), code))) {
    throw invalidRequest([{ path: 'code', message: 'is not the one that the app shows now' }]);
  }
  return redirectDone(c, PATH, 'second_factor_added');
}

export async function removeApp(c: DashboardContext): Promise<Response> {
  await limitPerson(c);
  const { password } = await requireForm(c, PasswordCheck);
  if (!(await removeSecondFactor(c.env, callerOf(c), c.get('person'), password))) throw wrongPassword();
  return redirectDone(c, PATH, 'second_factor_removed');
}
