import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, vi } from 'vitest';
import { writeSnapshot } from '#backup';
import { resumeCounting } from '#counting';
import { exportAll, loseAllButBucket, loseCounter, restoreAll } from '../helpers/backup.ts';
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

// One counter loses what it stored between two parts of the history, and is restored while the others go on.
describe.each([
  { zone: 'Europe/Berlin', currency: 'usd', seed: 33 },
  { zone: 'America/Sao_Paulo', currency: 'eur', seed: 34, published: CHANGING_RATES, shards: 4, lost: 2 },
])('$zone, of which a counter is restored', ({ lost = 0, ...history }) => {
  const worker = startWorker();
  beforeAll(() => loseAllButBucket(() => new Map()));
  describeEveryReport({
    ...history,
    between: async ({ application }, sendRest) => {
      vi.spyOn(console, 'warn').mockReturnValue();
      vi.spyOn(console, 'error').mockReturnValue();
      await writeSnapshot(env, Date.now());
      await loseCounter(application.id, lost);
      await resumeCounting(env, { id: application.id, shards: history.shards ?? 1 }, { isRestored: false });
      await sendRest();
      const progress = await restoreAll(worker, application.id);
      expect(progress.restored.rows).toBe(progress.rows_in_snapshot);
    },
  });
});
