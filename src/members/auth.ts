import { requireFullPasskey } from './passkey-rules.ts';
import { sessionSecrets } from './session-secrets.ts';

const SESSION_DAYS = 7;

async function makeAuth(env: Env, origin: string) {
  // Loaded on the first sign-in, so that the ingestion path neither parses nor runs it.
  const [{ betterAuth }, { drizzleAdapter }, { twoFactor }, { passkey }, db] = await Promise.all([
    import('better-auth/minimal'),
    import('better-auth/adapters/drizzle'),
    import('better-auth/plugins/two-factor'),
    import('@better-auth/passkey'),
    import('#db'),
  ]);
  return betterAuth({
    baseURL: origin,
    ...sessionSecrets(env),
    database: drizzleAdapter(db.database(env.DB), {
      provider: 'sqlite',
      schema: {
        user: db.users,
        session: db.sessions,
        account: db.accounts,
        twoFactor: db.twoFactors,
        passkey: db.passkeys,
        verification: db.verifications,
      },
      transaction: false,
    }),
    // People join in the first-run setup or by invitation, each in a transaction of ours.
    emailAndPassword: { enabled: true, disableSignUp: true, minPasswordLength: 12, maxPasswordLength: 128 },
    plugins: [
      // The authenticator app shows the host next to the codes.
      twoFactor({ issuer: new URL(origin).host }),
      passkey({
        rpName: 'Attribution',
        rpID: new URL(origin).hostname,
        origin,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        authentication: {
          afterVerification: ({ verification, clientData }) =>
            requireFullPasskey(db.database(env.DB), clientData.id, verification.authenticationInfo),
        },
      }),
    ],
    // `freshAge: 0`: adding a passkey takes the password instead of a recent sign-in.
    session: { expiresIn: SESSION_DAYS * 86_400, updateAge: 86_400, freshAge: 0 },
    // Nobody reads it, and it may be as long as a header.
    databaseHooks: { session: { create: { before: async () => ({ data: { userAgent: null } }) } } },
    advanced: {
      cookiePrefix: 'dashboard',
      useSecureCookies: origin.startsWith('https:'),
      ipAddress: { disableIpTracking: true },
    },
    telemetry: { enabled: false },
    logger: { disabled: true },
  });
}

export type Auth = Awaited<ReturnType<typeof makeAuth>>;

const instances = new WeakMap<object, { origin: string; auth: Promise<Auth> }>();

/** The better-auth instance for the request's origin. A deployment has one origin, so one instance is cached. */
export function authOf(env: Env, origin: string): Promise<Auth> {
  const known = instances.get(env);
  if (known?.origin === origin) return known.auth;
  const auth = makeAuth(env, origin);
  instances.set(env, { origin, auth });
  return auth;
}

export const originOf = (request: Request) => new URL(request.url).origin;

/** What a better-auth call returns; null if it refuses its input. */
export async function unlessRefused<Answer>(call: () => Promise<Answer>): Promise<Answer | null> {
  const { isAPIError } = await import('better-auth/api');
  try {
    return await call();
  } catch (error) {
    if (isAPIError(error)) return null;
    throw error;
  }
}
