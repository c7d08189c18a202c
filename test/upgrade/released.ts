import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

// The stores of releases. They are written once and never change, because they stand for what deployments have stored.

export const FIXTURES = path.join(import.meta.dirname, 'fixtures');

/** The SHA-256 of each file of the released stores, by `<version>/<file>`. */
export const RELEASED = path.join(import.meta.dirname, 'released.json');

/** `<version>/<file>` with its SHA-256 in hex, of the files of a release that are there. */
export async function hashesOf(version: string): Promise<[name: string, hash: string][]> {
  const names = await readdir(path.join(FIXTURES, version));
  return Promise.all(
    names.sort().map(async (name): Promise<[string, string]> => {
      const content = await readFile(path.join(FIXTURES, version, name));
      return [`${version}/${name}`, createHash('sha256').update(content).digest('hex')];
    }),
  );
}

/** The names of the migrations of a release's database. */
export async function migrationsOf(version: string): Promise<string[]> {
  const dump = await readFile(path.join(FIXTURES, version, 'd1.sql'), 'utf8');
  return [...dump.matchAll(/INSERT INTO "d1_migrations" VALUES \(\d+, '([^']+)'/g)].map(
    ([, name = '']) => name,
  );
}
