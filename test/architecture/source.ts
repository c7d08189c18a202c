import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const SRC = path.join(import.meta.dirname, '../../src');

type SourceFile = { file: string; code: string };

/** All source files, without their comments. */
export const readSource = (): SourceFile[] =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('static'))
    .map((file) => ({ file, code: withoutComments(readFileSync(path.join(SRC, file), 'utf8')) }));

/** The source files of each module, by the module's name. Files directly in `src` put the others together and are none, but for the settings. */
export function readModules(): Map<string, SourceFile[]> {
  return Map.groupBy(
    readSource().filter(({ file }) => file.includes('/') || file === 'env.ts'),
    ({ file }) => file.replace(/(?:\/.*|\.ts)$/s, ''),
  );
}

const withoutComments = (code: string) => code.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');

/** The modules that a text imports. `#lib/time` is of `lib`. */
export function importsOf(code: string): string[] {
  const found = code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'#([a-z-]+)(?:\/[a-z0-9-]+)*'/g);
  return [...found].flatMap(([, name]) => name ?? []).filter((name) => !name.endsWith('-migrations'));
}

const ALIASES = Object.entries(
  JSON.parse(readFileSync(path.join(SRC, '../package.json'), 'utf8')).imports as Record<string, string>,
).map(([alias, target]) => {
  const [before = '', after] = alias.split('*');
  return { before, after, target: target.replace('./src/', '') };
});

/** The file that a text of package.json's `imports` stands for. */
function aliased(specifier: string): string | undefined {
  for (const { before, after, target } of ALIASES) {
    if (
      after === undefined ? specifier === before : specifier.startsWith(before) && specifier.endsWith(after)
    ) {
      return target.replace('*', specifier.slice(before.length, specifier.length - (after?.length ?? 0)));
    }
  }
  return undefined;
}

/** The files that a file imports, types too, all from `src`. */
export function importedFiles(file: string, code: string): string[] {
  const found = code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([.#][^']+)'/g);
  return [...found].flatMap(([, specifier = '']) =>
    specifier.startsWith('.')
      ? path.posix.join(path.posix.dirname(file), specifier)
      : (aliased(specifier) ?? []),
  );
}

/** Tables of D1: name in SQL by name in the schema, which defines them by `sqliteTable` or by a function of its own called `…Table`. */
export function readTables(): Map<string, string> {
  const folder = path.join(SRC, 'db/schema');
  const schemas = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'utf8'));
  const found = schemas.join('\n').matchAll(/export const (\w+) = \w+Table\(\s*'(\w+)'/g);
  return new Map([...found].map(([, variable = '', table = '']) => [variable, table]));
}

/** The tables that a text uses, in SQL or by the schema, and those of them that it writes. */
export function tablesOf(code: string, tables: ReadonlyMap<string, string>) {
  const imported = [...code.matchAll(/import (?:type )?\{([^}]*)\} from '#db'/g)]
    .flatMap(([, names = '']) => names.split(','))
    .flatMap((name) => tables.get(name.trim()) ?? []);
  const names = new Set(tables.values());
  const isTable = (name: string | undefined): name is string => name !== undefined && names.has(name);
  const inSql = (verbs: string) =>
    [...code.matchAll(new RegExp(`\\b(?:${verbs})\\s+(?:(\\w+)|\\$\\{(\\w+)\\})`, 'g'))]
      .map(([, name, variable]) => name ?? tables.get(variable ?? ''))
      .filter(isTable);
  const byBuilder = [...code.matchAll(/\.(?:insert|update|delete)\((\w+)\)/g)]
    .map(([, variable]) => tables.get(variable ?? ''))
    .filter(isTable);
  const written = new Set([...inSql('INSERT INTO|UPDATE|DELETE FROM'), ...byBuilder]);
  return { used: new Set([...imported, ...inSql('FROM|JOIN|INTO|UPDATE'), ...written]), written };
}
