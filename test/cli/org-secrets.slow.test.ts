import { createHash } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { Decrypter } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSPHRASE, startOrgs } from './orgs.ts';

// The copy of an org's secrets that `npm run org` keeps, against a stand-in of Cloudflare's API.

let orgs: Awaited<ReturnType<typeof startOrgs>>;
let copy: string;

beforeAll(async () => {
  orgs = await startOrgs();
  copy = path.join(orgs.folder, 'acme.age');
});
afterAll(() => orgs.stop());

const live = () => Object.fromEntries(orgs.deployed('acme').script.secrets);

/** As `age --decrypt` does it. */
async function decryptCopy(file = copy): Promise<Record<string, string | undefined>> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(PASSPHRASE);
  return { ...parseEnv(await decrypter.decrypt(await readFile(file), 'text')) };
}

const output = async (...args: Parameters<typeof orgs.runWith>) => {
  const { code, output: said } = await orgs.runWith(...args);
  expect(code).not.toBe(0);
  return said.trim();
};

describe('npm run org -- --secrets', () => {
  it('refuses a weak passphrase and none, another file, and commands that take no copy', async () => {
    const create = ['create', 'acme', '--yes', '--secrets', copy];
    expect(await output({ ORG_PASSPHRASE: 'short' }, ...create)).toBe(
      'The passphrase must have at least 12 characters.',
    );
    const notes = path.join(orgs.folder, 'notes.txt');
    await writeFile(notes, 'mine');
    expect(await output({}, 'create', 'acme', '--yes', '--secrets', notes)).toBe(
      `${notes} is not a copy of secrets. It was not changed.`,
    );
    expect(await readFile(notes, 'utf8')).toBe('mine');
    expect(await output({}, 'destroy', 'acme', '--secrets', copy)).toBe(
      'destroy takes no --secrets. Pass --help for the usage.',
    );
    expect(await output({}, 'rotate', 'acme', 'TOKEN_SECRET')).toContain('rotate needs');
    expect(orgs.account.changes).toEqual([]);
  });

  it('keeps what it deploys in the copy, although the deployment fails at first', async () => {
    // The second change that fails has no effect: the deployment.
    const changes = /r2|scripts\/attribution-acme$/;
    expect(await orgs.insist(changes, 'create', 'acme', '--yes', '--secrets', copy)).toBe(3);
    expect(Object.keys(live()).sort()).toEqual(['KEY_ENCRYPTION_SECRET', 'SESSION_SECRET', 'TOKEN_SECRET']);
    expect(await decryptCopy()).toEqual(live());
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    expect((await orgs.run('create', 'acme', '--yes', '--secrets', copy)).output).toContain('up to date');
  });

  it('cannot copy secrets that are deployed already', async () => {
    const late = path.join(orgs.folder, 'late.age');
    expect(await output({}, 'deploy', 'acme', '--yes', '--secrets', late)).toContain(
      'and Cloudflare does not show them',
    );
    await expect(stat(late)).rejects.toThrow('ENOENT');
  });

  it('rotates a secret in the deployment and in the copy, once however often it fails', async () => {
    const { TOKEN_SECRET: former = '', ...others } = live();
    await orgs.insist(/secrets$/, 'rotate', 'acme', 'TOKEN_SECRET', '--secrets', copy, '--yes');
    const [newest = '', ...more] = live().TOKEN_SECRET?.split(' ') ?? [];
    expect(newest).toMatch(/^[\w-]{43}$/);
    expect(newest).not.toBe(former);
    expect(more).toEqual([former]);
    expect(live()).toMatchObject(others);
    expect(await decryptCopy()).toEqual(live());
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    const end = await orgs.run('rotate', 'acme', 'TOKEN_SECRET', '--end', '--secrets', copy, '--yes');
    expect(end).toMatchObject({ code: 0 });
    expect(live()).toEqual({ ...others, TOKEN_SECRET: newest });
    expect(await decryptCopy()).toEqual(live());
  });

  it('says in one line what it cannot rotate', async () => {
    const rotate = (name: string, file = copy) => ['rotate', 'acme', name, '--yes', '--secrets', file];
    expect(await output({ ORG_PASSPHRASE: 'another passphrase' }, ...rotate('TOKEN_SECRET'))).toBe(
      `Wrong passphrase for ${copy}, or the file is damaged.`,
    );
    expect(await output({}, ...rotate('PASSWORD'))).toBe(
      'The secret must be one of TOKEN_SECRET, KEY_ENCRYPTION_SECRET, SESSION_SECRET.',
    );
    const none = path.join(orgs.folder, 'none.age');
    expect(await output({}, ...rotate('TOKEN_SECRET', none))).toBe(`There is no file ${none}.`);
  });

  it('makes the copy later, by asking the deployment once', async () => {
    const { databases } = orgs.account;
    const tokens = new Set<string>();
    // Answers as the deployment does: to a token whose hash its database has.
    const deployment = createServer((request, response) => {
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      const hash = createHash('sha256').update(token).digest('hex');
      const { sqlite } = databases.get(orgs.deployed('acme').database) ?? {};
      const { changes } = sqlite?.prepare('DELETE FROM secret_copies WHERE hash = ?').run(hash) ?? {};
      tokens.add(token);
      const isAsked = request.method === 'POST' && request.url === '/secrets-copy' && changes === 1;
      response.writeHead(isAsked ? 200 : 401).end(JSON.stringify(isAsked ? { secrets: live() } : {}));
    });
    await new Promise<void>((resolve) => deployment.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(deployment.address() as AddressInfo).port}`;
    try {
      const late = path.join(orgs.folder, 'late.age');
      const args = ['secrets', 'acme', '--yes', '--secrets', late, '--url', url];
      expect(await orgs.run(...args)).toMatchObject({ code: 0 });
      expect(await decryptCopy(late)).toEqual(live());
      expect((await orgs.run(...args)).output).toContain('up to date');
      expect(tokens.size).toBe(1);
      for (const token of tokens) expect(orgs.printed.join('')).not.toContain(token);
      const refused = await output(
        {},
        ...args.slice(0, 3),
        '--secrets',
        `${late}.new`,
        '--url',
        `${url}/elsewhere`,
      );
      expect(refused).toContain('did not give its secrets');
    } finally {
      deployment.close();
    }
  });

  it('keeps a copy by default, beside the configuration, unless it is refused', {
    timeout: 120_000,
  }, async () => {
    const without = { ORG_PASSPHRASE: undefined as unknown as string };
    expect(await output(without, 'create', 'globex', '--yes')).toContain(
      'Set ORG_PASSPHRASE, or pass create --no-secrets-copy.',
    );
    expect(await output({}, 'create', 'globex', '--yes', '--no-secrets-copy', '--secrets', copy)).toContain(
      'Pass either --secrets or --no-secrets-copy.',
    );
    const made = path.join(orgs.folder, 'globex.age');
    const { code, output: said } = await orgs.run('create', 'globex', '--yes');
    expect([code, said]).toEqual([0, expect.stringContaining(`Keep ${made} and its passphrase outside`)]);
    expect(await decryptCopy(made)).toEqual(Object.fromEntries(orgs.deployed('globex').script.secrets));
    await rm(made);
    // What is deployed cannot be copied by a new run, which changes nothing.
    expect((await orgs.run('create', 'globex', '--yes')).output).toContain('up to date');
    expect(await orgs.runWith(without, 'create', 'initech', '--yes', '--no-secrets-copy')).toMatchObject({
      code: 0,
    });
    await expect(stat(path.join(orgs.folder, 'initech.age'))).rejects.toThrow('ENOENT');
  });

  it('gives a new deployment the secrets of the copy', async () => {
    const before = live();
    expect(await orgs.run('destroy', 'acme', '--yes')).toMatchObject({ code: 0 });
    expect(await output({ ORG_PASSPHRASE: 'another passphrase' }, 'create', 'acme', '--secrets', copy)).toBe(
      `Wrong passphrase for ${copy}, or the file is damaged.`,
    );
    expect(await orgs.run('create', 'acme', '--yes', '--secrets', copy)).toMatchObject({ code: 0 });
    expect(live()).toEqual(before);
    expect(await decryptCopy()).toEqual(before);
  });

  it('prints no secret and no passphrase', async () => {
    expect(orgs.account.secretsSeen.size).toBeGreaterThanOrEqual(4);
    const printed = orgs.printed.join('');
    for (const secret of [...orgs.account.secretsSeen, PASSPHRASE]) expect(printed).not.toContain(secret);
  });
});
