import { settingsOf } from '#env';

const SESSION_DAYS = 7;

async function makeAuth(env: Env, origin: string) {
  // Loaded by the first person who signs in, so that the ingestion path neither parses nor runs it.
  const [{ betterAuth }, { drizzleAdapter }, { database, users, sessions, accounts }] = await Promise.all([
    import('better-auth/minimal'),
    import('better-auth/adapters/drizzle'),
    import('#db'),
  ]);
  return betterAuth({
    baseURL: origin,
    secret: settingsOf(env).SESSION_SECRET,
    database: drizzleAdapter(database(env.DB), {
      provider: 'sqlite',
      schema: { user: users, session: sessions, account: accounts },
      transaction: false,
    }),
    // People come in by the first run or by an invitation, each in one transaction of ours.
    emailAndPassword: { enabled: true, disableSignUp: true, minPasswordLength: 12, maxPasswordLength: 128 },
    session: { expiresIn: SESSION_DAYS * 86_400, updateAge: 86_400 },
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

/** The sign-in machinery for the origin that a request came to; a deployment has one, so one is remembered. */
export function authOf(env: Env, origin: string): Promise<Auth> {
  const known = instances.get(env);
  if (known?.origin === origin) return known.auth;
  const auth = makeAuth(env, origin);
  instances.set(env, { origin, auth });
  return auth;
}
