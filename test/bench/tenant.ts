import { database } from '../../src/db/index.ts';
import { createAccessToken, createApplication, createTeam } from '../../src/teams/index.ts';

export type Tenant = { teamId: string; teamToken: string };

export async function makeTenant(db: D1Database): Promise<Tenant> {
  const team = await createTeam(database(db), 'Bench', Date.now());
  const { accessToken } = await createAccessToken(database(db), team.id, 'bench', null, Date.now());
  return { teamId: team.id, teamToken: accessToken };
}

export async function makeApplication(db: D1Database, { teamId }: Tenant, name: string) {
  const secret = 'a-key-encryption-secret-of-the-benchmark';
  const made = await createApplication(database(db), teamId, { name }, secret, Date.now());
  return { applicationId: made.application.id, apiKey: made.apiKey };
}
