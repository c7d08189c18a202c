import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, WRANGLER } from '../../src/cli/local-state.ts';
import { ACCOUNT, TOKEN } from './cloudflare.ts';
import { startOrgs } from './orgs.ts';

// `npm run org` and wrangler itself, against a stand-in of Cloudflare's API.

/** Every change but, to save time, all migrations after the first two. */
const CHANGES = /^(?!.*\('00(?:0[2-9]|[1-9]\d)_)/s;

let orgs: Awaited<ReturnType<typeof startOrgs>>;

beforeAll(async () => {
  orgs = await startOrgs();
});
afterAll(() => orgs.stop());

describe('npm run org', () => {
  it('has a test for the commands in docs/operations.md', async () => {
    const text = await readFile(path.join(ROOT, 'docs/operations.md'), 'utf8');
    const commands = [...text.matchAll(/npm run org -- ([a-z][a-z. ]*[a-z])/g)].map(([, command]) => command);
    const tested = [
      'check acme',
      'create acme',
      'create acme acme.example.com',
      'deploy acme',
      'destroy acme',
      'list',
      'rotate acme',
      'secrets acme',
    ];
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
      expect((await orgs.run(...args)).code, args.join(' ')).not.toBe(0);
    }
    const { code, output } = await orgs.run('create', 'acme', 'acme.example.com');
    expect(code).toBe(1);
    expect(output).toContain('create the D1 database attribution-acme');
    expect(output).toContain('Cannot ask for confirmation without a terminal. Pass --yes to skip it.');
    expect(orgs.account.changes).toEqual([]);
    expect(await readFile(orgs.config, 'utf8')).toBe(orgs.original);
  });

  it('creates an org although every change fails once', { timeout: 600_000 }, async () => {
    const runs = await orgs.insist(
      CHANGES,
      'create',
      'acme',
      'acme.example.com',
      '--yes',
      '--no-secrets-copy',
    );
    expect(orgs.account.failures).toBeGreaterThanOrEqual(14);
    expect(runs).toBeGreaterThan(10);
    expect(orgs.account.unknown).toEqual([]);
    const { script, database, queue, queues, secrets } = orgs.deployed('acme');
    expect(orgs.account.databases.size).toBe(1);
    const tables = orgs.account.databases
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
    expect(script.crons).toHaveLength(4);
    expect(script.observability).toMatchObject({
      enabled: true,
      logs: { enabled: true, invocation_logs: false },
    });
    expect(await readFile(orgs.config, 'utf8')).toContain(
      '[env.acme.observability.logs]\nenabled = true\ninvocation_logs = false\n',
    );
    expect(script.workersDev).toBe(false);
    expect(orgs.account.domains).toEqual(new Map([['acme.example.com', 'attribution-acme']]));
    expect(orgs.account.buckets).toEqual(new Set(['attribution-acme-raw-events']));
  });

  it('changes nothing that exists, and keeps what an operator changed', async () => {
    const secrets = orgs.deployed('acme').secrets;
    orgs.account.changes.length = 0;
    expect((await orgs.run('create', 'acme', '--yes')).output).toContain('acme is up to date.');
    expect(orgs.account.changes).toEqual([]);
    const text = await readFile(orgs.config, 'utf8');
    const at = text.indexOf('[env.acme.vars]');
    await writeFile(orgs.config, text.slice(0, at) + text.slice(at).replace('"service"', '"acme"'));
    expect(await orgs.run('deploy', 'acme', '--yes')).toMatchObject({ code: 0 });
    const { script } = orgs.deployed('acme');
    expect(script.bindings.find(({ name }) => name === 'SERVICE_NAME')?.text).toBe('acme');
    expect(orgs.deployed('acme').secrets).toEqual(secrets);
  });

  it('adds event queues when their number is raised, and keeps them when it is lowered', {
    timeout: 240_000,
  }, async () => {
    const setQueues = async (number: number) => {
      const text = await readFile(orgs.config, 'utf8');
      const at = text.indexOf('[env.acme.vars]');
      const section = text.slice(at).replace(/EVENT_QUEUES = .*/, `EVENT_QUEUES = "${number}"`);
      await writeFile(orgs.config, text.slice(0, at) + section);
      await orgs.insist(CHANGES, 'deploy', 'acme', '--yes');
      const { script, producers, queues } = orgs.deployed('acme');
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
    const dead = orgs.deployed('acme').queues.filter(({ queue_name }) => queue_name.endsWith('-dead'));
    expect(dead.map(({ settings }) => settings)).toEqual(
      dead.map(() => ({ message_retention_period: 1_209_600 })),
    );
  });

  it('shares nothing between two orgs', async () => {
    expect((await orgs.run('create', 'thief', 'acme.example.com', '--yes')).output).toContain(
      'acme.example.com already belongs to the Worker attribution-acme',
    );
    expect(await orgs.run('create', 'globex', '--yes')).toMatchObject({ code: 0 });
    const [acme, globex] = [orgs.deployed('acme'), orgs.deployed('globex')];
    expect(globex.database).not.toBe(acme.database);
    expect(globex.queue).not.toBe(acme.queue);
    for (const list of ['limits', 'secrets'] as const) {
      expect(new Set([...acme[list], ...globex[list]]).size).toBe(acme[list].length + globex[list].length);
    }
    expect(globex.script.workersDev).toBe(true);
    const { output } = await orgs.run('list');
    expect(output).toMatch(/^acme {2}https:\/\/acme\.example\.com .* deployed$/m);
    expect(output).toMatch(/^globex {2}attribution-globex on workers\.dev .* deployed$/m);
  });

  it('writes a section that wrangler can deploy', async () => {
    const args = [WRANGLER, 'deploy', '--env', 'acme', '--config', orgs.config, '--dry-run'];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false' },
    });
    for (const bound of ['attribution-acme-events', 'attribution-acme-raw-events', 'CreativeRegistry']) {
      expect(stdout).toContain(bound);
    }
  });

  it('tells what a live org lacks, and nothing of one that lacks nothing', { timeout: 120_000 }, async () => {
    const check = async () => {
      const { code, output } = await orgs.run('check', 'globex');
      return { code, lines: output.trim().split('\n') };
    };
    const { script, queues, database } = orgs.deployed('globex');
    const usual = ['/metrics is off', 'emails are off'];
    expect((await check()).lines.map((line) => line.slice(2).split(':')[0])).toEqual(usual);
    script.secrets.set('METRICS_TOKEN', 'm'.repeat(64));
    const before = { bindings: script.bindings, crons: script.crons, secrets: new Map(script.secrets) };
    script.secrets.delete('SESSION_SECRET');
    script.crons = script.crons.slice(1);
    script.bindings = before.bindings
      .filter(({ name }) => !['RAW_EVENTS', 'CLICK_LIMIT'].includes(name))
      .map((binding) => (binding.name === 'SERVICE_NAME' ? { ...binding, text: 'other' } : binding));
    queues[0]?.consumers.clear();
    orgs.account.buckets.delete('attribution-globex-raw-events');
    const { sqlite } = orgs.account.databases.get(database) ?? {};
    sqlite?.exec("DELETE FROM d1_migrations WHERE name LIKE '0000%'");
    await rm(path.join(orgs.folder, 'globex.age'));
    const { code, lines } = await check();
    expect(code).toBe(1);
    const expected = [
      'the secret SESSION_SECRET is missing',
      'there is no copy of the secrets',
      'the setting SERVICE_NAME is "other" instead of "service"',
      'the binding RAW_EVENTS is missing',
      'the rate limit CLICK_LIMIT is missing',
      'the schedule * * * * * is missing',
      `the queue ${queues[0]?.queue_name} is not consumed by attribution-globex`,
      'the bucket attribution-globex-raw-events is missing',
      'emails are off',
      '1 migrations of the database are pending',
    ];
    expect(lines).toHaveLength(expected.length);
    for (const [at, start] of expected.entries()) expect(lines[at]?.slice(2)).toContain(start);
    Object.assign(script, before);
    orgs.account.buckets.add('attribution-globex-raw-events');
    expect(orgs.account.unknown).toEqual([]);
  });

  it('refuses to deploy over stores of a newer release', { timeout: 120_000 }, async () => {
    const { sqlite } = orgs.account.databases.get(orgs.deployed('acme').database) ?? {};
    sqlite?.exec("INSERT INTO store_formats VALUES ('counter', 99)");
    orgs.account.changes.length = 0;
    for (const command of ['deploy', 'create']) {
      const { code, output } = await orgs.run(command, 'acme', '--yes');
      expect([code, output]).toEqual([
        1,
        expect.stringContaining(
          'A store has a newer format: a counter has format 99, and this release knows 1. Nothing of it is read or changed. Deploy the release that wrote it, or a later one. Nothing was changed: see "Roll back"',
        ),
      ]);
    }
    expect(orgs.account.changes).toEqual([]);
    expect((await orgs.run('check', 'acme')).output).toContain('a counter has format 99');
    sqlite?.exec('DELETE FROM store_formats');
  });

  it('destroys one org, although every change fails once, and leaves the other', {
    timeout: 120_000,
  }, async () => {
    expect((await orgs.run('destroy', 'acme')).output).toContain('with ALL its data');
    expect(orgs.account.scripts.has('attribution-acme')).toBe(true);
    await orgs.insist(CHANGES, 'destroy', 'acme', '--yes');
    expect([...orgs.account.scripts.keys()]).toEqual(['attribution-globex']);
    expect([...orgs.account.databases.values()].map(({ name }) => name)).toEqual(['attribution-globex']);
    expect(orgs.account.queues.size).toBe(2);
    expect(orgs.account.domains.size).toBe(0);
    expect(orgs.account.buckets).toEqual(
      new Set(['attribution-acme-raw-events', 'attribution-globex-raw-events']),
    );
    expect(orgs.deployed('globex').queues).toHaveLength(2);
    expect((await orgs.run('destroy', 'acme', '--yes')).output).toContain('acme is fully removed.');
    expect((await orgs.run('list')).output).not.toContain('acme');
    expect(await orgs.run('destroy', 'globex', '--yes')).toMatchObject({ code: 0 });
    expect(await readFile(orgs.config, 'utf8')).toBe(`${orgs.original.trimEnd()}\n`);
  });

  it('prints no secret and leaves none behind', async () => {
    expect(orgs.account.secretsSeen.size).toBeGreaterThanOrEqual(4);
    const printed = orgs.printed.join('');
    expect(printed).toContain(ACCOUNT);
    for (const secret of [...orgs.account.secretsSeen, TOKEN]) expect(printed.includes(secret)).toBe(false);
  });
});
