import { glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT, readConfig } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { freePort } from '../helpers/service.ts';
import { ingestAt } from './ingest.ts';
import { runCommand, runScript, stop } from './process.ts';

// The commands of "Restore everything from the bucket" in docs/operations.md, from one local deployment to another.

/** When the cron writes a snapshot. */
const NIGHT = Date.UTC(2026, 2, 1, 2, 20);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'restore-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Copies the bucket of a local state to a folder, as rclone does for a deployment. */
async function copyBucket(stateDir: string, to: string): Promise<number> {
  const local = new Miniflare({
    ...convertV4MiniflareOptions({
      modules: true,
      script: 'export default {}',
      r2Buckets: { RAW_EVENTS: (await readConfig()).r2_buckets?.[0]?.bucket_name ?? '' },
    }),
    resourcePersistencePath: path.join(stateDir, 'v3'),
  });
  try {
    const bucket = await local.getR2Bucket('RAW_EVENTS');
    const { objects } = await bucket.list();
    for (const { key } of objects) {
      const object = await bucket.get(key);
      await mkdir(path.dirname(path.join(to, key)), { recursive: true });
      await writeFile(path.join(to, key), new Uint8Array((await object?.arrayBuffer()) ?? []));
    }
    return objects.length;
  } finally {
    await local.dispose();
  }
}

async function startIn(stateDir: string, args: string[]) {
  const port = await freePort();
  const env = { PORT: String(port), STATE_DIR: stateDir };
  const service = runScript('start.ts', { args, env });
  await service.until('Stop with Ctrl-C');
  return { service, env, url: `http://localhost:${port}` };
}

