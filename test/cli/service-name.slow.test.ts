import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, readConfig } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { freePort } from '../helpers/service.ts';
import { runCommand, runScript, stop } from './process.ts';

// `SERVICE_NAME=acme npm start`, and everything that a newcomer then copies and pastes. The folder is where they stand: its
// `.wrangler/state` is the service's.

let folder: string;
let state: string;
let port: number;
let service: ReturnType<typeof runScript>;
let demo: Demo;

const start = async () => {
  service = runScript('start.ts', {
    env: { PORT: String(port), STATE_DIR: state, SERVICE_NAME: 'acme' },
  });
  await service.until('Stop with Ctrl-C');
  demo = JSON.parse(await readFile(path.join(state, 'demo.json'), 'utf8'));
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'acme-'));
  state = path.join(folder, '.wrangler/state');
  // As an earlier version left it: open to everyone on the machine.
  await mkdir(state, { recursive: true, mode: 0o755 });
  port = await freePort();
  await start();
}, 240_000);
afterAll(async () => {
  await stop(service);
  await rm(folder, { recursive: true, force: true });
}, 60_000);

const bash = async (script: string) => {
  const ran = runCommand('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder });
  return { code: await ran.ended, output: ran.output() };
};

/** The JSON objects in the output of commands: curl ends none of its answers with a line break. */
function answersIn(output: string): unknown[] {
  const answers: unknown[] = [];
  for (let from = output.indexOf('{'); from >= 0; from = output.indexOf('{', from + 1)) {
    for (let to = output.indexOf('}', from); to >= 0; to = output.indexOf('}', to + 1)) {
      const text = output.slice(from, to + 1);
      if (!isJson(text)) continue;
      answers.push(JSON.parse(text));
      from = to;
      break;
    }
  }
  return answers;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const RECEIVED = { success: true, message: 'Webhook Received', event_id: expect.stringMatching(/^evt_\w+$/) };

type Report = { data: { source: string; impressions: number }[]; totals: Record<string, number> };

async function report(groupBy = 'source'): Promise<Report> {
  const day = new Date().toISOString().slice(0, 10);
  const before = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const query = `application_id=${demo.application.id}&from=${before}&to=${day}&group_by=${groupBy}`;
  const answer = await fetch(`${demo.base_url}/v1/reports/performance?${query}`, {
    headers: { 'acme-Token': demo.team_token },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Report;
}

async function signIn(password: string): Promise<Response> {
  return fetch(`${demo.base_url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { Origin: demo.base_url },
    body: new URLSearchParams({ email: demo.owner.email, password }),
  });
}

const cookieOf = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');

describe('SERVICE_NAME=acme npm start', () => {
  it('prints a curl command that returns a token', async () => {
    const [, curl = ''] = /Try it:\n\n([\s\S]*?)\n\n/.exec(service.output()) ?? [];
    expect(curl).toContain('acme-api-key: ');
    const { code, output } = await bash(curl.replace('curl', 'curl -sS'));
    expect([code, output]).toEqual([0, expect.stringMatching(/^\{"token":"[\w.-]+"\}$/)]);
  });

  it("runs the README's commands as written", async () => {
    const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text);
    const [commands = ''] = blocks.filter((text) => text.includes('/fetch-token'));
    const { code, output } = await bash(commands);
    expect(code, output).toBe(0);
    expect(answersIn(output)).toEqual([
      RECEIVED,
      expect.objectContaining({ totals: expect.objectContaining({ impressions: expect.any(Number) }) }),
    ]);
    // The queue may take longer on a slow machine than the commands wait.
    await expect
      .poll(() => report(), { timeout: 30_000, interval: 200 })
      .toMatchObject({ data: [{ source: 'rewarded_video', impressions: 1 }] });
  });

  it("runs the guide's commands as written", async () => {
    const guide = await readFile(path.join(ROOT, 'docs/getting-started.md'), 'utf8');
    const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text);
    const { code, output } = await bash(blocks.filter((text) => !text.startsWith('npm ')).join('\n'));
    expect(code, output).toBe(0);
    expect(answersIn(output)).toEqual([
      RECEIVED,
      RECEIVED,
      expect.objectContaining({ totals: expect.objectContaining({ purchases: expect.any(Number) }) }),
      expect.objectContaining({ allowed_origins: ['https://play.example.com'] }),
      expect.objectContaining({
        message: 'Creative created successfully',
        campaign: { name: 'Launch', is_new: true },
        adset: { name: 'Broad', is_new: true },
      }),
    ]);
    await expect
      .poll(async () => (await report('day')).totals, { timeout: 30_000, interval: 200 })
      .toMatchObject({ purchases: 1, purchase_revenue: 4.99 });
  });

  it('is found by `npm run simulate` and `npm run import` through demo.json alone', async () => {
    const env = { STATE_DIR: state };
    const simulated = runScript('simulate.ts', { args: ['--devices', '3', '--days', '1'], env });
    expect(await simulated.ended, simulated.output()).toBe(0);
    expect(simulated.output()).toContain('events sent.');
    const { output } = await bash('printf \'{"type":"custom"}\\n\' > events.ndjson');
    expect(output).toBe('');
    const imported = runScript('import.ts', { args: [path.join(folder, 'events.ndjson')], env });
    await imported.ended;
    expect(imported.output()).toContain('0 events accepted, 1 rejected.');
  });

  it('shows the header in the documentation and the dashboard', async () => {
    const document = await (await fetch(`${demo.base_url}/openapi.json`)).text();
    const schemes: Record<string, { name?: string }> = JSON.parse(document).components.securitySchemes;
    const names = Object.values(schemes).flatMap(({ name }) => name ?? []);
    expect(names).toEqual(['acme-api-key', 'acme-Token']);
    expect(document).not.toMatch(/service-(api-key|token)/i);
    const headers = { Cookie: cookieOf(await signIn(demo.owner.password ?? '')) };
    const page = async (where: string) => (await fetch(demo.base_url + where, { headers })).text();
    expect(await page('/get-started')).toContain('acme-api-key');
    expect(await page(`/settings/applications/${demo.application.id}`)).toContain('acme-api-key');
    expect(await page('/settings/tokens')).toContain('acme-Token');
  });

  it('serves no database explorer and keeps no traces', async () => {
    const databases = '/cdn-cgi/local/explorer/api/d1/database';
    const list = await fetch(demo.base_url + databases);
    expect([list.status, await list.text()]).toEqual([404, expect.stringContaining('Not found')]);
    const raw = await fetch(
      `${demo.base_url}${databases}/${(await readConfig()).d1_databases?.[0]?.database_id}/raw`,
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ sql: 'SELECT email FROM users' }),
      },
    );
    expect([raw.status, await raw.text()]).toEqual([404, expect.not.stringContaining(demo.owner.email)]);
    const files = await readdir(state, { recursive: true });
    expect(files.filter((file) => /observab|trace/i.test(file))).toEqual([]);
  });

  it('keeps its state from other users of the machine', async () => {
    const files = await readdir(state, { recursive: true });
    expect(files.length).toBeGreaterThan(5);
    const modes = await Promise.all(
      ['.', ...files].map(async (file) => [file, (await stat(path.join(state, file))).mode & 0o077]),
    );
    expect(modes.filter(([, others]) => others !== 0)).toEqual([]);
  });

  it('prints no password that was changed', async () => {
    const { password } = demo.owner;
    if (password === null) throw new Error('the password is changed already');
    const signedIn = await signIn(password);
    const next = 'a brand new passphrase';
    const changed = await fetch(`${demo.base_url}/settings/account`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: demo.base_url, Cookie: cookieOf(signedIn) },
      body: new URLSearchParams({ current: password, next }),
    });
    expect(changed.status).toBe(303);
    await stop(service);
    await start();
    expect(service.output()).not.toContain(password);
    expect(service.output()).toContain(`changed since the first start; sign in at ${demo.base_url}/login`);
    expect(demo.owner).toEqual({ email: 'owner@localhost.test', password: null });
    expect((await signIn(next)).status).toBe(303);
    // A third start does not create another sign-in.
    await stop(service);
    await start();
    expect(service.output()).not.toContain(password);
    expect((await signIn(password)).status).toBe(400);
  });

  it('is filled again by `npm run simulate` at another port', { timeout: 240_000 }, async () => {
    await stop(service);
    port = await freePort();
    await start();
    const env = { STATE_DIR: state };
    const simulated = runScript('simulate.ts', { args: ['--devices', '3', '--days', '1'], env });
    expect(await simulated.ended, simulated.output()).toBe(0);
    expect(simulated.output()).toContain('events sent.');
  });
});
