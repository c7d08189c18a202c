import * as z from 'zod';
import { type Database, database } from '#db';
import { AppError, callerNetwork, type Fault, requiredName, requiredText, requireWithin } from '#http';
import {
  acceptInvitation,
  beginPasskeySignIn,
  enterCode,
  findInvitation,
  makeFirstOwner,
  NewPerson,
  setupIsOpen,
  signIn,
  signInWithPasskey,
} from '#members';
import type { FormField } from '../../forms/field.tsx';
import { currentPasswordField, Fields, newPasswordField } from '../../forms/fields.tsx';
import { again, parseForm, requireForm, type Submitted } from '../../forms/form.ts';
import { credentialField, PasskeyScript } from '../../forms/passkey-parts.tsx';
import { safePath, setCookies } from '../../shell/guard.ts';
import { renderPlainPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Notice } from '../../shell/parts.tsx';
import { ROLE_NAMES } from '../../shell/words.ts';

const FirstRun = NewPerson.safeExtend({ team: requiredName(255) });

/** All sign-in limits use the same message and waiting time. */
const TOO_MANY_ATTEMPTS = {
  message: 'Too many attempts. Wait a minute, then try again.',
  retryAfterSeconds: 60,
};

const limitAddress = (c: DashboardContext) =>
  requireWithin(c.env.SIGN_IN_ADDRESS_LIMIT, callerNetwork(c), TOO_MANY_ATTEMPTS);

/** The same for whoever is signed in. */
export const limitPerson = (c: DashboardContext) =>
  requireWithin(c.env.SIGN_IN_LIMIT, c.get('person').userId, TOO_MANY_ATTEMPTS);

/**
 * Password guesses for one person are limited strictly per address, and loosely over all addresses, so that someone who knows an email cannot
 * lock its owner out with wrong passwords. Attempts that the first limit refuses do not count towards the second.
 */
async function limitGuesses(c: DashboardContext, email: string): Promise<void> {
  await requireWithin(c.env.SIGN_IN_LIMIT, `${callerNetwork(c)} ${email}`, TOO_MANY_ATTEMPTS);
  await requireWithin(c.env.SIGN_IN_EMAIL_LIMIT, email, TOO_MANY_ATTEMPTS);
}

/** Signs in and continues to `next`, for people with an authenticator app by way of its code. Returns null if email or password is wrong. */
export async function enter(c: DashboardContext, pair: { email: string; password: string }, next: string) {
  const signedIn = await signIn(c.env, c.req.raw, pair);
  if (!signedIn) return null;
  setCookies(c, signedIn.cookies);
  return c.redirect(signedIn.needsCode ? `/login/code?${new URLSearchParams({ next })}` : next, 303);
}

const WHAT_THIS_IS = 'See which ads bring players who stay and pay.';

const WRONG_PASSWORD = 'Incorrect email or password.';
const WRONG_PASSKEY = 'That passkey is not known here. Sign in with your password.';

const TEAM: FormField = { label: 'Team', name: 'team', required: true };
const EMAIL: FormField = {
  label: 'Email',
  name: 'email',
  type: 'email',
  autocomplete: 'username',
  required: true,
};
const SIGN_IN_FIELDS = [EMAIL, currentPasswordField('Password')];
const CODE_FIELDS: readonly FormField[] = [
  {
    label: 'Code',
    name: 'code',
    autocomplete: 'one-time-code',
    hint: 'The six digits that your authenticator app shows, or one of your recovery codes.',
    maxlength: 20,
    required: true,
  },
];

function loginPage(c: DashboardContext, values: Record<string, string>, fault: string | null = null) {
  return renderPlainPage(
    c,
    { status: fault ? 400 : 200 },
    <>
      <form method="post" action="/login" class="stack">
        <p class="muted">{WHAT_THIS_IS}</p>
        {fault && <Notice kind="bad">{fault}</Notice>}
        <input type="hidden" name="next" value={safePath(values.next)} />
        <Fields fields={SIGN_IN_FIELDS} values={values} />
        <button type="submit">Sign in</button>
      </form>
      <form
        method="post"
        action="/login/passkey"
        class="stack"
        data-passkey="get"
        data-challenge="/login/passkey/challenge"
        hidden
      >
        <input type="hidden" name="next" value={safePath(values.next)} />
        <input type="hidden" name="credential" value="" />
        <button type="submit" class="quiet">
          Use a passkey
        </button>
        <p role="status"></p>
      </form>
      <details class="fold">
        <summary>Forgot your password?</summary>
        <p class="muted">
          An owner or admin of your team can create a link to choose a new one, under Settings → Members.
          Whoever runs this service can do the same: <code>npm run password-reset</code>.
        </p>
      </details>
      <PasskeyScript />
    </>,
  );
}

function codePage(c: DashboardContext, next: string, wrong = false) {
  return renderPlainPage(
    c,
    { title: 'Enter a code', status: wrong ? 400 : 200 },
    <form method="post" action="/login/code" class="stack">
      {wrong && (
        <Notice kind="bad">
          That code is not valid. After five wrong codes, or ten minutes, <a href="/login">sign in again</a>.
        </Notice>
      )}
      <input type="hidden" name="next" value={safePath(next)} />
      <Fields fields={CODE_FIELDS} />
      <button type="submit">Sign in</button>
    </form>,
  );
}

/** The field of a new password. */
export const passwordField = (label: string) =>
  newPasswordField(
    label,
    'At least 12 characters, not only common words or your name. A few random words work well.',
  );