it('restores a local deployment from a folder, says what it did, and refuses a second time', async () => {
  const [from, to, backup] = ['from', 'to', 'backup'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  const source = await startIn(from, []);
  const demo: Demo = JSON.parse(await readFile(path.join(from, 'demo.json'), 'utf8'));
  const post = ingestAt(source.url, demo.api_key ?? '');
  const { token } = (await post('/fetch-token', {
    type: 'device-metrics',
    created_at: '2026-03-01T10:00:00.000Z',
    data: { device_name: 'a', device_model: 'b', os_system: 'c', timezone: 'UTC', device_id: 'd' },
  })) as { token: string };
  const event = {
    type: 'custom',
    created_at: '2026-03-02 10:00:00',
    creativeToken: token,
    payload: { event_name: 'level_1' },
  };
  await post('/webhook/batch', { events: [event, event, event] });
  const report = async (url: string) => {
    const query = `application_id=${demo.application.id}&from=2026-03-01&to=2026-03-02`;
    const answer = await fetch(`${url}/v1/reports/performance?${query}`, {
      headers: { 'Service-Token': demo.team_token },
    });
    return ((await answer.json()) as { totals?: { installs: number; events: number } }).totals;
  };
  await expect
    .poll(() => report(source.url), { timeout: 30_000, interval: 200 })
    .toMatchObject({ installs: 1, events: 3 });
  const snapshot = await fetch(`${source.url}/cdn-cgi/local/scheduled?time=${NIGHT}`);
  expect(snapshot.status).toBe(200);
  const before = await report(source.url);
  await stop(source.service);
  expect(await copyBucket(from, backup)).toBeGreaterThan(10);

  await mkdir(to, { recursive: true });
  await writeFile(path.join(to, 'secrets.env'), await readFile(path.join(from, 'secrets.env')));
  const target = await startIn(to, ['--empty']);
  const restore = () =>
    runCommand('npm', ['run', '--silent', 'restore', '--', '--from', backup], { cwd: ROOT, env: target.env });
  const first = restore();
  expect(await first.ended, first.output()).toBe(0);
  expect(first.output()).toMatch(
    /Restored the snapshot of \d{4}-\d\d-\d\d: (\d+) of \1 rows\.\n0 newer events were counted from 0 raw event files\./,
  );
  expect(await report(target.url)).toEqual(before);
  const second = restore();
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain('This deployment is restored already.');
  await stop(target.service);
});

/** Deletes the file of the counter that stores something, as if the platform had lost it. */
async function loseCounter(stateDir: string): Promise<number> {
  let lost = 0;
  for await (const name of glob('v3/do/**/*.sqlite', { cwd: stateDir })) {
    const db = new DatabaseSync(path.join(stateDir, name), { readOnly: true });
    const isCounter = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'progress'").get() !== undefined;
    db.close();
    if (!isCounter) continue;
    lost++;
    for (const end of ['', '-wal', '-shm']) await rm(path.join(stateDir, name + end), { force: true });
  }
  return lost;
}

it('restores one application of a deployment that goes on, whose counter was lost', {
  timeout: 240_000,
}, async () => {
  const stateDir = path.join(folder, 'one');
  const before = await startIn(stateDir, []);
  const demo: Demo = JSON.parse(await readFile(path.join(stateDir, 'demo.json'), 'utf8'));
  const { token } = (await ingestAt(before.url, demo.api_key)('/fetch-token', {
    type: 'device-metrics',
    created_at: '2026-03-01T10:00:00.000Z',
    data: { device_name: 'a', device_model: 'b', os_system: 'c', timezone: 'UTC', device_id: 'd' },
  })) as { token: string };
  const send = (url: string) =>
    ingestAt(url, demo.api_key)('/webhook', {
      ...{ type: 'custom', created_at: '2026-03-02 10:00:00', creativeToken: token },
      payload: { event_name: 'level_1' },
    });
  const ask = async (url: string, where: string) =>
    (await fetch(`${url}${where}`, { headers: { 'Service-Token': demo.team_token } })).json();
  const period = `application_id=${demo.application.id}&from=2026-03-01&to=2026-03-02`;
  const counted = async (url: string) => {
    const { totals } = (await ask(url, `/v1/reports/performance?${period}`)) as { totals?: object };
    const { data } = (await ask(url, `/v1/reports/funnel?${period}&steps=install,event:level_1`)) as {
      data?: { devices: number }[];
    };
    return { totals, devices: data?.map((step) => step.devices) };
  };
  const waiting = { timeout: 60_000, interval: 200 };
  await send(before.url);
  const whole = { totals: { installs: 1, events: 1 }, devices: [1, 1] };
  await expect.poll(() => counted(before.url), waiting).toMatchObject(whole);
  expect((await fetch(`${before.url}/cdn-cgi/local/scheduled?time=${NIGHT}`)).status).toBe(200);
  await stop(before.service);
  expect(await loseCounter(stateDir)).toBe(1);

  const after = await startIn(stateDir, []);
  const restore = (id: string) => {
    const command = ['run', '--silent', 'restore', '--', '--application', id];
    return runCommand('npm', command, { cwd: ROOT, env: after.env });
  };
  const unknown = restore(`app_${'0'.repeat(32)}`);
  expect(await unknown.ended).toBe(1);
  expect(unknown.output()).toContain('This deployment has no application app_0000');
  await send(after.url);
  await expect
    .poll(() => ask(after.url, '/v1/health'), waiting)
    .toMatchObject({
      status: 'degraded',
      applications: [{ needs_resume: true }],
    });
  const first = restore(demo.application.id);
  expect(await first.ended, first.output()).toBe(0);
  expect(first.output()).toMatch(/Restored the snapshot of \d{4}-\d\d-\d\d: (\d+) of \1 rows\./);
  const both = { totals: { installs: 1, events: 2 }, devices: [1, 1] };
  await expect.poll(() => counted(after.url), waiting).toMatchObject(both);
  expect(await ask(after.url, '/v1/health')).toMatchObject({
    applications: [{ needs_restore: false, needs_resume: false }],
  });
  await stop(after.service);
});

it.each([
  [['--from', 'a-bucket'], "a-bucket is neither a folder nor the deployment's bucket"],
  [['--from', ROOT, '--env', 'acme'], '--env needs --remote.'],
  [['--from', ROOT, '--remote'], '--remote needs --url, the URL of the deployment.'],
  [['--from', ROOT, '--url', 'acme'], '--url must be a URL, not "acme".'],
])('refuses %j', async (args, message) => {
  const { ended, output } = runScript('restore.ts', { args });
  expect(await ended).toBe(2);
  expect(output()).toContain(message);
});

it('refuses a folder without a snapshot', async () => {
  const { ended, output } = runScript('restore.ts', { args: ['--from', folder] });
  expect(await ended).toBe(1);
  expect(output()).toContain('has no complete snapshot');
});
