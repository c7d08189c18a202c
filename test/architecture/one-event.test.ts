import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/one-event.md'), 'utf8');

/** The steps: what is done, and in which files. */
const STEPS = PAGE.split('\n').flatMap((line) => {
  const [step = '', where = ''] = line.split(' |').map((cell) => cell.replace(/^\|? /, ''));
  return /^`src/.test(where) ? [{ step, where }] : [];
});
const filesIn = (where: string) => [...where.matchAll(/`(\S+\.ts)`/g)].map(([, file = '']) => file);

it('follows the event through files that do what the page says', () => {
  expect(STEPS.length).toBeGreaterThan(10);
  for (const { step, where } of STEPS) {
    const files = filesIn(where);
    expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    const code = files.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
    const names = [...step.matchAll(/`([a-z]*[A-Z][A-Za-z]+)`/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
  }
});

it('says how many files the value passes', () => {
  const files = new Set(STEPS.flatMap(({ where }) => filesIn(where)));
  expect(PAGE).toContain(`passes these\n${files.size} files`);
});
