import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { FIXTURES, hashesOf, RELEASED } from '../upgrade/released.ts';

it('keeps the stores of each release as they were written', async () => {
  const versions = await readdir(FIXTURES);
  const hashes = (await Promise.all(versions.map(hashesOf))).flat();
  expect(Object.fromEntries(hashes)).toEqual(JSON.parse(await readFile(RELEASED, 'utf8')));
  expect(versions).toContain('0.1.0');
});
