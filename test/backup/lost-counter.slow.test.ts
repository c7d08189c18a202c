import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { writeSnapshot } from '#backup';
import { beginRestore, exportAll, loseAllButBucket, loseCounter, restoreAll } from '../helpers/backup.ts';
import { startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll, settleOnce } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// A counter loses what it stored while the deployment goes on. Its application is restored from the bucket, and what came meanwhile is counted.

const worker = startWorker();

beforeEach(() => loseAllButBucket(() => new Map()));
afterEach(() => {
  vi.restoreAllMocks();
});

async function sendAll(tenant: Tenant, ...bodies: object[]): Promise<string[]> {
  const ids: string[] = [];
  for (const body of bodies) {
    const answer = await worker.post(tenant, '/webhook', body);
    expect(answer.status).toBe(200);
    ids.push(((await answer.json()) as { event_id: string }).event_id);
  }
  await worker.deliver(worker.queue.take());
  return ids;
}

async function send(tenant: Tenant, ...bodies: object[]): Promise<string[]> {
  const ids = await sendAll(tenant, ...bodies);
  await settleAll(tenant.application.id);
  return ids;
}

/** To a counter that may write nothing to the database. */
async function sendLost(tenant: Tenant, ...bodies: object[]): Promise<string[]> {
  const ids = await sendAll(tenant, ...bodies);
  await settleOnce(tenant.application.id);
  return ids;
}

const get = async <Answer>(tenant: Tenant, path: string): Promise<Answer> => {
  const answer = await worker.team(tenant, path);
  expect(answer.status, path).toBe(200);
  return answer.json();
};

type Health = {
  status: string;
  parked_messages: number;
  applications: {
    status: string;
    problems: string[];
    needs_restore: boolean;
    unknown_device_events: number;
  }[];
};
const healthOf = (tenant: Tenant) => get<Health>(tenant, '/v1/health');

const REPORTS = [
  'performance?group_by=creative',
  'performance?group_by=day',
  'performance?group_by=country',
  'retention?days=1,3',
  'ltv?days=3',
  'funnel?steps=install,ad,purchase',
  'ads?group_by=creative',
  'payers?group_by=creative',
  'client-totals?',
];

/** Each report, as it is once everything is counted. */
async function reportsOf(tenant: Tenant): Promise<Record<string, unknown>> {
  await settleAll(tenant.application.id);
  const reports: Record<string, unknown> = {};
  for (const report of REPORTS) {
    const query = `application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-10`;
    const answer = await worker.team(
      tenant,
      `/v1/reports/${report}${report.endsWith('?') ? '' : '&'}${query}`,
    );
    const text = await answer.text();
    reports[report] = [
      answer.status,
      JSON.parse(text.replace(/"(?:counted_through|generated_at)":"[^"]*"/g, '"at":0')),
    ];
  }
  return reports;
}

const acquired = { created_at: '2026-03-01 10:00:00' };

/** A history of which a part is in the snapshot, and a part in the files after it. Returns the tokens of its devices. */
async function makeHistory(tenant: Tenant, isCopied = true): Promise<string[]> {
  const { token: creative } = await createCreative(worker, tenant, { campaign: 'Spring', creative: 'Cat' });
  const one = await fetchToken(worker, tenant, {
    ...acquired,
    data: { device_id: 'one', creative_token: creative },
  });
  await send(tenant, envelope.purchase(one, {}, { tr_id: 'T-1' }), envelope.ad(one, { event_id: 'ad-1' }));
  if (isCopied) await writeSnapshot(env, Date.now());
  const two = await fetchToken(worker, tenant, {
    ...acquired,
    data: { device_id: 'two', creative_token: creative },
  });
  await send(tenant, envelope.purchase(two, {}, { tr_id: 'T-2' }), envelope.custom(one), envelope.ad(two));
  await exportAll(tenant.application.id, 1);
  return [one, two];
}

/** Repeats and new events of devices that the counter has lost. Of what is in no snapshot, keys are not known again, except those of purchases. */
const late = ([one = '', two = '']: string[], isCopied: boolean) => [
  envelope.ad(one),
  envelope.ad(one, { event_id: isCopied ? 'ad-1' : 'ad-2' }),
  envelope.purchase(one, {}, { tr_id: 'T-1' }),
  envelope.purchase(two, {}, { tr_id: 'T-3' }),
  envelope.custom(two),
];

const quiet = () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
};

