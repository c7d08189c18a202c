import { availableParallelism } from 'node:os';
import { runSteps } from './run-steps.ts';

// `npm run check`. The longest step comes first, so that it ends with the others.
const failures = await runSteps(
  [
    'npm run --silent typecheck',
    'biome ci --error-on-warnings .',
    'knip',
    'wrangler types --include-runtime=false --strict-vars=false --check',
    'wrangler deploy --dry-run --outdir .wrangler/dry-run',
  ],
  availableParallelism(),
  console.log,
);
if (failures.length > 0) {
  console.error(`Failed: ${failures.join(', ')}`);
  process.exitCode = 1;
}
