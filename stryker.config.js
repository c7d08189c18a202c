// `npm run mutate`: changes the pure modules in thousands of places, one at a time, and counts the changes that the pure tests notice.
// A few modules only: `npm run mutate -- --mutate 'src/money/*.ts'`.

export default {
  mutate: [
    'src/catalogue/**/*.ts',
    'src/attribution/{match,evidence,device}.ts',
    'src/attribution/rules/**/*.ts',
    'src/networks/**/*.ts',
    'src/money/{cost-files/**/*,rate-book}.ts',
    'src/reports/engine/{converted-sums,day-rates,add-columns}.ts',
    'src/lib/**/*.ts',
  ],
  // TypeScript 7 has no API to rewrite a tsconfig for the copy that is tested, which needs no rewriting.
  tsconfigFile: 'none',
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts' },
  plugins: ['@stryker-mutator/vitest-runner'],
  coverageAnalysis: 'perTest',
  // What is computed once when a module is loaded belongs to no test: one run for each would take days.
  ignoreStatic: true,
  concurrency: 2,
  // The first run, of all tests with counters in every place, takes minutes on a busy machine.
  dryRunTimeoutMinutes: 30,
  ignorePatterns: ['.wrangler', '/dist', 'test/upgrade/fixtures'],
  reporters: ['clear-text', 'progress', 'html'],
  clearTextReporter: { allowColor: false, logTests: false },
  thresholds: { high: 95, low: 85, break: 85 },
  tempDirName: '.wrangler/stryker',
  htmlReporter: { fileName: '.wrangler/mutation.html' },
};
