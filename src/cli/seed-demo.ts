import { randomBytes } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { eq } from 'drizzle-orm';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { database, teams } from '#db';
import { makeFirstOwner } from '#members';
import { createAccessToken, createApplication, createTeam } from '#teams';
import { type LocalState, ROOT } from './local-state.ts';

/** What `npm start` prints and `demo.json` holds. */
export type Demo = {
  base_url: string;
  tracking_base_url: string;
  dashboard_url: string;
  owner: { email: string; password: string };
  team: { id: string; name: string };
  team_token: string;
  application: { id: string; name: string };
  api_key: string;
};

/**
 * Makes the demo team with its owner, an application and its credentials, where the database does not have them yet.
 * Of an earlier start's `demo.json` only the addresses change, with the port.
 */
export async function seedDemo(state: LocalState, baseUrl: string): Promise<Demo> {
  const addresses = { base_url: baseUrl, tracking_base_url: `${baseUrl}/t`, dashboard_url: `${baseUrl}/` };
  const local = new Miniflare({
    ...convertV4MiniflareOptions({
      modules: true,
      script: 'export default {}',
      d1Databases: { DB: await databaseId() },
    }),
    resourcePersistencePath: path.join(state.directory, 'v3'),
  });
  try {
    const earlier = await readDemo(state);
    const db = await local.getD1Database('DB');
    const demo =
      earlier && (await isThere(db, earlier)) ? earlier : await makeDemo(db, await keySecret(state));
    // Does nothing where the team has its owner already.
    await makeFirstOwner(db, { name: 'Demo owner', ...demo.owner }, { teamId: demo.team.id }, Date.now());
    const written = { ...demo, ...addresses };
    await writeFile(state.demoFile, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 });
    await chmod(state.demoFile, 0o600);
    return written;
  } finally {
    await local.dispose();
  }
}

/** By this id wrangler knows the local database too. */
async function databaseId(): Promise<string> {
  const config = await readFile(path.join(ROOT, 'wrangler.toml'), 'utf8');
  const id = /^database_id = "(.+)"/m.exec(config)?.[1];
  if (!id) throw new Error('wrangler.toml names no database');
  return id;
}

async function keySecret({ secretsFile }: LocalState): Promise<string> {
  const { KEY_ENCRYPTION_SECRET } = parseEnv(await readFile(secretsFile, 'utf8'));
  if (!KEY_ENCRYPTION_SECRET) throw new Error(`${secretsFile} has no KEY_ENCRYPTION_SECRET`);
  return KEY_ENCRYPTION_SECRET;
}

async function readDemo({ demoFile }: LocalState): Promise<Demo | null> {
  const text = await readFile(demoFile, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as Demo);
}

async function isThere(d1: D1Database, demo: Demo): Promise<boolean> {
  const rows = await database(d1).select().from(teams).where(eq(teams.id, demo.team.id));
  return rows.length > 0;
}

async function makeDemo(
  d1: D1Database,
  keyEncryptionSecret: string,
): Promise<Omit<Demo, 'base_url' | 'tracking_base_url' | 'dashboard_url'>> {
  const db = database(d1);
  const now = Date.now();
  const team = await createTeam(db, 'Demo team', now);
  const { accessToken } = await createAccessToken(db, team.id, 'Made by npm start', null, now);
  const { application, apiKey } = await createApplication(
    db,
    team.id,
    { name: 'Demo game' },
    keyEncryptionSecret,
    now,
  );
  return {
    owner: { email: 'owner@localhost.test', password: randomBytes(12).toString('base64url') },
    team,
    team_token: accessToken,
    application: { id: application.id, name: application.name },
    api_key: apiKey,
  };
}
