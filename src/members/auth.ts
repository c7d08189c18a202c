import { settingsOf } from '#env';

const SESSION_DAYS = 7;

async function makeAuth(env: Env, origin: string) {
  // Loaded on the first sign-in, so that the ingestion path neither parses nor runs it.
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
    // People join in the first-run setup or by invitation, each in a transaction of ours.
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

/** The better-auth instance for the request's origin. A deployment has one origin, so one instance is cached. */
export function authOf(env: Env, origin: string): Promise<Auth> {
  const known = instances.get(env);
  if (known?.origin === origin) return known.auth;
  const auth = makeAuth(env, origin);
  instances.set(env, { origin, auth });
  return auth;
}
