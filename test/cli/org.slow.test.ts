import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUIET, ROOT, WRANGLER } from '../../src/cli/local-state.ts';
import { ACCOUNT, type Binding, StandIn, TOKEN } from './cloudflare.ts';

// `npm run org` and wrangler itself, against a stand-in of Cloudflare's API.

let folder: string;
let config: string;
let original: string;
let account: StandIn;
let apiUrl: string;
/** Everything that any command printed. */
let printed = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'org-test-'));
  config = path.join(folder, 'wrangler.toml');
  const toml = await readFile(path.join(ROOT, 'wrangler.toml'), 'utf8');
  original = ['dist/index.mjs', 'src/dashboard/static', 'migrations'].reduce(
    (text, place) => text.replace(`"${place}"`, JSON.stringify(path.join(ROOT, place))),
    toml,
  );
  await writeFile(config, original);
  account = new StandIn();
  apiUrl = await account.open();
});
afterAll(async () => {
  account.close();
  await rm(folder, { recursive: true, force: true });
});

async function org(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [path.join(ROOT, 'src/cli/org.ts'), ...args, '--config', config], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, CLOUDFLARE_API_BASE_URL: apiUrl, CLOUDFLARE_API_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  printed += output;
  return { code, output };
}

/** Runs a command again and again while each of its changes fails once; answers how often it had to be run. */
async function insist(...args: string[]): Promise<number> {
  account.failing = true;
  for (let run = 1; run <= 40; run++) {
    const { code, output } = await org(...args);
    if (code === 0) {
      account.failing = false;
      return run;
    }
    expect(output).toContain('Run the same command again to continue from this step.');
  }
  throw new Error('it never succeeded');
}

function deployed(name: string) {
  const script = account.scripts.get(`attribution-${name}`);
  if (!script) throw new Error(`${name} has no Worker`);
  const binding = (type: string): Binding | undefined => script.bindings.find((row) => row.type === type);
  const queues = [...account.queues.values()].filter(({ queue_name }) =>
    queue_name.startsWith(`attribution-${name}-`),
  );
  return {
    script,
    database: String(binding('d1')?.id),
    queue: binding('queue')?.queue_name,
    producers: script.bindings.flatMap((row) =>
      row.type === 'queue' ? [`${row.name} ${row.queue_name}`] : [],
    ),
    queues,
    limits: script.bindings.flatMap((row) => (row.type === 'ratelimit' ? [String(row.namespace_id)] : [])),
    secrets: [...script.secrets.values()],
  };
}