const PERSON_FIELDS: readonly FormField[] = [
  { label: 'Your name', name: 'name', autocomplete: 'name', required: true },
  { ...EMAIL, hint: 'You sign in with it. Nothing is sent to it.' },
  passwordField('Password'),
];

function setupPage(c: DashboardContext, submitted: Submitted = {}) {
  return renderPlainPage(
    c,
    {},
    <form method="post" action="/setup" class="stack">
      <p class="muted">{WHAT_THIS_IS}</p>
      <p>Create your team and its owner account. Everyone else joins by invitation.</p>
      <Fields fields={[TEAM, ...PERSON_FIELDS]} {...submitted} />
      <button type="submit">Create team</button>
    </form>,
  );
}

type Invitation = NonNullable<Awaited<ReturnType<typeof findInvitation>>>;

function joinPage(
  c: DashboardContext,
  invitation: Invitation,
  values: Record<string, string>,
  faults: readonly Fault[] = [],
) {
  return renderPlainPage(
    c,
    { title: `Join ${invitation.teamName}`, status: faults.length > 0 ? 400 : 200 },
    <form method="post" class="stack">
      <p>
        You are invited to join as <strong>{ROLE_NAMES[invitation.role]}</strong>.
      </p>
      <Fields fields={PERSON_FIELDS} values={values} faults={faults} />
      <button type="submit">Join</button>
    </form>,
  );
}

/** What the secret of an address stands for. Throws `not_found`, with `why`, if it stands for nothing any more. */
export async function openSecret<Found>(
  c: DashboardContext,
  find: (db: Database, secret: string, now: number) => Promise<Found | null>,
  why: string,
): Promise<Found> {
  await limitAddress(c);
  const found = await find(database(c.env.DB), c.req.param('secret') ?? '', Date.now());
  if (!found) throw new AppError('not_found', `${why} Ask for a new one.`);
  return found;
}

const openInvitation = (c: DashboardContext) =>
  openSecret(c, findInvitation, 'This invitation no longer works: it was used or withdrawn, or has expired.');

const Credentials = z.object({
  email: requiredText(254).toLowerCase(),
  password: z.string().min(1).max(128),
});

const PasskeyAnswer = z.object({ credential: credentialField() });

const SecondStep = z.object({ code: z.string().trim().min(1).max(20) });

const closed = () =>
  new AppError('not_found', 'This service is set up already. Sign in, or ask for an invitation.');

export const login: PageRecord = {
  path: '/login',
  title: 'Sign in',
  opens: null,
  routes: pageRoutes()
    .get('/', async (c) => {
      if (await setupIsOpen(c.env.DB)) return c.redirect('/setup');
      return loginPage(c, { next: c.req.query('next') ?? '/' });
    })
    .post('/', async (c) => {
      await limitAddress(c);
      const { data, values } = await parseForm(c, Credentials);
      if (data) await limitGuesses(c, data.email);
      return (data && (await enter(c, data, safePath(values.next)))) ?? loginPage(c, values, WRONG_PASSWORD);
    })
    .post('/passkey/challenge', async (c) => {
      await limitAddress(c);
      const { options, cookies } = await beginPasskeySignIn(c.env, c.req.raw);
      setCookies(c, cookies);
      return c.json(options);
    })
    .post('/passkey', async (c) => {
      await limitAddress(c);
      const { data, values } = await parseForm(c, PasskeyAnswer);
      const cookies = data && (await signInWithPasskey(c.env, c.req.raw, data.credential));
      if (!cookies) return loginPage(c, { next: values.next ?? '/' }, WRONG_PASSKEY);
      setCookies(c, cookies);
      return c.redirect(safePath(values.next), 303);
    })
    .get('/code', (c) => codePage(c, c.req.query('next') ?? '/'))
    .post('/code', async (c) => {
      await limitAddress(c);
      const { data, values } = await parseForm(c, SecondStep);
      const cookies = data && (await enterCode(c.env, c.req.raw, data.code));
      if (!cookies) return codePage(c, values.next ?? '/', true);
      setCookies(c, cookies);
      return c.redirect(safePath(values.next), 303);
    }),
};

export const setup: PageRecord = {
  path: '/setup',
  title: 'Welcome',
  opens: null,
  routes: pageRoutes()
    .get('/', async (c) => {
      if (!(await setupIsOpen(c.env.DB))) throw closed();
      return setupPage(c);
    })
    .post('/', again(setupPage), async (c) => {
      await limitAddress(c);
      if (!(await setupIsOpen(c.env.DB))) throw closed();
      const data = await requireForm(c, FirstRun);
      if (!(await makeFirstOwner(c.env.DB, data, { name: data.team }, Date.now()))) throw closed();
      return (await enter(c, data, '/')) ?? c.redirect('/login', 303);
    }),
};

export const join: PageRecord = {
  path: '/join',
  title: 'Join',
  opens: null,
  routes: pageRoutes()
    .get('/:secret', async (c) => joinPage(c, await openInvitation(c), {}))
    .post('/:secret', async (c) => {
      const invitation = await openInvitation(c);
      const { data, values, faults } = await parseForm(c, NewPerson);
      if (!data) return joinPage(c, invitation, values, faults);
      if (!(await acceptInvitation(c.env.DB, invitation, data, Date.now()))) {
        const fault = { path: 'email', message: 'has an account already: sign in, or use another address' };
        return joinPage(c, invitation, values, [fault]);
      }
      return (await enter(c, data, '/')) ?? c.redirect('/login', 303);
    }),
};
