import { database } from '../../src/db/index.ts';
import { createAccessToken, createApplication, createTeam } from '../../src/teams/index.ts';

const callerOf = (db: D1Database, team: { id: string }) => ({
  db: database(db),
  team,
  actor: 'bench',
  now: Date.now(),
});

export type Tenant = { teamId: string; teamToken: string };

export async function makeTenant(db: D1Database): Promise<Tenant> {
  const team = await createTeam(database(db), 'Bench', Date.now());
  const { accessToken } = await createAccessToken(callerOf(db, team), 'bench', null);
  return { teamId: team.id, teamToken: accessToken };
}

export async function makeApplication(db: D1Database, { teamId }: Tenant, name: string) {
  const secret = 'a-key-encryption-secret-of-the-benchmark';
  const made = await createApplication(callerOf(db, { id: teamId }), { name }, secret);
  return { applicationId: made.application.id, apiKey: made.apiKey };
}
