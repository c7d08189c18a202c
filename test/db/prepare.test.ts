import { expect, it } from 'vitest';

/** The one place that prepares what a template of Drizzle's was compiled to. */
const HOME = 'src/db/statement.ts';

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
  expect(bare).toEqual([HOME]);
});
