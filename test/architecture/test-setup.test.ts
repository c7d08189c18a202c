import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { bundledDependencies } from '../helpers/bundled-dependencies.ts';
import storesInMemory from '../helpers/stores-in-memory.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the stores of tests', () => {
  it('stand in a directory of their own, which is removed in the end', () => {
    vi.stubEnv('TMPDIR', undefined);
    const usual = tmpdir();
    const remove = storesInMemory();
    const chosen = tmpdir();
    expect(chosen === usual).toBe(remove === undefined);
    expect(existsSync(chosen)).toBe(true);
    remove?.();
    expect(existsSync(chosen)).toBe(remove === undefined);
  });

  it('stay where TMPDIR puts them', () => {
    vi.stubEnv('TMPDIR', '/tmp/of-my-own');
    expect(storesInMemory()).toBeUndefined();
    expect(process.env.TMPDIR).toBe('/tmp/of-my-own');
  });
});

describe('bundled dependencies', () => {
  it('stand in files of which no two have the same code', async () => {
    const { resolveId } = await bundledDependencies(ROOT);
    const folder = path.dirname(resolveId('zod') ?? '');
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.mjs'));
    expect(files).toContain('@hono/zod-validator.mjs');
    const sources = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
    expect(sources.filter((source) => source.includes('$constructor("$ZodType",'))).toHaveLength(1);
    expect(resolveId('vitest')).toBeUndefined();
    expect(resolveId('#db')).toBeUndefined();
  });

  it('refuse an entry that would be loaded as a second copy', async () => {
    const { resolveId } = await bundledDependencies(ROOT);
    expect(() => resolveId('hono/cors')).toThrow(
      'Add hono/cors to ENTRIES in test/helpers/bundled-dependencies.ts',
    );
  });
});
