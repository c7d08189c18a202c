import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { MODULES, type Module } from './modules.ts';
import { importedFiles, importsOf, readModules, readSource, readTables, tablesOf } from './source.ts';

const source = readModules();
const tables = readTables();
const names = Object.keys(MODULES);
const MAX_FILES_OF_FOLDER = 25;

const isOfSameModule = (one: string, other: string) => one.split('/')[0] === other.split('/')[0];

/** Taking away what imports none of the others leaves what is in circles, and what leads to them. */
function inCircles(targets: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map(targets);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [name, imported] of left) if (!imported.some((other) => left.has(other))) left.delete(name);
  }
  return [...left.keys()];
}

const sorted = (items: Iterable<string>) => [...new Set(items)].sort();

/** What the source of a module does, in the form of the list. */
function found(name: string): Required<Module> {
  const files = source.get(name) ?? [];
  const owns = MODULES[name]?.owns ?? [];
  const uses = name === 'db' ? [] : files.map(({ code }) => tablesOf(code, tables));
  const written = sorted(uses.flatMap((use) => [...use.written])).filter((table) => !owns.includes(table));
  const foreign = sorted(uses.flatMap(({ used }) => [...used])).filter((table) => !owns.includes(table));
  return {
    imports: sorted(files.flatMap(({ code }) => importsOf(code))).filter((other) => other !== name),
    owns,
    reads: foreign.filter((table) => !written.includes(table)),
    writes: Object.fromEntries(written.map((table) => [table, MODULES[name]?.writes?.[table] ?? '?'])),
  };
}

const listed = ({ imports, owns = [], reads = [], writes = {} }: Module): Required<Module> => ({
  imports: sorted(imports),
  owns,
  reads: sorted(reads),
  writes,
});

describe('the list of modules', () => {
  it('has every module and nothing else', () => {
    expect(sorted(names)).toEqual(sorted(source.keys()));
  });

  it.each(names)('says what %s imports and which tables it touches', (name) => {
    expect(found(name)).toEqual(listed(MODULES[name] ?? { imports: [] }));
  });

  it.each(names)('lists what %s imports above it', (name) => {
    const above = names.slice(0, names.indexOf(name));
    expect(MODULES[name]?.imports.filter((other) => !above.includes(other))).toEqual([]);
  });

  it('enters other modules through their index', () => {
    const relative = /\bfrom '(\.\.?\/[^']+)'/g;
    const files = [...source.values()].flat();
    const outside = files.flatMap(({ file, code }) =>
      [...code.matchAll(relative)].flatMap(([, specifier = '']) => {
        const target = path.posix.join(path.posix.dirname(file), specifier);
        return isOfSameModule(target, file) ? [] : [`${file}: ${specifier}`];
      }),
    );
    expect(files.some(({ code }) => /\bfrom '\.\.\//.test(code))).toBe(true);
    expect(outside).toEqual([]);
  });

  it('has no circle of imports', () => {
    const files = [...source.values()].flat();
    const targets = new Map(files.map(({ file, code }) => [file, importedFiles(file, code)]));
    expect(targets.get('teams/routes.ts')).toContain('http/index.ts');
    expect(inCircles(targets)).toEqual([]);
  });

  it('has no circle of inner rooms, nor of a room and a file beside it', () => {
    const roomOf = (file: string) => {
      const folder = path.posix.dirname(file);
      return folder.includes('/') ? folder : file;
    };
    const rooms = Map.groupBy([...source.values()].flat(), ({ file }) => roomOf(file));
    const targets = new Map(
      [...rooms].map(([room, own]) => {
        const imported = own.flatMap(({ file, code }) => importedFiles(file, code)).map(roomOf);
        return [room, sorted(imported).filter((other) => other !== room && isOfSameModule(other, room))];
      }),
    );
    expect(targets.get('dashboard/charts')).toContain('dashboard/shell');
    expect(targets.get('counting/api.ts')).toContain('counting/api-questions.ts');
    expect(inCircles(targets)).toEqual([]);
  });

  it('has no folder with more files than one can survey', () => {
    const files = [...source.values()].flat().map(({ file }) => path.posix.dirname(file));
    const sizes = Map.groupBy(files, (folder) => folder);
    const large = [...sizes].filter(([, { length }]) => length > MAX_FILES_OF_FOLDER);
    expect(large.map(([folder, { length }]) => `${folder}: ${length}`)).toEqual([]);
  });

  it('declares no type, interface or class of one name in two files', () => {
    const declarations = readSource().flatMap(({ file, code }) =>
      [
        ...code.matchAll(
          /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:type|interface|class) (\w+)/gm,
        ),
      ].map(([, name = '']) => ({ name, file })),
    );
    const byName = Map.groupBy(declarations, ({ name }) => name);
    expect(byName.size).toBeGreaterThan(0);
    const repeated = [...byName].filter(([, of]) => new Set(of.map(({ file }) => file)).size > 1);
    expect(repeated.map(([name, of]) => `${name}: ${of.map(({ file }) => file).join(', ')}`)).toEqual([]);
  });

  it('types every JSON response of a route', () => {
    const routes = [...source.values()].flat().filter(({ file }) => file.endsWith('/routes.ts'));
    const untyped = routes.flatMap(({ file, code }) =>
      [...code.matchAll(/\b(?:c\.json|answerJson)\(.*/g)].map(([call]) => `${file}: ${call}`),
    );
    expect(untyped).toEqual([
      'docs/routes.ts: c.json(await documentFor(settingsOf(c.env).SERVICE_NAME, endpoints)))',
    ]);
  });

  it('gives every table one owner', () => {
    const owned = names.flatMap((name) => MODULES[name]?.owns ?? []);
    expect(owned.toSorted()).toEqual([...tables.values()].sort());
  });

  it('keeps the catalogue pure', () => {
    const impure =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bfetch\(|\bcrypto\b|'cloudflare:|\benv\b|\bawait\b/;
    const files = source.get('catalogue') ?? [];
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter(({ code }) => impure.test(code)).map(({ file }) => file)).toEqual([]);
  });
});

