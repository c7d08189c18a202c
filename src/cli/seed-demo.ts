import { randomBytes } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { eq } from 'drizzle-orm';
import { database, teams } from '#db';
import { hasPassword, makeFirstOwner } from '#members';
import { createAccessToken, createApplication, createTeam } from '#teams';
import { type Demo, type LocalState, readDemo } from './local-state.ts';

export type { Demo };

/**
 * Creates the demo team with its owner, an application and their credentials, unless the database already has them. In an existing
 * `demo.json` it updates only what this start may change: URLs, the service's name, and whether the password is still the original.
 */
export async function seedDemo(
  db: D1Database,
  state: LocalState,
  { baseUrl, serviceName }: { baseUrl: string; serviceName: string },
): Promise<Demo> {
  const earlier = await readDemo(state);
  const demo =
    earlier && (await hasTeam(db, earlier)) ? earlier : await createDemo(db, await keySecret(state));
  const written: Demo = {
    ...demo,
    base_url: baseUrl,
    tracking_base_url: `${baseUrl}/t`,
    dashboard_url: `${baseUrl}/`,
    service_name: serviceName,
    owner: await createOwner(db, demo),
  };
  await writeFile(state.demoFile, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 });
  await chmod(state.demoFile, 0o600);
  return written;
}

/** Creates the owner if no team has a member yet. Returns the credentials that are still valid. */
async function createOwner(
  d1: D1Database,
  { owner, team }: Pick<Demo, 'owner' | 'team'>,
): Promise<Demo['owner']> {
  const { email, password } = owner;
  if (password === null) return owner;
  await makeFirstOwner(d1, { name: 'Demo owner', email, password }, { teamId: team.id }, Date.now());
  return (await hasPassword(d1, email, password)) ? owner : { email, password: null };
}

async function keySecret({ secretsFile }: LocalState): Promise<string> {
  const { KEY_ENCRYPTION_SECRET } = parseEnv(await readFile(secretsFile, 'utf8'));
  if (!KEY_ENCRYPTION_SECRET) throw new Error(`${secretsFile} has no KEY_ENCRYPTION_SECRET`);
  return KEY_ENCRYPTION_SECRET;
}

async function hasTeam(d1: D1Database, demo: Demo): Promise<boolean> {
  const rows = await database(d1).select().from(teams).where(eq(teams.id, demo.team.id));
  return rows.length > 0;
}

async function createDemo(
  d1: D1Database,
  keyEncryptionSecret: string,
): Promise<Pick<Demo, 'owner' | 'team' | 'team_token' | 'application' | 'api_key'>> {
  const db = database(d1);
  const now = Date.now();
  const team = await createTeam(db, 'Demo team', now);
  const caller = { db, team, actor: 'npm start', now };
  const { accessToken } = await createAccessToken(caller, 'Created by npm start', null);
  const { application, apiKey } = await createApplication(caller, { name: 'Demo game' }, keyEncryptionSecret);
  return {
    owner: { email: 'owner@localhost.test', password: randomBytes(12).toString('base64url') },
    team,
    team_token: accessToken,
    application: { id: application.id, name: application.name },
    api_key: apiKey,
  };
}
