import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { freePort } from '../helpers/service.ts';
import { runScript, stop } from './process.ts';

// `npm start` as a newcomer runs it, on a separate port and state.

let folder: string;
let port: number;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'start-'));
  port = await freePort();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (script: string, args: string[] = []) =>
  runScript(script, { args, env: { PORT: String(port), STATE_DIR: folder } });

const readDemo = async (): Promise<Demo> =>
  JSON.parse(await readFile(path.join(folder, 'demo.json'), 'utf8'));

const headers = (demo: Demo) => ({ 'service-api-key': demo.api_key, 'Content-Type': 'application/json' });
const metrics = {
  type: 'device-metrics',
  created_at: '2026-03-01T10:00:00.000Z',
  data: { device_name: 'a', device_model: 'b', os_system: 'c', timezone: 'UTC', device_id: 'd' },
};

/** The local database: the largest file in its folder. */
async function openDatabase(): Promise<DatabaseSync> {
  const directory = path.join(folder, 'v3/d1/miniflare-D1DatabaseObject');
  const [name = ''] = (await readdir(directory)).filter((file) => /^[0-9a-f]+\.sqlite$/.test(file));
  return new DatabaseSync(path.join(directory, name), { timeout: 5_000 });
}

describe('npm start', () => {
  it('creates a demo team, accepts events and an import, and changes nothing when started again', async () => {
    const first = run('start.ts');
    await first.until('Stop with Ctrl-C');
    const demo = await readDemo();
    const { mode } = await stat(path.join(folder, 'demo.json'));
    expect((mode & 0o777).toString(8)).toBe('600');
    expect(demo).toEqual({
      base_url: `http://localhost:${port}`,
      tracking_base_url: `http://localhost:${port}/t`,
      dashboard_url: `http://localhost:${port}/`,
      service_name: 'service',
      owner: { email: expect.stringContaining('@'), password: expect.stringMatching(/^.{16,}$/) },
      team: { id: expect.stringMatching(/^team_/), name: expect.any(String) },
      team_token: expect.stringMatching(/^teamtoken_/),
      application: { id: expect.stringMatching(/^app_/), name: expect.any(String) },
      api_key: expect.stringMatching(/^appkey_/),
    });
    expect(first.output()).toContain(demo.api_key);
    expect(first.output()).toContain('curl ');

    const answer = await fetch(`${demo.base_url}/fetch-token`, {
      method: 'POST',
      headers: headers(demo),
      body: JSON.stringify(metrics),
    });
    const { token }: { token: string } = await answer.json();
    const events = Array.from({ length: 30 }, (_, index) => ({
      type: 'custom',
      created_at: '2026-03-02 10:00:00',
      creativeToken: token,
      payload: { event_name: `level_${index % 3}` },
    }));
    const file = path.join(folder, 'events.ndjson');
    await writeFile(file, [...events, { type: 'custom' }].map((event) => JSON.stringify(event)).join('\n'));
    const imported = run('import.ts', [file]);
    expect(await imported.ended).toBe(1);
    expect(imported.output()).toContain('30 events accepted, 1 rejected.');

    // The local queue delivers within seconds, by itself.
    const query = `application_id=${demo.application.id}&from=2026-03-01&to=2026-03-02`;
    const report = async () => {
      const response = await fetch(`${demo.base_url}/v1/reports/performance?${query}`, {
        headers: { 'Service-Token': demo.team_token },
      });
      return ((await response.json()) as { totals: { installs: number; events: number } }).totals;
    };
    await expect.poll(report, { timeout: 30_000, interval: 200 }).toMatchObject({ installs: 1, events: 30 });

    const taken = run('start.ts');
    expect(await taken.ended).toBe(1);
    expect(taken.output()).toContain(`Port ${port} is in use.`);

    await stop(first);
    // Wrangler says nothing above the welcome.
    const before = first.output().split('Ready on')[0] ?? '';
    const said = before
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.startsWith('Still waiting: '));
    expect(said).toEqual(['Preparing the local database …']);
    const database = await openDatabase();
    database
      .prepare(
        `INSERT INTO access_tokens (hash, id, team_id, name, created_at, expires_at)
         SELECT 'hash', 'tkn_old', id, 'long expired', 0, 1 FROM teams`,
      )
      .run();
    database.close();
    const secrets = await readFile(path.join(folder, 'secrets.env'), 'utf8');
    const second = run('start.ts');
    await second.until('Stop with Ctrl-C');
    expect(await readDemo()).toEqual(demo);
    expect(await readFile(path.join(folder, 'secrets.env'), 'utf8')).toBe(secrets);
    expect(await report()).toMatchObject({ installs: 1, events: 30 });
    const verified = await fetch(`${demo.base_url}/verify-token`, {
      method: 'POST',
      headers: headers(demo),
      body: JSON.stringify({ token }),
    });
    expect(verified.status).toBe(200);
    // The schedule runs by itself, and deletes what expired long ago.
    const expired = async () => {
      const opened = await openDatabase();
      const rows = opened.prepare("SELECT id FROM access_tokens WHERE id = 'tkn_old'").all();
      opened.close();
      return rows;
    };
    await expect.poll(expired, { timeout: 30_000, interval: 200 }).toEqual([]);
    expect(second.output()).not.toContain('Scheduled Workers');
    await stop(second);
  });

  it('starts without the demo team so that /setup opens, but not on a state that already has it', async () => {
    const taken = run('start.ts', ['--empty']);
    expect(await taken.ended).toBe(1);
    expect(taken.output()).toContain('already has a demo team');
    const env = { PORT: String(port), STATE_DIR: path.join(folder, 'empty') };
    const empty = runScript('start.ts', { args: ['--empty'], env });
    await empty.until('Stop with Ctrl-C');
    expect(empty.output()).toContain(`http://localhost:${port}/setup`);
    const setup = await fetch(`http://localhost:${port}/setup`);
    expect([setup.status, await setup.text()]).toEqual([200, expect.stringContaining('<form')]);
    await stop(empty);
  });

  it('refuses an invalid PORT', async () => {
    const started = runScript('start.ts', { env: { PORT: 'x', STATE_DIR: folder } });
    expect(await started.ended).toBe(1);
    expect(started.output()).toContain('PORT must be a number');
  });

  it('refuses a SERVICE_NAME that a header name cannot contain', async () => {
    const env = { PORT: String(port), STATE_DIR: folder, SERVICE_NAME: 'a b' };
    const started = runScript('start.ts', { env });
    expect(await started.ended).toBe(1);
    expect(started.output()).toContain('SERVICE_NAME must start with a letter');
  });
});
