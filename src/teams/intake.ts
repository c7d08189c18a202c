import { eq } from 'drizzle-orm';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { applications, database, intakeSecrets } from '#db';
import { type AppEnv, AppError, callerNetwork, LookupCache, requireWithin } from '#http';
import { INTAKE_SECRET_FORM } from '#lib/credentials';
import { sha256Hex } from '#lib/crypto';

async function loadApplication(env: Env, secret: string) {
  const hash = await sha256Hex(secret);
  const [row] = await database(env.DB.withSession())
    .select({ application: applications, expiresAt: intakeSecrets.expiresAt })
    .from(intakeSecrets)
    .innerJoin(applications, eq(applications.id, intakeSecrets.applicationId))
    .where(eq(intakeSecrets.hash, hash));
  return row ? { ...row.application, expiresAt: row.expiresAt } : null;
}

/** An application as the intake of stores and mediation needs it, up to a minute out of date. */
export type IntakeApplication = NonNullable<Awaited<ReturnType<typeof loadApplication>>>;

const bySecret = new LookupCache<IntakeApplication>();

export type IntakeEnv = { Bindings: Env; Variables: AppEnv['Variables'] & { intake: IntakeApplication } };

/**
 * Authenticates an application by its intake secret; sets `intake` and `application`. Its requests are counted apart from those with its API key, so
 * that callbacks cannot take the place of events.
 */
export async function authenticateIntake(c: Context<IntakeEnv>, secret: string): Promise<IntakeApplication> {
  const now = Date.now();
  const lookUp = async () => {
    if (!bySecret.holds(secret, now)) await requireWithin(c.env.UNKNOWN_CREDENTIAL_LIMIT, callerNetwork(c));
    return loadApplication(c.env, secret);
  };
  const found = INTAKE_SECRET_FORM.test(secret)
    ? await bySecret.get(secret, now, lookUp, (work) => c.executionCtx.waitUntil(work))
    : null;
  if (!found || (found.expiresAt !== null && found.expiresAt <= now)) {
    c.set('claimedApplicationId', '');
    throw new AppError('unauthenticated', 'Unknown or replaced intake secret');
  }
  await requireWithin(c.env.API_KEY_LIMIT, `intake:${found.id}`);
  c.set('intake', found);
  c.set('application', found);
  return found;
}

/** Authenticates the application by the secret in the path. */
export const requireIntakeSecret = createMiddleware<IntakeEnv>(async (c, next) => {
  await authenticateIntake(c, c.req.param('secret') ?? '');
  return next();
});

/** Refuses a request with another method than `allowed`, after the secret is known, so that the application's debugger shows it. */
export const refuseOtherMethods = (allowed: string) => () => {
  throw new AppError('method_not_allowed', 'Method not allowed', { headers: { Allow: allowed } });
};
