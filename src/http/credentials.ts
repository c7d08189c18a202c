import { and, eq, isNull } from 'drizzle-orm';
import { createMiddleware } from 'hono/factory';
import { accessTokens, apiKeys, applications, database } from '#db';
import { settingsOf } from '#env';
import { sha256Hex } from '#lib/crypto';
import type { AppContext, AppEnv, AuthenticatedApplication, AuthenticatedTeam } from './context.ts';
import { CredentialCache } from './credential-cache.ts';
import { AppError, accessDenied } from './errors.ts';
import { SampledLimit } from './sampled-limit.ts';

const applicationsByKey = new CredentialCache<AuthenticatedApplication & { expiresAt: number | null }>();
const teamsByToken = new CredentialCache<AuthenticatedTeam & { expiresAt: number | null }>();

const requestsByApplication = new SampledLimit();

/** Forgets every credential and count of this isolate, as a new isolate would start. */
export function forgetCredentials(): void {
  requestsByApplication.clear();
  applicationsByKey.clear();
  teamsByToken.clear();
}

async function loadApplication(env: Env, hash: string) {
  // A session without constraint may read from a nearby replica: a key that it has not seen yet is a miss for 10 s at most.
  const rows = await database(env.DB.withSession())
    .select({
      id: applications.id,
      teamId: applications.teamId,
      timezone: applications.timezone,
      dataCollection: applications.dataCollection,
      expiresAt: apiKeys.expiresAt,
    })
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

/** What a credential proves, or null. The database is asked by its SHA-256, so that no comparison can leak it by its time. */
async function prove<Value extends { expiresAt: number | null }>(
  c: AppContext,
  cache: CredentialCache<Value>,
  credential: string | undefined,
  load: (env: Env, hash: string) => Promise<Value | null>,
): Promise<Value | null> {
  if (!credential || credential.length > 256) return null;
  const now = Date.now();
  const proved = await cache.get(
    credential,
    now,
    async () => load(c.env, await sha256Hex(credential)),
    (work) => c.executionCtx.waitUntil(work),
  );
  return proved && (proved.expiresAt === null || now < proved.expiresAt) ? proved : null;
}

const tooMany = () => new AppError('rate_limited', 'Too many requests', { headers: { 'Retry-After': '10' } });

async function brake(limiter: RateLimit, key: string): Promise<void> {
  const { success } = await limiter.limit({ key });
  if (!success) throw tooMany();
}

/** Guessing is slowed down by address; a client with a right credential never meets this. */
async function refuse(c: AppContext, message: string): Promise<never> {
  await brake(c.env.FAILED_CREDENTIAL_LIMIT, c.req.header('cf-connecting-ip') ?? 'unknown');
  throw new AppError('unauthenticated', message);
}

async function proveApplication(c: AppContext, credential: string | undefined): Promise<void> {
  const application = await prove(c, applicationsByKey, credential, loadApplication);
  if (!application) return refuse(c, 'Invalid or missing API key');
  if (!(await requestsByApplication.allows(c.env.API_KEY_LIMIT, application.id, Date.now()))) throw tooMany();
  c.set('application', application);
}

/** Proves the application by the header `<name>-api-key`; sets `application`. */
export const requireApiKey = createMiddleware<AppEnv>(async (c, next) => {
  await proveApplication(c, c.req.header(`${settingsOf(c.env).SERVICE_NAME}-api-key`));
  return next();
});

/** The same by `Authorization: Bearer <API key>`. */
export const requireBearerKey = createMiddleware<AppEnv>(async (c, next) => {
  await proveApplication(c, /^Bearer\s+(\S+)\s*$/i.exec(c.req.header('Authorization') ?? '')?.[1]);
  return next();
});

/** Lets a request pass only while the application collects data. */
export const requireDataCollection = createMiddleware<AppEnv>(async (c, next) => {
  if (!c.get('application').dataCollection) throw accessDenied();
  await next();
});

/** Proves the team by the header `<name>-Token`; sets `team`. */
export const requireTeamToken = createMiddleware<AppEnv>(async (c, next) => {
  const credential = c.req.header(`${settingsOf(c.env).SERVICE_NAME}-Token`);
  const team = await prove(c, teamsByToken, credential, loadTeam);
  if (!team) return refuse(c, 'Incorrect authentication token');
  await brake(c.env.TEAM_TOKEN_LIMIT, team.id);
  c.set('team', team);
  return next();
});
