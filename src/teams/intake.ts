import { eq, getTableColumns } from 'drizzle-orm';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { applications, database, intakeSecrets } from '#db';
import { type AppEnv, AppError, authenticate, LookupCache, requireWithin } from '#http';
import { INTAKE_SECRET_FORM } from '#lib/credentials';

async function loadApplication(env: Env, hash: string) {
  const rows = await database(env.DB.withSession())
    .select({ ...getTableColumns(applications), expiresAt: intakeSecrets.expiresAt })
    .from(intakeSecrets)
    .innerJoin(applications, eq(applications.id, intakeSecrets.applicationId))
    .where(eq(intakeSecrets.hash, hash));
  return rows[0] ?? null;
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
  const found = await authenticate(c, secret, INTAKE_SECRET_FORM, bySecret, loadApplication);
  if (!found) {
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
