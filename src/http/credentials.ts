import { and, eq, getTableColumns, isNull } from 'drizzle-orm';
import { createMiddleware } from 'hono/factory';
import { accessTokens, apiKeys, applications, database, guardDatabase } from '#db';
import { settingsOf } from '#env';
import { ACCESS_TOKEN_FORM, API_KEY_FORM } from '#lib/credentials';
import { sha256Hex } from '#lib/crypto';
import type { AppContext, AppEnv, AuthenticatedApplication, AuthenticatedTeam } from './context.ts';
import { forgetOrigins } from './cross-origin.ts';
import { AppError, accessDenied } from './errors.ts';
import { LookupCache } from './lookup-cache.ts';
import { callerNetwork, requireWithin } from './rate-limit.ts';

// Checks run in this order: the credential's format, which costs nothing; a rate limit, per address for a credential that this isolate
// does not know and per application or team for one that it does; then the database.

type Expiring = { expiresAt: number | null };

const applicationsByKey = new LookupCache<AuthenticatedApplication & Expiring>();
const teamsByToken = new LookupCache<AuthenticatedTeam & Expiring>();

/** Clears this isolate's credential caches, as if it had just started. */
export function forgetCredentials(): void {
  applicationsByKey.clear();
  teamsByToken.clear();
  forgetOrigins();
}

async function loadApplication(env: Env, hash: string) {
  // A session without constraint may read from a nearby replica. A key that has not reached it yet is a miss for at most 10 s.
  const rows = await database(env.DB.withSession())
    .select({ ...getTableColumns(applications), expiresAt: apiKeys.expiresAt })
    .from(apiKeys)
    .innerJoin(applications, eq(applications.id, apiKeys.applicationId))
    .where(eq(apiKeys.hash, hash));
  return rows[0] ?? null;
}

async function loadTeam(env: Env, hash: string) {
  const rows = await database(env.DB.withSession())
    .select({ id: accessTokens.teamId, accessTokenId: accessTokens.id, expiresAt: accessTokens.expiresAt })
    .from(accessTokens)
    .where(and(eq(accessTokens.hash, hash), isNull(accessTokens.revokedAt)));
  return rows[0] ?? null;
}

/**
 * Returns what a credential authenticates, or null. Each lookup of a credential that this isolate does not know counts against the
 * caller's address before the database is queried, so that guessing does not reach the database. A valid credential is looked up once
 * per isolate, however many requests arrive with it. The lookup is by SHA-256, so that no comparison leaks the credential by its timing.
 */
export async function authenticate<Value extends Expiring>(
  c: Pick<AppContext, 'env' | 'executionCtx' | 'req'>,
  credential: string | undefined,
  form: RegExp,
  cache: LookupCache<Value>,
  load: (env: Env, hash: string) => Promise<Value | null>,
): Promise<Value | null> {
  if (credential === undefined || !form.test(credential)) return null;
  const now = Date.now();
  const lookUp = async () => {
    // Renewing a known credential is not guessing.
    if (!cache.holds(credential, now)) await requireWithin(c.env.UNKNOWN_CREDENTIAL_LIMIT, callerNetwork(c));
    return load(c.env, await sha256Hex(credential));
  };
  const proved = await cache.get(credential, now, lookUp, (work) => c.executionCtx.waitUntil(work));
  return proved && (proved.expiresAt === null || now < proved.expiresAt) ? proved : null;
}

async function authenticateApplication(c: AppContext, credential: string | undefined): Promise<void> {
  const application = await authenticate(c, credential, API_KEY_FORM, applicationsByKey, loadApplication);
  if (!application) throw new AppError('unauthenticated', 'Invalid or missing API key');
  await requireWithin(c.env.API_KEY_LIMIT, application.id);
  c.set('application', application);
}

/** The token of the header `Authorization: Bearer <token>`; undefined without one. */
export const bearerOf = (c: Pick<AppContext, 'req'>): string | undefined =>
  /^Bearer\s+(\S+)\s*$/i.exec(c.req.header('Authorization') ?? '')?.[1];

const apiKeyOf = (c: AppContext) => c.req.header(`${settingsOf(c.env).SERVICE_NAME}-api-key`);

/** Authenticates the application by the header `<name>-api-key`; sets `application`. */
export const requireApiKey = createMiddleware<AppEnv>(async (c, next) => {
  await authenticateApplication(c, apiKeyOf(c));
  return next();
});

/** Like `requireApiKey`, also by the header `Authorization: Bearer <API key>`. */
export const requireApiOrBearerKey = createMiddleware<AppEnv>(async (c, next) => {
  await authenticateApplication(c, apiKeyOf(c) ?? bearerOf(c));
  return next();
});

/** Refuses the request if the application's data collection is off. */
export const requireDataCollection = createMiddleware<AppEnv>((c, next) => {
  if (!c.get('application').dataCollection) throw accessDenied();
  return next();
});

/** The team of an access token, after counting the request against its limit; null if no team has the token. */
export async function findTeam(c: AppContext, token: string | undefined): Promise<AuthenticatedTeam | null> {
  const team = await authenticate(c, token, ACCESS_TOKEN_FORM, teamsByToken, loadTeam);
  if (team) await requireWithin(c.env.TEAM_TOKEN_LIMIT, team.id);
  return team;
}

/** Authenticates the team by the header `<name>-Token`; sets `team`. */
export const requireTeamToken = createMiddleware<AppEnv>(async (c, next) => {
  const team = await findTeam(c, c.req.header(`${settingsOf(c.env).SERVICE_NAME}-Token`));
  if (!team) throw new AppError('unauthenticated', 'Incorrect authentication token');
  c.env = await guardDatabase(c.env);
  c.set('team', team);
  return next();
});
