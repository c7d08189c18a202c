import { randomBytes } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eq } from 'drizzle-orm';
import { getPlatformProxy } from 'wrangler';
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
  const proxy = await getPlatformProxy<Env>({
    configPath: path.join(ROOT, 'wrangler.toml'),
    envFiles: [state.secretsFile],
    persist: { path: path.join(state.directory, 'v3') },
  });
  try {
    const earlier = await readDemo(state);
    const demo = earlier && (await isThere(proxy.env.DB, earlier)) ? earlier : await makeDemo(proxy.env);
    // Does nothing where the team has its owner already.
    await makeFirstOwner(
      proxy.env.DB,
      { name: 'Demo owner', ...demo.owner },
      { teamId: demo.team.id },
      Date.now(),
    );
    const written = { ...demo, ...addresses };
    await writeFile(state.demoFile, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 });
    await chmod(state.demoFile, 0o600);
    return written;
  } finally {
    await proxy.dispose();
  }
}

async function readDemo({ demoFile }: LocalState): Promise<Demo | null> {
  const text = await readFile(demoFile, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as Demo);
}

async function isThere(d1: D1Database, demo: Demo): Promise<boolean> {
  const rows = await database(d1).select().from(teams).where(eq(teams.id, demo.team.id));
  return rows.length > 0;
}

async function makeDemo(env: Env): Promise<Omit<Demo, 'base_url' | 'tracking_base_url' | 'dashboard_url'>> {
  const db = database(env.DB);
  const now = Date.now();
  const team = await createTeam(db, 'Demo team', now);
  const { accessToken } = await createAccessToken(db, team.id, 'Made by npm start', null, now);
  const { application, apiKey } = await createApplication(
    db,
    team.id,
    { name: 'Demo game' },
    env.KEY_ENCRYPTION_SECRET,
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
