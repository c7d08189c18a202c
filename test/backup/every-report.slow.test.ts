import { env } from 'cloudflare:workers';
import { beforeAll, describe } from 'vitest';
import { writeSnapshot } from '#backup';
import { exportAll, loseAllButBucket, restoreAll } from '../helpers/backup.ts';
import { startWorker } from '../helpers/worker.ts';
import { describeEveryReport } from '../oracle/every-report.ts';
import { CHANGING_RATES } from '../oracle/setup.ts';

// Every report of the oracle after everything but the bucket is lost: what came before the snapshot, and what came after it.

describe.each([
  { zone: 'Europe/Berlin', currency: 'usd', seed: 31 },
  { zone: 'Australia/Lord_Howe', currency: 'eur', seed: 32, published: CHANGING_RATES, shards: 4 },
])('$zone, restored', (history) => {
  const worker = startWorker();
  beforeAll(() => loseAllButBucket(() => new Map()));
  describeEveryReport({
    ...history,
    between: async ({ application }, sendRest) => {
      await writeSnapshot(env, Date.now());
      await sendRest();
      await exportAll(application.id, history.shards ?? 1);
      await loseAllButBucket();
      await restoreAll(worker);
    },
  });
});
