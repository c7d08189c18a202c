import { expect, it } from 'vitest';

/** The one place that prepares what a template of Drizzle's was compiled to. */
const HOME = 'src/db/statement.ts';

/** Statements that still name their tables and columns in text, so that no compiler finds a renamed one. The list only shrinks. */
const STILL_TEXT = ['src/reports/filters.ts'];

const sources = import.meta.glob<string>('../../src/**/*.{ts,tsx}', {
  query: '?raw',
  import: 'default',
  eager: true,
});

it('asks D1 through Drizzle', () => {
  // A builder's own `.prepare()` has no argument.
  const bare = Object.entries(sources).flatMap(([path, text]) =>
    /\.prepare\((?!\s*\))/.test(text) ? [path.replace('../../', '')] : [],
  );
  expect(Object.keys(sources).length).toBeGreaterThan(200);
  expect(bare.sort()).toEqual([...STILL_TEXT, HOME].sort());
});