describe('npm run org', () => {
  it('has a test for the commands in docs/operations.md', async () => {
    const text = await readFile(path.join(ROOT, 'docs/operations.md'), 'utf8');
    const commands = [...text.matchAll(/npm run org -- ([a-z][a-z. ]*[a-z])/g)].map(([, command]) => command);
    const tested = ['create acme', 'create acme acme.example.com', 'deploy acme', 'destroy acme', 'list'];
    expect([...new Set(commands)].sort()).toEqual(tested);
  });

  it('refuses bad names, and changes nothing without --yes', async () => {
    for (const args of [
      ['create', 'Acme'],
      ['create', 'a', 'nodomain'],
      ['deploy', 'none'],
      ['frob', 'a'],
      [],
    ]) {
      expect((await org(...args)).code, args.join(' ')).not.toBe(0);
    }
    const { code, output } = await org('create', 'acme', 'acme.example.com');
    expect(code).toBe(1);
    expect(output).toContain('create the D1 database attribution-acme');
    expect(output).toContain('Cannot ask for confirmation without a terminal. Pass --yes to skip it.');
    expect(account.changes).toEqual([]);
    expect(await readFile(config, 'utf8')).toBe(original);
  });

  it('creates an org although every change fails once', { timeout: 240_000 }, async () => {
    const runs = await insist('create', 'acme', 'acme.example.com', '--yes');
    expect(account.failures).toBeGreaterThanOrEqual(14);
    expect(runs).toBeGreaterThan(10);
    expect(account.unknown).toEqual([]);
    const { script, database, queue, queues, secrets } = deployed('acme');
    expect(account.databases.size).toBe(1);
    const tables = account.databases
      .get(database)
      ?.sqlite.prepare('SELECT count(*) AS n FROM counter_flushes')
      .all();
    expect(tables).toEqual([{ n: 0 }]);
    expect(queue).toBe('attribution-acme-events');
    expect(queues.map(({ queue_name }) => queue_name).sort()).toEqual([
      'attribution-acme-events',
      'attribution-acme-events-dead',
    ]);
    for (const { consumers } of queues) expect(consumers.size).toBe(1);
    const dead = queues.find(({ queue_name }) => queue_name.endsWith('-dead'));
    expect(dead?.settings).toEqual({ message_retention_period: 1_209_600 });
    expect(secrets.length).toBeGreaterThanOrEqual(2);
    for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
    expect(script.crons).toHaveLength(3);
    expect(script.observability).toMatchObject({
      enabled: true,
      logs: { enabled: true, invocation_logs: false },
    });
    expect(await readFile(config, 'utf8')).toContain(
      '[env.acme.observability.logs]\nenabled = true\ninvocation_logs = false\n',
    );
    expect(script.workersDev).toBe(false);
    expect(account.domains).toEqual(new Map([['acme.example.com', 'attribution-acme']]));
    expect(account.buckets).toEqual(new Set(['attribution-acme-raw-events']));
  });

  it('changes nothing that exists, and keeps what an operator changed', async () => {
    const secrets = deployed('acme').secrets;
    account.changes.length = 0;
    expect((await org('create', 'acme', '--yes')).output).toContain('acme is up to date.');
    expect(account.changes).toEqual([]);
    const text = await readFile(config, 'utf8');
    const at = text.indexOf('[env.acme.vars]');
    await writeFile(config, text.slice(0, at) + text.slice(at).replace('"service"', '"acme"'));
    expect(await org('deploy', 'acme', '--yes')).toMatchObject({ code: 0 });
    const { script } = deployed('acme');
    expect(script.bindings.find(({ name }) => name === 'SERVICE_NAME')?.text).toBe('acme');
    expect(deployed('acme').secrets).toEqual(secrets);
  });

  it('adds event queues when their number is raised, and keeps them when it is lowered', {
    timeout: 240_000,
  }, async () => {
    const setQueues = async (number: number) => {
      const text = await readFile(config, 'utf8');
      const at = text.indexOf('[env.acme.vars]');
      const section = text.slice(at).replace(/EVENT_QUEUES = .*/, `EVENT_QUEUES = "${number}"`);
      await writeFile(config, text.slice(0, at) + section);
      await insist('deploy', 'acme', '--yes');
      const { script, producers, queues } = deployed('acme');
      const wanted = script.bindings.find(({ name }) => name === 'EVENT_QUEUES')?.text;
      const consumers = queues.map(({ queue_name, consumers: own }) => {
        const [consumer] = own.values();
        return [queue_name, consumer?.script_name, consumer?.dead_letter_queue ?? null];
      });
      return { wanted, producers: producers.sort(), consumers: consumers.sort() };
    };
    const bound = {
      producers: [
        'EVENTS attribution-acme-events',
        'EVENTS_1 attribution-acme-events-1',
        'EVENTS_2 attribution-acme-events-2',
      ],
      consumers: ['', '-1', '-2']
        .map((number) => `attribution-acme-events${number}`)
        .flatMap((name) => [
          [name, 'attribution-acme', `${name}-dead`],
          [`${name}-dead`, 'attribution-acme', null],
        ])
        .sort(),
    };
    expect(await setQueues(3)).toEqual({ wanted: '3', ...bound });
    expect(await setQueues(2)).toEqual({ wanted: '2', ...bound });
    const dead = deployed('acme').queues.filter(({ queue_name }) => queue_name.endsWith('-dead'));
    expect(dead.map(({ settings }) => settings)).toEqual(
      dead.map(() => ({ message_retention_period: 1_209_600 })),
    );
  });

  it('shares nothing between two orgs', async () => {
    expect((await org('create', 'thief', 'acme.example.com', '--yes')).output).toContain(
      'acme.example.com already belongs to the Worker attribution-acme',
    );
    expect(await org('create', 'globex', '--yes')).toMatchObject({ code: 0 });
    const [acme, globex] = [deployed('acme'), deployed('globex')];
    expect(globex.database).not.toBe(acme.database);
    expect(globex.queue).not.toBe(acme.queue);
    for (const list of ['limits', 'secrets'] as const) {
      expect(new Set([...acme[list], ...globex[list]]).size).toBe(acme[list].length + globex[list].length);
    }
    expect(globex.script.workersDev).toBe(true);
    const { output } = await org('list');
    expect(output).toMatch(/^acme {2}https:\/\/acme\.example\.com .* deployed$/m);
    expect(output).toMatch(/^globex {2}attribution-globex on workers\.dev .* deployed$/m);
  });

  it('writes a section that wrangler can deploy', async () => {
    const args = [WRANGLER, 'deploy', '--env', 'acme', '--config', config, '--dry-run'];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false' },
    });
    for (const bound of ['attribution-acme-events', 'attribution-acme-raw-events', 'CreativeRegistry']) {
      expect(stdout).toContain(bound);
    }
  });

  it('destroys one org, although every change fails once, and leaves the other', {
    timeout: 120_000,
  }, async () => {
    expect((await org('destroy', 'acme')).output).toContain('with ALL its data');
    expect(account.scripts.has('attribution-acme')).toBe(true);
    await insist('destroy', 'acme', '--yes');
    expect([...account.scripts.keys()]).toEqual(['attribution-globex']);
    expect([...account.databases.values()].map(({ name }) => name)).toEqual(['attribution-globex']);
    expect(account.queues.size).toBe(2);
    expect(account.domains.size).toBe(0);
    expect(account.buckets).toEqual(
      new Set(['attribution-acme-raw-events', 'attribution-globex-raw-events']),
    );
    expect(deployed('globex').queues).toHaveLength(2);
    expect((await org('destroy', 'acme', '--yes')).output).toContain('acme is fully removed.');
    expect((await org('list')).output).not.toContain('acme');
    expect(await org('destroy', 'globex', '--yes')).toMatchObject({ code: 0 });
    expect(await readFile(config, 'utf8')).toBe(`${original.trimEnd()}\n`);
  });

  it('prints no secret and leaves none behind', async () => {
    expect(account.secretsSeen.size).toBeGreaterThanOrEqual(4);
    expect(printed).toContain(ACCOUNT);
    for (const secret of [...account.secretsSeen, TOKEN]) expect(printed.includes(secret)).toBe(false);
  });
});
