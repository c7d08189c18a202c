import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const withoutComments = (code: string) => code.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');

/** What a text imports when it runs: not the imports of types, which are gone by then. */
export const specifiersOf = (code: string): string[] =>
  [
    ...withoutComments(code).matchAll(
      /^\s*(?:import|export)\s+(?!type\b)(?:[\w\s{},*$]+\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/gm,
    ),
  ].map(([, fixed, onDemand]) => fixed ?? onDemand ?? '');

/** The specifiers of package.json's `imports` with the files that they stand for. */
function readAliases(root: string) {
  const { imports }: { imports: Record<string, string> } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  );
  return Object.entries(imports).map(([alias, target]) => {
    const [before = '', after] = alias.split('*');
    return { before, after, target };
  });
}

/** What the files of a repository reach by import, each file read once. */
export class ImportGraph {
  readonly #root: string;
  readonly #aliases;
  readonly #imports = new Map<string, readonly string[]>();

  constructor(root: string) {
    this.#root = root;
    this.#aliases = readAliases(root);
  }

  /** All files of the repository and all packages and built-in modules (`node:fs`, `cloudflare:workers`) that a file reaches. */
  reachedFrom(file: string): Set<string> {
    const reached = new Set([file]);
    for (const name of reached) for (const imported of this.#importsOf(name)) reached.add(imported);
    return reached;
  }

  #importsOf(name: string): readonly string[] {
    if (!/\.tsx?$/.test(name)) return [];
    const known = this.#imports.get(name);
    if (known) return known;
    const file = path.join(this.#root, name);
    // Imports in texts of tests may name files that there are not.
    const code = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const found = specifiersOf(code).map((specifier) => this.#resolve(name, specifier));
    this.#imports.set(name, found);
    return found;
  }

  #resolve(importer: string, specifier: string): string {
    if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(importer), specifier);
    if (!specifier.startsWith('#')) return specifier;
    for (const { before, after, target } of this.#aliases) {
      const isMatch =
        after === undefined
          ? specifier === before
          : specifier.startsWith(before) && specifier.endsWith(after);
      if (!isMatch) continue;
      const middle = specifier.slice(before.length, specifier.length - (after?.length ?? 0));
      return path.posix.normalize(target.replace('*', middle));
    }
    return specifier;
  }
}
