import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { database } from '#db';
import { createAccessToken, createTeam } from '#teams';
import { withLocalDatabase } from '../../src/cli/local-database.ts';
import { QUIET, ROOT, WRANGLER } from '../../src/cli/local-state.ts';
import { freePort } from '../helpers/service.ts';
import { ACCOUNT, TOKEN } from './cloudflare.ts';
import { startOrgs } from './orgs.ts';
import { runCommand, runScript, stop } from './process.ts';

// Wrangler as its own documentation says to call it: `wrangler dev` and `wrangler deploy --env <org>`.

let orgs: Awaited<ReturnType<typeof startOrgs>>;
beforeAll(async () => {
  orgs = await startOrgs({}, { isBuilt: true });
});
afterAll(() => orgs.stop());

const wrangler = (args: string[], env: Record<string, string> = {}) =>
  runCommand(process.execPath, [WRANGLER, ...args, '--config', orgs.config], { env });

describe('wrangler dev', () => {
  let port: number;
  let state: string;
  let server: ReturnType<typeof wrangler>;
  const get = (where: string, headers = {}) => fetch(`http://localhost:${port}${where}`, { headers });

  beforeAll(async () => {
    port = await freePort();
    state = path.join(orgs.folder, '.wrangler/state');
    server = wrangler(['dev', '--port', String(port), '--inspector-port', '0']);
    await server.until('Ready on');
  }, 120_000);
  afterAll(() => stop(server));

  it('serves without anything prepared, and shows /setup', async () => {
    const setup = await get('/setup');
    expect([setup.status, await setup.text()]).toEqual([200, expect.stringContaining('<form')]);
    expect(await (await get('/health')).json()).toEqual({ status: 'ok' });
    const token = await withLocalDatabase(state, async (d1) => {
      const db = database(d1);
      const team = await createTeam(db, 'A team', Date.now());
      return createAccessToken({ db, team, actor: 'test', now: Date.now() }, 'test', null);
    });
    const health = await get('/v1/health', { 'Service-Token': token.accessToken });
    expect(await health.json()).toMatchObject({ status: 'ok' });
  });

  it.each(['/pages.css', '/shell.js', '/icon.svg'])(
    'serves %s with the headers of every answer',
    async (file) => {
      const { status, headers } = await get(file);
      expect([status, headers.get('X-Content-Type-Options')]).toEqual([200, 'nosniff']);
      expect(headers.get('Referrer-Policy')).toBe('no-referrer');
      expect(headers.get('Cache-Control')).toContain('public');
    },
  );

  it('has the secrets of npm start, readable by their owner alone', async () => {
    const files = [path.join(state, 'secrets.env'), path.join(orgs.folder, '.dev.vars')];
    const [secrets, ofWrangler] = await Promise.all(
      files.map(async (file) => ({ ...parseEnv(await readFile(file, 'utf8')) })),
    );
    expect(ofWrangler).toEqual(secrets);
    expect(secrets).toEqual({
      TOKEN_SECRET: expect.stringMatching(/^.{43}$/),
      KEY_ENCRYPTION_SECRET: expect.stringMatching(/^.{43}$/),
      SESSION_SECRET: expect.stringMatching(/^.{43}$/),
    });
    for (const file of files) expect((await stat(file)).mode & 0o077).toBe(0);
  });

  it('keeps npm start from the same state while it runs', async () => {
    const second = runScript('start.ts', { env: { PORT: String(await freePort()), STATE_DIR: state } });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`${state} is used by a service that runs already`);
  });
});

