import { database } from '../../src/db/index.ts';
import { createAccessToken, createApplication, createTeam } from '../../src/teams/index.ts';
import type { Tenant } from './client.ts';

/** A team with an application, made inside the Worker. */
export async function makeTenant(env: Env): Promise<Tenant> {
  const db = database(env.DB);
  const now = Date.now();
  const team = await createTeam(db, 'Chaos', now);
  const { accessToken } = await createAccessToken({ db, team, actor: 'chaos', now }, 'chaos', null);
  const made = await createApplication(
    { db, team, actor: 'chaos', now },
    { name: 'Chaos' },
    env.KEY_ENCRYPTION_SECRET,
  );
  return { apiKey: made.apiKey, teamToken: accessToken, applicationId: made.application.id };
}
