import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';

const FOLDER = path.join(ROOT, 'src/dashboard/static');
const TOKENS = 'tokens.css';
/** A colour, or a size of type, that is not a token. */
const RAW = /#[\da-f]{3,8}\b|\b(?:rgb|hsl|oklch|lab|lch)a?\(|\bfont(?:-size)?:\s*[^;]*\d(?:px|rem|pt)\b/gi;

it('names colours and sizes of type in the stylesheet of tokens only', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.css'));
  expect(files).toContain(TOKENS);
  const raw = files
    .filter((name) => name !== TOKENS)
    .flatMap((name) => {
      const text = readFileSync(path.join(FOLDER, name), 'utf8');
      return [...text.matchAll(RAW)].map(([found]) => `${name}: ${found}`);
    });
  expect(raw).toEqual([]);
});