describe('wrangler deploy', () => {
  const deploy = async (...args: string[]) => {
    const command = wrangler(['deploy', ...args], {
      ...QUIET,
      ...{
        CLOUDFLARE_API_BASE_URL: orgs.apiUrl,
        CLOUDFLARE_API_TOKEN: TOKEN,
        CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
      },
    });
    return { code: await command.ended, output: command.output() };
  };

  it('says what to do without an org, and changes nothing', async () => {
    const { code, output } = await deploy();
    expect(code).not.toBe(0);
    expect(output).toContain('Nothing was deployed: this project has a deployment per org');
    expect(output).toContain('npm run org -- create <org> [domain]');
    expect(orgs.account.changes).toEqual([]);
    expect((await deploy('--dry-run')).code).toBe(0);
  });

  it('deploys what npm run org has set up, and names it when it is not named', {
    timeout: 600_000,
  }, async () => {
    expect(await orgs.run('create', 'acme', '--yes')).toMatchObject({ code: 0 });
    const text = await readFile(orgs.config, 'utf8');
    const at = text.indexOf('[env.acme.vars]');
    await writeFile(orgs.config, text.slice(0, at) + text.slice(at).replace('"service"', '"acme"'));
    const secrets = orgs.deployed('acme').secrets;
    orgs.account.changes.length = 0;
    expect((await deploy()).output).toContain('npx wrangler deploy --env acme');
    expect(orgs.account.changes).toEqual([]);
    expect(await deploy('--env', 'acme')).toMatchObject({ code: 0 });
    const { script, secrets: after } = orgs.deployed('acme');
    expect(script.bindings.find(({ name }) => name === 'SERVICE_NAME')?.text).toBe('acme');
    expect(after).toEqual(secrets);
  });

  it('uploads no code whose migrations fail', { timeout: 300_000 }, async () => {
    const stored = orgs.account.databases.get(orgs.deployed('acme').database);
    // As if the last one had not run, which cannot run twice.
    stored?.sqlite.exec('DELETE FROM d1_migrations WHERE id = (SELECT max(id) FROM d1_migrations)');
    orgs.account.changes.length = 0;
    const { code, output } = await deploy('--env', 'acme');
    expect(code).not.toBe(0);
    expect(output).toContain('Nothing was deployed: the migrations of acme failed.');
    expect(orgs.account.changes.filter((change) => change.includes('/scripts/'))).toEqual([]);
  });
});

describe('the token of metrics', () => {
  it('is set by the lines of the runbook', async () => {
    const text = await readFile(path.join(ROOT, 'docs/operations.md'), 'utf8');
    const [, lines = ''] = /```sh\n(METRICS_TOKEN=\$\(openssl[\s\S]*?)```/.exec(text) ?? [];
    const script = `
      npx() { shift; ${process.execPath} ${WRANGLER} "$@" --config ${orgs.config}; }
      curl() { echo "curl $*"; }
      ${lines}`;
    const ran = runCommand('bash', ['-euo', 'pipefail', '-c', script], {
      env: {
        ...QUIET,
        ...{
          CLOUDFLARE_API_BASE_URL: orgs.apiUrl,
          CLOUDFLARE_API_TOKEN: TOKEN,
          CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
        },
      },
    });
    expect(await ran.ended, ran.output()).toBe(0);
    const token = orgs.deployed('acme').script.secrets.get('METRICS_TOKEN') ?? '';
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    // Kept by whoever runs them: Cloudflare does not show it.
    expect(ran.output().split('\n')[0]).toBe(token);
    expect(ran.output()).toContain(`Authorization: Bearer ${token}`);
  });
});

describe('npm start', () => {
  it('takes over a state whose service was killed, with the token of metrics in its secrets', {
    timeout: 120_000,
  }, async () => {
    const folder = await mkdtemp(path.join(orgs.folder, 'killed-'));
    const token = 'a-token-for-monitoring-0123456789abcdef';
    await writeFile(path.join(folder, 'secrets.env'), `METRICS_TOKEN=${token}`);
    const port = await freePort();
    await writeFile(path.join(folder, 'lock.json'), JSON.stringify([{ pid: process.pid, args: ['other'] }]));
    const started = runScript('start.ts', {
      args: ['--empty'],
      env: { PORT: String(port), STATE_DIR: folder },
    });
    await started.until('Stop with Ctrl-C');
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`http://localhost:${port}/metrics`, { headers })).status).toBe(200);
    await stop(started);
    await expect(stat(path.join(folder, 'lock.json'))).rejects.toThrow('ENOENT');
    await rm(folder, { recursive: true });
  });

  it('says in one sentence that a directory cannot be written', async () => {
    const started = runScript('start.ts', {
      env: { PORT: String(await freePort()), STATE_DIR: '/sys/attribution' },
    });
    expect(await started.ended).toBe(1);
    expect(started.output().trim().split('\n').at(-1)).toBe(
      '/sys/attribution cannot be written: it is read-only, or belongs to another user.',
    );
  });
});