it.each([
  { how: 'from the snapshot and what came after it', isCopied: true, isResumed: false, isExported: true },
  { how: 'after counting was resumed', isCopied: true, isResumed: true, isExported: false },
  { how: 'without a snapshot', isCopied: false, isResumed: true, isExported: true },
])('restores a lost counter while others go on, $how', async ({ isCopied, isResumed, isExported }) => {
  quiet();
  const [lost, twin, other] = [await createTenant(), await createTenant(), await createTenant()];
  const tokens = await makeHistory(lost, isCopied);
  const twinTokens = await makeHistory(twin, isCopied);
  await makeHistory(other, isCopied);
  expect((await healthOf(lost)).status).toBe('ok');
  const before = await reportsOf(other);
  await loseCounter(lost.application.id);

  if (isResumed) {
    const path = `/v1/applications/${lost.application.id}/resume-counting`;
    await sendLost(lost, envelope.ad(tokens[0] ?? ''));
    expect((await worker.team(lost, path, { method: 'POST' })).status).toBe(200);
    expect((await healthOf(lost)).status).toBe('degraded');
    await send(twin, envelope.ad(twinTokens[0] ?? ''));
  }
  // A new device is counted as usual.
  for (const [tenant, own] of [
    [lost, tokens],
    [twin, twinTokens],
  ] as const) {
    const fresh = await fetchToken(worker, tenant, { ...acquired, data: { device_id: 'three' } });
    own.push(fresh);
    await sendLost(tenant, envelope.ad(fresh));
  }
  const ids = await sendLost(lost, ...late(tokens, isCopied));
  await send(twin, ...late(twinTokens, isCopied));
  if (isExported) {
    await worker.team(lost, `/v1/applications/${lost.application.id}/resume-counting`, { method: 'POST' });
    await exportAll(lost.application.id, 1);
  }
  for (const id of ids) {
    expect(await get(lost, `/v1/events/${id}`)).toMatchObject({
      status: 'parked',
      reason: expect.stringContaining('does not know the device'),
    });
  }
  const health = await healthOf(lost);
  expect(health.applications[0]).toMatchObject({
    status: 'degraded',
    needs_restore: true,
    unknown_device_events: ids.length + (isResumed ? 1 : 0),
  });
  expect(health.applications[0]?.problems.join()).toContain(`--application ${lost.application.id}`);
  expect(await healthOf(other)).toMatchObject({ status: 'ok', applications: [{ needs_restore: false }] });

  const progress = await restoreAll(worker, lost.application.id);
  expect(progress).toMatchObject({ finished: true });
  expect(progress.restored.rows).toBe(progress.rows_in_snapshot);
  expect(await healthOf(lost)).toMatchObject({
    status: 'ok',
    parked_messages: 0,
    applications: [{ needs_restore: false, unknown_device_events: 0, problems: [] }],
  });
  const strip = (reports: unknown, tenant: Tenant) =>
    JSON.parse(
      JSON.stringify(reports)
        .replaceAll(tenant.application.id, '')
        .replace(/(?:crt|cmp|ads)_[0-9a-f]{32}/g, ''),
    );
  expect(strip(await reportsOf(lost), lost)).toEqual(strip(await reportsOf(twin), twin));
  expect(await reportsOf(other)).toEqual(before);

  // What was parked is counted, also in the list of events, and nothing is left twice.
  const statusOf = async (id: string) => (await get<{ status: string }>(lost, `/v1/events/${id}`)).status;
  expect(await Promise.all(ids.map(statusOf))).toEqual([
    'counted',
    isCopied ? 'duplicate' : 'counted',
    'duplicate',
    'counted',
    'counted',
  ]);
  await exportAll(lost.application.id, 1);
  // Rewrites the files without what was parked in them.
  await startCounter(lost.application.id).inside((own) => own.alarm());
  const list = await get<{ data: { event_id: string }[] }>(
    lost,
    `/v1/events?application_id=${lost.application.id}&limit=100`,
  );
  const twins = await get<{ data: unknown[] }>(
    twin,
    `/v1/events?application_id=${twin.application.id}&limit=100`,
  );
  expect(new Set(list.data.map(({ event_id: id }) => id)).size).toBe(list.data.length);
  expect(list.data).toHaveLength(twins.data.length);

  // It goes on as before: names and ids find their devices.
  await fetchToken(worker, lost, { ...acquired, data: { device_id: 'one' } });
  await fetchToken(worker, twin, { ...acquired, data: { device_id: 'one' } });
  await send(lost, ...tokens.map((token) => envelope.ad(token)));
  await send(twin, ...twinTokens.map((token) => envelope.ad(token)));
  expect(strip(await reportsOf(lost), lost)).toEqual(strip(await reportsOf(twin), twin));
  expect((await healthOf(lost)).status).toBe('ok');
  await writeSnapshot(env, Date.now() + 86_400_000);
});

it('restores nothing of an application that lost nothing, and knows no other one', async () => {
  const tenant = await createTenant();
  await makeHistory(tenant);
  await expect(restoreAll(worker, tenant.application.id)).rejects.toThrow('has lost anything');
  expect((await beginRestore(`app_${'0'.repeat(32)}`)).begun).toBe(false);
});
