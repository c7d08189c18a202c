import { readTestFiles } from './tiers.ts';

// The tests that need nothing but JavaScript, as Vitest runs them. `npm run mutate` runs the same.

/** As the bundler does it: see src/cli/bundle.ts. */
export const sqlAsText = {
  name: 'sql-as-text',
  transform: (code: string, file: string) =>
    file.endsWith('.sql') ? `export default ${JSON.stringify(code)}` : undefined,
};

export const inNode = {
  environment: 'node' as const,
  setupFiles: ['./test/helpers/scheduler.ts', './test/helpers/properties.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

export const pureTests = (root: string) => ({
  ...inNode,
  include: readTestFiles(root)
    .filter(({ runtime, isSlow }) => runtime === 'pure' && !isSlow)
    .map(({ file }) => file),
  pool: 'threads' as const,
  isolate: false,
});
