import path from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';

export default defineConfig(async () => ({
  plugins: [
    cloudflareTest({
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        bindings: {
          TOKEN_SECRET: 'a-token-secret-of-the-tests-only-000000',
          KEY_ENCRYPTION_SECRET: 'a-key-encryption-secret-of-the-tests-000',
          SESSION_SECRET: 'a-session-secret-of-the-tests-only-00000',
          MIGRATIONS: await readD1Migrations(path.join(import.meta.dirname, 'migrations')),
        },
      },
    }),
  ],
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/e2e/**'],
    setupFiles: ['./test/helpers/apply-migrations.ts'],
    testTimeout: 60_000,
    silent: 'passed-only' as const,
  },
}));
