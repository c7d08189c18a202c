import { env } from 'cloudflare:workers';
import { database } from '#db';
import type { NewApplication } from '#teams';
import { createAccessToken, createApplication, createTeam } from '#teams';

/** A team of its own with an application and both credentials, so that no test depends on another's. */
export async function createTenant(settings: Partial<NewApplication> = {}) {
  const db = database(env.DB);
  const now = Date.now();
  const team = await createTeam(db, 'Test team', now);
  const { accessToken } = await createAccessToken(db, team.id, 'test', null, now);
  const { application, apiKey } = await createApplication(
    db,
    team.id,
    { name: 'Test game', ...settings },
    env.KEY_ENCRYPTION_SECRET,
    now,
  );
  return { team, application, apiKey, teamToken: accessToken };
}

export type Tenant = Awaited<ReturnType<typeof createTenant>>;
