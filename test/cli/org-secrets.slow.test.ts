import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { Decrypter } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrgs } from './orgs.ts';

// The copy of an org's secrets that `npm run org` keeps, against a stand-in of Cloudflare's API.

const PASSPHRASE = 'a passphrase of the tests';

let orgs: Awaited<ReturnType<typeof startOrgs>>;
let copy: string;

beforeAll(async () => {
  orgs = await startOrgs({ ORG_PASSPHRASE: PASSPHRASE });
  copy = path.join(orgs.folder, 'acme.age');
});
afterAll(() => orgs.stop());

const live = () => Object.fromEntries(orgs.deployed('acme').script.secrets);

/** As `age --decrypt` does it. */
async function decryptCopy(): Promise<Record<string, string | undefined>> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(PASSPHRASE);
  return { ...parseEnv(await decrypter.decrypt(await readFile(copy), 'text')) };
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
