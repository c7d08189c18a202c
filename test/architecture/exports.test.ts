import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
const RE_EXPORT = /export (?:type )?\{([^}]*)\} from/g;

const read = (folder: string) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((name) => {
      const file = `${folder}/${name}`;
      const code = readFileSync(path.join(ROOT, file), 'utf8').replace(COMMENT, '');
      return { file, code, words: new Set(code.replace(RE_EXPORT, '').match(/[\w$]+/g)) };
    });

const files = [...read('src'), ...read('test'), ...read('migrations')];
/** Each word, and the files that use it for more than exporting it again. */
const filesWith = new Map<string, string[]>();
for (const { file, words } of files) {
  for (const word of words) filesWith.set(word, [...(filesWith.get(word) ?? []), file]);
}

/** The values that a file exports and no other file names; types may name what a function takes. An index is there for other modules. */
function unusedIn({ file, code }: { file: string; code: string }): string[] {
  const isIndex = path.basename(file) === 'index.ts';
  const own = isIndex ? `${path.dirname(file)}/` : file;
  const declared = [...code.matchAll(/^export (?:async )?(?:const|function\*?|class|let) (\w+)/gm)];
  const again = [...code.matchAll(/export \{([^}]*)\} from/g)].flatMap(([, names = '']) =>
    names.split(',').flatMap((name) => /^\s*(?:\w+ as )?(\w+)\s*$/.exec(name)?.[1] ?? []),
  );
  return [...declared.map(([, name = '']) => name), ...(isIndex ? again : [])]
    .filter((name) => !filesWith.get(name)?.some((user) => !user.startsWith(own)))
    .map((name) => `${file}: ${name}`);
}

it('exports nothing that no other file uses', () => {
  // What workerd finds by name is exported by src/index.ts, which no module imports.
  const own = files.filter(({ file }) => file.startsWith('src/') && file !== 'src/index.ts');
  expect(own.flatMap(unusedIn)).toEqual([]);
});
