import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { ImportGraph, specifiersOf } from '../helpers/import-graph.ts';
import { readTestFiles, runtimeOf } from '../helpers/tiers.ts';

describe('the imports of a file', () => {
  it('are those that remain when it runs', () => {
    const code = [
      "import type { A } from '#of-a-type';",
      "import b, { type C } from './b.ts';",
      "import {\n  d,\n  e as f,\n} from '#d';",
      "import * as z from 'zod';",
      "import 'cloudflare:workers';",
      "export { g } from './g.ts';",
      "export type { H } from './h.ts';",
      "// import { i } from './i.ts';",
      "const j = await import( './j.ts');",
      "const text = ' from ./k.ts';",
    ].join('\n');
    expect(specifiersOf(code)).toEqual(['./b.ts', '#d', 'zod', 'cloudflare:workers', './g.ts', './j.ts']);
  });

  it('are followed to the end, by the names of package.json too', () => {
    const graph = new ImportGraph(ROOT);
    const reached = [...graph.reachedFrom('test/catalogue/kinds.test.ts')];
    for (const name of ['src/catalogue/index.ts', 'src/lib/time.ts', 'zod']) expect(reached).toContain(name);
    expect([...graph.reachedFrom('src/index.ts')]).toContain('cloudflare:workers');
  });
});

describe('a test', () => {
  it.each([
    [['cloudflare:test', 'node:fs'], 'worker'],
    [['node:fs/promises'], 'node'],
    [['node:buffer', 'node:crypto', 'zod'], 'pure'],
  ] as const)('that reaches %j runs as %s', (reached, runtime) => {
    expect(runtimeOf(new Set(reached))).toBe(runtime);
  });

  it('runs in workerd only if it has to', () => {
    const files = readTestFiles(ROOT);
    const graph = new ImportGraph(ROOT);
    const reachesWorkerd = (file: string) =>
      [...graph.reachedFrom(file)].some((name) => name.startsWith('cloudflare:'));
    for (const { file, runtime } of files)
      expect([file, runtime === 'worker']).toEqual([file, reachesWorkerd(file)]);
    expect(new Set(files.map(({ runtime }) => runtime))).toEqual(new Set(['worker', 'node', 'pure']));
  });
});
