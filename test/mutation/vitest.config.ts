import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { pureTests, sqlAsText } from '../helpers/pure-tests.ts';

// For StrykerJS (stryker.config.js), which runs one project.

const ROOT = path.join(import.meta.dirname, '../..');

export default defineConfig({
  root: ROOT,
  plugins: [sqlAsText],
  test: { ...pureTests(ROOT), provide: { cases: 'few' } },
});
