import path from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';
import { withDimensions } from './test/catalogue/with-dimensions.ts';
import { SUBSCRIPTION_MIGRATION, withSubscription } from './test/catalogue/with-subscription.ts';
import { bundledDependencies } from './test/helpers/bundled-dependencies.ts';
import { InterruptedProperties } from './test/helpers/interrupted-properties.ts';
import { inNode, pureTests, sqlAsText } from './test/helpers/pure-tests.ts';
import { TEST_SECRETS } from './test/helpers/secrets.ts';
import { type Runtime, readTestFiles, type TestFile } from './test/helpers/tiers.ts';
import { withoutWaits } from './test/helpers/without-waits.ts';
import { WorkerFirst } from './test/helpers/worker-first.ts';
import { withChanges } from './test/newcomer/changes.ts';

const dependencies = await bundledDependencies(import.meta.dirname);

const inWorkerd = [dependencies, sqlAsText, withoutWaits];

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

/** Built with changes: a kind of event, dimensions, and what `test/newcomer` adds. */
const ALTERED = [
  'test/catalogue/new-kind.test.ts',
  'test/catalogue/new-dimension.test.ts',
  'test/newcomer/newcomer.test.ts',
];

/** What earlier releases stored, as it is and with more kinds, measures and dimensions in the middle of their lists. */
const OLD = ['test/lake/old-files.test.ts', 'test/upgrade/upgrade.test.ts'];

const TEST_FILES = readTestFiles(import.meta.dirname);
const filesOf = (is: (file: TestFile) => boolean) => TEST_FILES.filter(is).map(({ file }) => file);

const fast = (runtime: Runtime) =>
  filesOf((test) => test.runtime === runtime && !test.isSlow && !ALTERED.includes(test.file));

const slow = (...runtimes: Runtime[]) =>
  filesOf(
    (test) =>
      runtimes.includes(test.runtime) && (test.isSlow || test.hasMore) && !ALTERED.includes(test.file),
  );

/** CASES=many runs any test with all of its cases. */
const few = { cases: process.env.CASES === 'many' ? 'many' : 'few' } as const;
const many = { cases: 'many' } as const;

// Files share an isolate, since starting one and importing the Worker anew cost more than most files' tests. The setup file empties
// the bindings; a file that tests what the Worker's modules remember resets them: `vi.hoisted(() => vi.resetModules())`.
const inWorker = {
  setupFiles: ['./test/helpers/empty-bindings.ts', './test/helpers/properties.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  isolate: false,
};

const shared = {
  silent: 'passed-only',
  globalSetup: './test/helpers/stores-in-memory.ts',
  // The default leaves a core to the main process: on two cores, one file at a time.
  maxWorkers: '100%',
} as const;

// No project extends the file, which would be evaluated anew for each.
export default defineConfig({
  test: {
    ...shared,
    sequence: { sequencer: WorkerFirst },
    reporters: ['default', new InterruptedProperties()],
    projects: [
      {
        extends: false,
        plugins: [...inWorkerd, worker()],
        test: { ...shared, ...inWorker, name: 'worker', include: fast('worker'), provide: few },
      },
      {
        extends: false,
        plugins: [sqlAsText],
        test: { ...shared, ...pureTests(import.meta.dirname), name: 'pure', provide: few },
      },
      {
        extends: false,
        plugins: [sqlAsText],
        test: { ...shared, ...inNode, name: 'node', include: fast('node'), provide: few, isolate: false },
      },
      {
        extends: false,
        plugins: [...inWorkerd, worker()],
        test: { ...shared, ...inWorker, name: 'slow-worker', include: slow('worker'), provide: many },
      },
      {
        extends: false,
        plugins: [sqlAsText],
        test: { ...shared, ...inNode, name: 'slow-node', include: slow('node', 'pure'), provide: many },
      },
      {
        extends: false,
        plugins: [
          ...inWorkerd,
          withSubscription,
          withDimensions,
          withChanges,
          worker([...MIGRATIONS, SUBSCRIPTION_MIGRATION]),
        ],
        test: { ...shared, ...inWorker, name: 'altered', include: [...ALTERED, ...OLD], provide: many },
      },
    ],
  },
});
