import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findPostgres } from './postgres.ts';

async function makeFolder(...programs: string[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'find-postgres-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const program of programs) {
    await writeFile(path.join(folder, program), '');
    await chmod(path.join(folder, program), 0o755);
  }
  return folder;
}

test('finds the first folder that has both programs', async () => {
  const half = await makeFolder('postgres');
  const [whole, later] = [await makeFolder('initdb', 'postgres'), await makeFolder('initdb', 'postgres')];
  expect(await findPostgres([half, whole, later])).toBe(whole);
});

test('finds nothing where Postgres is not installed', async () => {
  expect(await findPostgres([await makeFolder('initdb'), '/nonexistent'])).toBeNull();
});
