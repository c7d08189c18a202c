import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { MAX_ALARM_MS } from '../../src/counting/runs/pace.ts';

/** A run that begins at the end of an alarm has been seen to take this long. */
const LONGEST_RUN_MS = 48_000;
/** Source: https://developers.cloudflare.com/workers/platform/limits/ */
const MAX_CPU_MS = 300_000;

it('lets an alarm of a counter finish its last run', async () => {
  const { unstable_readConfig } = await import('wrangler');
  const { limits } = unstable_readConfig({ config: path.join(ROOT, 'wrangler.toml') });
  expect(limits?.cpu_ms).toBeGreaterThan(MAX_ALARM_MS + LONGEST_RUN_MS);
  expect(limits?.cpu_ms).toBeLessThanOrEqual(MAX_CPU_MS);
});
