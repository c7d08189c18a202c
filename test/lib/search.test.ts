import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containsSql, database } from '#db';
import { containsText, foldCase, lettersFoldedTo, MAX_FOLDED_LETTERS } from '#lib/search';
import { slowIt } from '../helpers/thorough.ts';

describe('foldCase', () => {
  it('is the same for both cases of each letter, and whatever letters surround it', () => {
    expect(foldCase('ΟΔΟΣ Löwe İstanbul ПРИВЕТ')).toBe(foldCase('οδος lÖWE istanbul привет'));
    expect(foldCase('ß ẞ')).toBe('ß ß');
  });

  it('keeps letters that have no case', () => {
    for (const text of ['日本語', 'ゲーム', '1 2 3 %_[*]', '😀', 'עברית']) expect(foldCase(text)).toBe(text);
  });
});

slowIt('knows every letter that folds to another', () => {
  const missing: string[] = [];
  for (let code = 0x80; code < 0x110000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const letter = String.fromCodePoint(code);
    const folded = foldCase(letter);
    if (folded === letter) continue;
    if (!lettersFoldedTo(folded).some(([own, to]) => own === letter && to === folded)) missing.push(letter);
    if (foldCase(folded) !== folded) missing.push(folded);
  }
  expect(missing).toEqual([]);
});

const LETTERS = [
  'a',
  'B',
  'k',
  '\u212a',
  'i',
  'İ',
  'ı',
  'ö',
  'Ö',
  'ß',
  'ẞ',
  'σ',
  'ς',
  'Σ',
  'ж',
  'Ж',
  'ᾼ',
  'ᾳ',
];
const texts = fc
  .array(fc.constantFrom(...LETTERS, "'", '"', '%', '日', '😀'), { maxLength: 6 })
  .map((all) => all.join(''));

it('finds the same in SQL', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(texts, { minLength: 1, maxLength: 30 }),
      texts.filter((q) => q !== ''),
      async (names, q) => {
        const value = sql`value`;
        const list = JSON.stringify(names);
        const rows = await database(env.DB).all<{ value: string }>(
          sql`SELECT value FROM json_each(${list}) WHERE ${containsSql(value, q)} ORDER BY key`,
        );
        expect(rows.map((row) => row.value)).toEqual(names.filter((name) => containsText(name, q)));
      },
    ),
    { numRuns: 60 },
  ));

it('fits a statement with as many letters as are allowed', async () => {
  // Armenian and Cyrillic.
  const letters = [0x561, 0x430].map((first) => Array.from({ length: 30 }, (_, at) => first + at));
  const q = String.fromCodePoint(...letters.flat());
  expect(lettersFoldedTo(q)).toHaveLength(MAX_FOLDED_LETTERS);
  const [row] = await database(env.DB).all<{ found: number }>(
    sql`SELECT ${containsSql(sql`value`, q)} AS found FROM json_each(${JSON.stringify([q.toUpperCase()])})`,
  );
  expect(row).toEqual({ found: 1 });
});
