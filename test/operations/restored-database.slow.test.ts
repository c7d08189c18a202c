import { env } from 'cloudflare:workers';
import { describe, expect, vi } from 'vitest';
import service from '../../src/index.ts';
import { copyDatabase } from '../helpers/d1-copy.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { settleAll } from '../helpers/settle.ts';
import type { Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { describeEveryReport } from '../oracle/every-report.ts';

// Part of a history is counted, the database is copied, the rest is counted, and the database is set back to the copy. Nobody sends or asks
// anything until the cron notices it. Then counting is resumed, and every report is compared with the naive count of all events.

async function loseTheRest(tenant: Tenant, sendRest: () => Promise<void>): Promise<void> {
  const worker = startWorker();
  const runMinute = () => service.scheduled(inMinuteOf('chores'), env);
  const path = `/v1/applications/${tenant.application.id}`;
  const health = async () => (await worker.team(tenant, '/v1/health')).json();
  await runMinute();
  const setBack = await copyDatabase();
  await sendRest();
  await runMinute();
  expect(await health()).toMatchObject({ status: 'ok' });

  await setBack();
  vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(console, 'warn').mockReturnValue();
  await runMinute();
  expect(await health()).toMatchObject({ status: 'degraded', applications: [{ needs_resume: true }] });
  const answer = await worker.team(tenant, `${path}/resume-counting`, { method: 'POST' });
  expect(await answer.json()).toMatchObject({ missing_parts: 0, missing_files: 0 });
  await settleAll(tenant.application.id);
  expect(await health()).toMatchObject({ status: 'ok', applications: [{ needs_resume: false }] });
  vi.restoreAllMocks();
}

describe.each([
  { zone: 'Europe/Berlin', currency: 'eur', seed: 8, between: loseTheRest },
  { zone: 'America/New_York', currency: 'usd', seed: 9, shards: 4, between: loseTheRest },
])('every figure after a restore of the database (seed $seed)', describeEveryReport);
