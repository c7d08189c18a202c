import path from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';
import { withDimensions } from './test/catalogue/with-dimensions.ts';
import { SUBSCRIPTION_MIGRATION, withSubscription } from './test/catalogue/with-subscription.ts';
import { bundledDependencies } from './test/helpers/bundled-dependencies.ts';
import { TEST_SECRETS } from './test/helpers/secrets.ts';
import { withChanges } from './test/newcomer/changes.ts';

/** As the bundler does it: see src/cli/bundle.ts. */
const sqlAsText = {
  name: 'sql-as-text',
  transform: (code: string, file: string) =>
    file.endsWith('.sql') ? `export default ${JSON.stringify(code)}` : undefined,
};

const dependencies = await bundledDependencies(import.meta.dirname);

const MIGRATIONS = await readD1Migrations(path.join(import.meta.dirname, 'migrations'));

const worker = (migrations = MIGRATIONS) =>
  cloudflareTest({
    main: './src/index.ts',
    wrangler: { configPath: './wrangler.toml' },
    miniflare: {
      // Tests reach nobody, whatever network the machine has.
      outboundService: () => new Response(null, { status: 503 }),
      bindings: {
        ...TEST_SECRETS,
        MIGRATIONS: migrations,
      },
    },
  });

/** Chaos, fuzz, whole services: more than a second or two each. `npm run test:slow` runs them, and so does CI. */
const SLOW = 'test/**/*.slow.test.ts';

/** Tests that need Node: files, DuckDB, processes of their own. */
const NODE = [
  'test/{architecture,chaos,cli}/**/*.test.ts',
  'test/bench/options.test.ts',
  'test/bench/peer/**/*.test.ts',
  'test/foreign/imports/**/*.test.ts',
  'test/counting/{answer,shared}-heap.slow.test.ts',
  'test/lake/duckdb.slow.test.ts',
  'test/lake/memory.slow.test.ts',
  'test/stores/apple-library.test.ts',
];

const NEW_KIND = 'test/catalogue/new-kind.test.ts';
/** Also runs as it is, without the new kind. */
const OLD_FILES = 'test/lake/old-files.test.ts';
const NEW_DIMENSION = 'test/catalogue/new-dimension.test.ts';
const NEWCOMER = 'test/newcomer/newcomer.test.ts';
/** What earlier releases stored, as it is and with one more kind, measure and dimension in the middle of their lists. */
const OLD_STORES = 'test/upgrade/upgrade.test.ts';

// Files share an isolate, since starting one and importing the Worker anew cost more than most files' tests. The setup file empties
// the bindings; a file that tests what the Worker's modules remember resets them: `vi.hoisted(() => vi.resetModules())`.
const inWorker = {
  setupFiles: ['./test/helpers/empty-bindings.ts', './test/helpers/shrink-in-time.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
  isolate: false,
};
const inNode = { environment: 'node', testTimeout: 120_000, hookTimeout: 120_000 } as const;

export default defineConfig({
  test: {
    silent: 'passed-only',
    globalSetup: './test/helpers/stores-in-memory.ts',
    // The default leaves a core to the main process: on two cores, one file at a time.
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        plugins: [dependencies, sqlAsText, worker()],
        test: {
          ...inWorker,
          name: 'worker',
          include: ['test/**/*.test.ts'],
          exclude: [SLOW, NEW_KIND, NEW_DIMENSION, NEWCOMER, ...NODE],
        },
      },
      {
        extends: true,
        plugins: [dependencies, sqlAsText, worker()],
        test: { ...inWorker, name: 'slow-worker', include: [SLOW], exclude: NODE },
      },
      {
        extends: true,
        plugins: [dependencies, sqlAsText, withSubscription, worker([...MIGRATIONS, SUBSCRIPTION_MIGRATION])],
        test: { ...inWorker, name: 'new-kind', include: [NEW_KIND, OLD_FILES, OLD_STORES] },
      },
      {
        extends: true,
        plugins: [dependencies, sqlAsText, withDimensions, worker()],
        test: { ...inWorker, name: 'new-dimension', include: [NEW_DIMENSION, OLD_FILES, OLD_STORES] },
      },
      {
        extends: true,
        plugins: [dependencies, sqlAsText, withChanges, worker()],
        test: { ...inWorker, name: 'newcomer', include: [NEWCOMER] },
      },
      { extends: true, test: { ...inNode, name: 'node', include: NODE, exclude: [SLOW] } },
      {
        extends: true,
        test: { ...inNode, name: 'slow-node', include: NODE, exclude: ['test/**/!(*.slow).test.ts'] },
      },
    ],
  },
});
