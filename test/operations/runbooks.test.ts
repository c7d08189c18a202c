import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runbookOf } from '../../src/operations/runbooks.ts';

// Each problem of Health has a section of its own that says what to do.

const page = readFileSync(path.join(import.meta.dirname, '../../docs/operations.md'), 'utf8');

/** As GitHub makes them. */
const ANCHORS = new Set(
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  ),
);

/** The beginnings of the sentences in the modules that find problems. */
function sentences(): string[] {
  const modules = ['problems', 'connector-problems', 'destination-health', 'outage'];
  const texts = modules.map((name) =>
    readFileSync(path.join(import.meta.dirname, `../../src/operations/${name}.ts`), 'utf8'),
  );
  const counting = ['health', 'files/raw-files'].map((name) =>
    readFileSync(path.join(import.meta.dirname, `../../src/counting/${name}.ts`), 'utf8'),
  );
  const [found, ofCounters] = [texts, counting].map((own) =>
    own.flatMap((text) =>
      [
        ...text
          .replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
          .matchAll(/(['`])((?:[A-Z]|\$\{(?:count|name))(?:(?!\1)[^\n])*? (?:(?!\1)[^\n])*)\1/g),
      ].map(([, , sentence = '']) =>
        sentence
          .replaceAll(/\$\{count[^}]*\}(?: \$\{messages[^}]*\})?/g, '2 messages are')
          .replaceAll('2 messages are messages', '2 messages')
          .replaceAll('2 messages are MB', '9 MB')
          .replaceAll(/\$\{name\}/g, 'The destination x')
          .replaceAll(/\$\{[^}]*\}/g, 'x'),
      ),
    ),
  );
  return [...(found ?? []), ...(ofCounters ?? [])];
}

it.each([...new Set(sentences().filter((text) => /^[A-Z\d]/.test(text) && !text.startsWith('SELECT')))])(
  '%s',
  (problem) => {
    const [file, anchor = ''] = runbookOf(problem).split('#');
    expect(file).toBe('docs/operations.md');
    expect(ANCHORS).toContain(anchor);
  },
);

it('is the section about alerts for a problem that it does not know', () => {
  expect(runbookOf('Something else.')).toBe('docs/operations.md#what-to-alert-on');
  expect(ANCHORS).toContain('what-to-alert-on');
});