describe('reading the source', () => {
  const none = new Map([
    ['clicks', 'clicks'],
    ['apiKeys', 'api_keys'],
  ]);

  it.each([
    ["import { a } from '#db';", ['db']],
    ["import type { A } from '#lib/time';", ['lib']],
    ["export * from '#lib/input/fields';", ['lib']],
    ["const { a } = await import('#docs');", ['docs']],
    ["import { a } from './own.ts';", []],
  ])('finds the imports of %s', (code, imports) => {
    expect(importsOf(code)).toEqual(imports);
  });

  it.each([
    ["import { type Database, apiKeys } from '#db';", ['api_keys'], []],
    ['`SELECT 1 FROM clicks`', ['clicks'], []],
    ['`SELECT 1 FROM x JOIN api_keys`', ['api_keys'], []],
    ['`INSERT INTO clicks (id)`', ['clicks'], ['clicks']],
    ['`ON CONFLICT DO UPDATE SET clicks = 1`', [], []],
    [`sql\`DELETE FROM \${apiKeys}\``, ['api_keys'], ['api_keys']],
    ['db.update(clicks).set({})', ['clicks'], ['clicks']],
  ])('finds the tables of %s', (code, used, written) => {
    const answer = tablesOf(code, none);
    expect([...answer.used]).toEqual(used);
    expect([...answer.written]).toEqual(written);
  });
});

/** Objects are made of these; their code may run for several objects of an isolate at once. */
const OF_OBJECTS = ['counting', 'destinations', 'lake', 'lib', 'rollup'];

it.each(OF_OBJECTS)('%s imports nothing on demand, but for the one that no two objects wait for', (name) => {
  const onDemand = (source.get(name) ?? [])
    .filter(({ code }) => /\bimport\(/.test(code.replaceAll(/typeof import\(/g, '')))
    .map(({ file }) => file);
  const allowed: Readonly<Record<string, string[]>> = {
    lib: ['lib/encoding/parquet.ts'],
    // An invocation of its own.
    destinations: ['destinations/object/sender.ts'],
  };
  expect(onDemand).toEqual(allowed[name] ?? []);
});
