import path from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';
import { withSubscription } from './test/catalogue/with-subscription.ts';
import { TEST_SECRETS } from './test/helpers/secrets.ts';

/** As the bundler does it: see src/cli/bundle.ts. */
const sqlAsText = {
  name: 'sql-as-text',
  transform: (code: string, file: string) =>
    file.endsWith('.sql') ? `export default ${JSON.stringify(code)}` : undefined,
};

const MIGRATIONS = await readD1Migrations(path.join(import.meta.dirname, 'migrations'));

const worker = () =>
  cloudflareTest({
    main: './src/index.ts',
    wrangler: { configPath: './wrangler.toml' },
    miniflare: {
      bindings: {
        ...TEST_SECRETS,
        MIGRATIONS,
      },
    },
  });

/** Those of a module of the Worker that need Node: DuckDB, a process of their own. */
const NODE_TESTS = ['test/lake/duckdb.test.ts', 'test/lake/memory.test.ts'];

const NEW_KIND_TEST = 'test/catalogue/new-kind.test.ts';

export default defineConfig({
  test: {
    silent: 'passed-only',
    projects: [
      {
        extends: true,
        plugins: [sqlAsText, worker()],
        test: {
          name: 'worker',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/architecture/**',
            'test/cli/**',
            'test/chaos/**',
            'test/e2e/**',
            NEW_KIND_TEST,
            ...NODE_TESTS,
          ],
          setupFiles: ['./test/helpers/apply-migrations.ts'],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        plugins: [sqlAsText, withSubscription, worker()],
        test: {
          name: 'new-kind',
          include: [NEW_KIND_TEST],
          setupFiles: ['./test/helpers/apply-migrations.ts'],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'cli',
          include: [
            'test/architecture/**/*.test.ts',
            'test/cli/**/*.test.ts',
            'test/chaos/**/*.test.ts',
            ...NODE_TESTS,
          ],
          environment: 'node',
          testTimeout: 120_000,
        },
      },
    ],
  },
});
