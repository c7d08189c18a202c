import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { inFolder, run } from './tools.ts';

// The rules that are this project's own.

/** Lints modules, given by path and code, as those of the project. Returns the paths and rules of the errors, in order. */
const lint = (modules: Record<string, string>) =>
  inFolder(async (folder) => {
    for (const name of ['biome.json', 'bare-prepare.grit']) {
      await copyFile(path.join(ROOT, name), path.join(folder, name));
    }
    for (const [name, code] of Object.entries(modules)) {
      const file = path.join(folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, code);
    }
    const { code, output } = await run('biome', ['lint', '--vcs-enabled=false', '--colors=off'], folder);
    expect(code, output).toBe(1);
    return [...output.matchAll(/^(src\S+\.ts):\d+:\d+ (\S+)/gm)]
      .map(([, name, rule]) => `${name} ${rule}`)
      .sort();
  });

it('refuses the Node globals that Cloudflare declares as `any`', async () => {
  const names = ['fetch', 'process', 'Buffer', 'global', 'setImmediate'];
  const modules = names.map((name) => [`src/lib/${name}.ts`, `export const used = ${name};\n`]);
  expect(await lint(Object.fromEntries(modules))).toEqual(
    ['Buffer', 'global', 'process', 'setImmediate'].map(
      (name) => `src/lib/${name}.ts lint/style/noRestrictedGlobals`,
    ),
  );
});

it('refuses statements in plain text, except where templates are compiled', async () => {
  const bare = "export const read = (db: D1Database) => db.prepare('SELECT 1').all();\n";
  const modules = {
    'src/reports/bare.ts': bare,
    'src/lib/session.ts': 'export const read = (db: D1Database) => db.withSession().prepare(`SELECT 1`);\n',
    'src/teams/builder.ts': 'export const read = (query: { prepare: () => void }) => query.prepare();\n',
    'src/db/statement.ts': bare,
  };
  expect(await lint(modules)).toEqual(['src/lib/session.ts plugin', 'src/reports/bare.ts plugin']);
});
