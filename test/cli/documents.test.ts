import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';

// The README and docs: what they link to exists, and what they tell people to run exists.

const files = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...(await readdir(path.join(ROOT, 'docs'), { recursive: true }))
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file)),
];
const read = (file: string) => readFile(path.join(ROOT, file), 'utf8');

/** As GitHub makes the anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[`*]/g, '')
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

it.each(files)('%s links only to what exists', async (file) => {
  const text = await read(file);
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, source]) => link ?? source ?? '',
  );
  for (const link of links.filter((target) => !/^https?:/.test(target))) {
    const [target = '', anchor] = link.split('#');
    const linked = target === '' ? file : path.join(path.dirname(file), target);
    expect(await stat(path.join(ROOT, linked)).catch(() => null), `${file} → ${link}`).not.toBeNull();
    if (anchor === undefined) continue;
    const headings = [...(await read(linked)).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchorOf(text));
    expect(headings, `${file} → ${link}`).toContain(anchor);
  }
});

it('tells people to run only scripts that exist, and explains each of them', async () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(await read('package.json'));
  const texts = await Promise.all(files.map(read));
  const named = texts.flatMap((text) =>
    [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name),
  );
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const commands = await read('docs/commands.md');
  const missing = Object.keys(scripts).filter(
    (name) => !commands.includes(`npm run ${name}`) && !commands.includes(`npm ${name}`),
  );
  expect(missing).toEqual([]);
});

it('says of each package why it is there', async () => {
  const { dependencies, devDependencies } = JSON.parse(await read('package.json'));
  const table = await read('docs/dependencies.md');
  const cells = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
  expect(
    cells
      .slice(1)
      .filter((cell) => !cell.startsWith('-'))
      .sort(),
  ).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
});

it('gives every decision a line in its index', async () => {
  const decisions = (await readdir(path.join(ROOT, 'docs/adr'))).filter((file) => /^\d{4}-/.test(file));
  const index = await read('docs/adr/README.md');
  for (const decision of decisions) expect(index).toContain(`(${decision})`);
});
