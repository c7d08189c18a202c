import { eq } from 'drizzle-orm';
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

/** Authenticates the application by the secret in the path; sets `intake` and `application`. */
export const requireIntakeSecret = createMiddleware<IntakeEnv>(async (c, next) => {
  const secret = c.req.param('secret') ?? '';
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
  await requireWithin(c.env.API_KEY_LIMIT, found.id);
  c.set('intake', found);
  c.set('application', found);
  return next();
});
