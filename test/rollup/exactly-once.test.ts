import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { foldLog } from '#rollup';
import { WatchedD1 } from '../helpers/d1.ts';
import { envelope } from '../helpers/envelopes.ts';
import { holdFold } from '../helpers/fold.ts';
import { pick, seededRandom, shuffled } from '../helpers/random.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker, type TestWorker } from '../helpers/worker.ts';
import { countRetention, countTotals, type Sent } from '../oracle/count.ts';

// Whatever happens between the acknowledgement and the report, the totals are those of the journal of what was acknowledged.

type Device = { device: string; acquiredDay: string; token: string };
type Message = { id: string; body: unknown };

const DAY = (number: number) => `2026-03-${String(number).padStart(2, '0')}`;

async function makeDevices(
  worker: TestWorker,
  tenant: Tenant,
  random: () => number,
  count: number,
): Promise<Device[]> {
  const devices: Device[] = [];
  for (let index = 0; index < count; index++) {
    const acquiredDay = DAY(1 + Math.floor(random() * 5));
    const token = await fetchToken(worker, tenant, { created_at: `${acquiredDay}T10:00:00.000Z` });
    devices.push({ device: `${index}`, acquiredDay, token });
  }
  return devices;
}

/** Any event of a device after its acquisition, with what makes it recognisable. */
function makeEvent(
  device: Device,
  random: () => number,
  number: number,
): Sent & { header?: string; sent: unknown } {
  const day = Number(device.acquiredDay.slice(-2)) + Math.floor(random() * 9);
  const time = { created_at: `${DAY(day)} ${String(11 + Math.floor(random() * 12))}:00:00` };
  const currency = pick(random, ['usd', 'usd', 'eur']);
  const value = Math.floor(random() * 1e7) / 1e6;
  const session = pick(random, [undefined, `s${Math.floor(random() * 4)}`]);
  const [body, own] = pick<() => [Sent['body'], string | undefined]>(random, [
    () => [
      envelope.ad(device.token, time, { currency, value, source: pick(random, ['banner', 'native']) }),
      undefined,
    ],
    () => [envelope.ad(device.token, time, { currency, value }), undefined],
    () => [
      envelope.retention(device.token, time, { retentionDay: undefined, session_id: session }),
      undefined,
    ],
    () => [
      envelope.custom(device.token, time, { event_name: pick(random, ['level_1', 'level_2']) }),
      undefined,
    ],
    () => {
      const status = pick(random, ['completed', 'success', 'failed']);
      return [
        envelope.purchase(device.token, time, { currency, value, status, tr_id: `t${number}` }),
        `t/${status === 'failed'}/${number}`,
      ];
    },
  ])();
  const event = { device: device.device, acquiredDay: device.acquiredDay, body };
  const kind = random();
  if (kind < 0.25) return { ...event, identity: `e/${number}`, sent: { ...body, eid: `e${number}` } };
  if (kind < 0.5) return { ...event, identity: `h/${number}`, header: `h${number}`, sent: body };
  return { ...event, identity: own, sent: body };
}

/** Posts some 300 events, half of the recognisable ones twice, one at a time and in batches. Answers what was acknowledged. */
async function postHistory(
  worker: TestWorker,
  tenant: Tenant,
  devices: Device[],
  random: () => number,
): Promise<Sent[]> {
  const journal: Sent[] = [];
  const made = Array.from({ length: 220 }, (_, number) => makeEvent(pick(random, devices), random, number));
  const repeats = made.filter(({ identity }) => identity !== undefined && random() < 0.5);
  const [single, batched] = [[...made, ...repeats], []] as [typeof made, typeof made];
  for (const event of shuffled(random, single.splice(0))) {
    if (!event.header && random() < 0.4) batched.push(event);
    else single.push(event);
  }
  for (const event of single) {
    const answer = await worker.post(
      tenant,
      '/webhook',
      event.sent,
      event.header ? { 'Idempotency-Key': event.header } : {},
    );
    expect(answer.status).toBe(200);
    journal.push(event);
  }
  for (let start = 0; start < batched.length; start += 20) {
    const part = batched.slice(start, start + 20);
    const answer = await worker.post(tenant, '/webhook/batch', { events: part.map(({ sent }) => sent) });
    expect(await answer.json()).toMatchObject({ accepted: part.length, rejected: 0 });
    journal.push(...part);
  }
  return journal;
}

async function expectTotals(
  worker: TestWorker,
  tenant: Tenant,
  journal: Sent[],
  devices: Device[],
): Promise<void> {
  const query = `application_id=${tenant.application.id}&from=${DAY(1)}&to=${DAY(20)}`;
  const report: {
    data: { dau: number }[];
    totals: Record<string, number>;
    unconverted: { currency: string; amount: number }[];
  } = await (await worker.team(tenant, `/v1/reports/performance?${query}&group_by=day`)).json();
  const { active_device_days, unconverted_eur, ...totals } = countTotals(journal, devices);
  expect(report.totals).toMatchObject(totals);
  expect(report.data.reduce((sum, row) => sum + row.dau, 0)).toBe(active_device_days);
  expect(report.unconverted).toEqual([{ currency: 'eur', amount: unconverted_eur }]);
  const retention: {
    data: { days: Record<string, { eligible: number; active: number; rolling: number }> }[];
  } = await (await worker.team(tenant, `/v1/reports/retention?${query}&days=0,1,3,7`)).json();
  for (const day of [0, 1, 3, 7]) {
    expect(retention.data[0]?.days[day]).toMatchObject(countRetention(journal, devices, day));
  }
}

async function history(seed: number) {
  const random = seededRandom(seed);
  const worker = startWorker();
  const tenant = await createTenant();
  const devices = await makeDevices(worker, tenant, random, 25);
  const journal = await postHistory(worker, tenant, devices, random);
  return { random, worker, tenant, devices, journal, messages: worker.queue.take() };
}

describe('totals equal an independent count', () => {
  it.each([1, 2, 3])('after redelivery in whole and in part, and any order (seed %i)', async (seed) => {
    const { random, worker, tenant, devices, journal, messages } = await history(seed);
    const deliveries = [
      ...messages,
      ...messages.filter(() => random() < 0.5),
      ...messages.filter(() => random() < 0.2),
    ];
    let rest = shuffled(random, deliveries);
    while (rest.length > 0) {
      const size = 1 + Math.floor(random() * 40);
      const part = rest.slice(0, size);
      const result = await worker.deliver(part);
      expect(result.retryMessages).toEqual([]);
      expect(new Set(result.explicitAcks)).toEqual(new Set(part.map(({ id }) => id)));
      // Some batches are delivered once more as they were, as after an acknowledgement that got lost.
      if (random() < 0.3) await worker.deliver(part);
      rest = rest.slice(size);
      if (random() < 0.2) await expectReportAnswers(worker, tenant);
    }
    await expectTotals(worker, tenant, journal, devices);
  });

  it('with two consumers given the same messages at once, and reports between them', async () => {
    const { worker, tenant, devices, journal, messages } = await history(4);
    const half = Math.ceil(messages.length / 2);
    await Promise.all([
      worker.deliver(messages),
      worker.deliver([...messages].reverse()),
      expectReportAnswers(worker, tenant),
      worker.deliver(messages.slice(half)),
      expectReportAnswers(worker, tenant),
      worker.deliver(messages.slice(0, half)),
    ]);
    await expectTotals(worker, tenant, journal, devices);
  });
});

it('counts what is left after another fold came first', async () => {
  const { worker, tenant, devices, journal, messages } = await history(5);
  await holdFold();
  await worker.deliver(messages);
  const watched = new WatchedD1(env.DB);
  watched.failOn(
    /UPDATE fold_cursor/,
    'D1_ERROR: NOT NULL constraint failed: fold_cursor.chunk_id: SQLITE_CONSTRAINT',
  );
  await foldLog(watched.asBinding(), Date.now());
  expect(watched.faultsLeft).toBe(0);
  const behind = await env.DB.prepare(
    'SELECT count(*) AS n FROM event_chunks WHERE id > (SELECT chunk_id FROM fold_cursor)',
  ).first<number>('n');
  expect(behind).toBe(0);
  await expectTotals(worker, tenant, journal, devices);
});

async function expectReportAnswers(worker: TestWorker, tenant: Tenant): Promise<void> {
  const query = `application_id=${tenant.application.id}&from=${DAY(1)}&to=${DAY(2)}`;
  expect((await worker.team(tenant, `/v1/reports/performance?${query}`)).status).toBe(200);
}

const STATEMENTS = [
  'INSERT INTO event_chunks',
  'coalesce\\(sum\\(event_count\\)',
  'FROM fold_cursor AS cursor CROSS JOIN event_chunks',
  'CROSS JOIN devices',
  'CROSS JOIN idempotency_keys',
  'CROSS JOIN tokens',
  'UPDATE fold_cursor',
  'INSERT INTO rollup_daily',
  'INSERT INTO rollup_ads',
  'INSERT INTO rollup_items',
  'INSERT INTO rollup_custom',
  'INSERT INTO cohort_activity',
  'INSERT INTO cohort_revenue',
  'UPDATE devices',
  'INSERT INTO idempotency_keys',
];
const FAULTS = STATEMENTS.flatMap((statement) =>
  (['before', 'after'] as const).flatMap((when) => [1, 6].map((times) => ({ statement, when, times }))),
);

describe('a transient error of D1', () => {
  it.each(FAULTS)('$when $statement, $times times, changes no total', async ({ statement, when, times }) => {
    const random = seededRandom(9);
    const setup = startWorker();
    const tenant = await createTenant();
    const devices = await makeDevices(setup, tenant, random, 6);
    const watched = new WatchedD1(env.DB);
    const worker = startWorker({ DB: watched.asBinding() });
    const journal = await postHistory(worker, tenant, devices, random);
    let waiting: Message[] = worker.queue.take();
    watched.failOn(new RegExp(statement), 'D1_ERROR: Network connection lost.', { when, times });
    for (let round = 0; waiting.length > 0; round++) {
      expect(round).toBeLessThan(10);
      const result = await worker.deliver(waiting);
      expect(result.outcome).toBe('ok');
      const back = new Set(result.retryMessages.map(({ msgId }) => msgId));
      waiting = waiting.filter(({ id }) => back.has(id));
      // A report in between may meet the fault as well; it answers or says so.
      const query = `application_id=${tenant.application.id}&from=${DAY(1)}&to=${DAY(20)}`;
      expect([200, 500]).toContain((await worker.team(tenant, `/v1/reports/performance?${query}`)).status);
    }
    expect(watched.faultsLeft).toBeLessThan(times);
    watched.failOn(/nothing/, '', { times: 0 });
    await expectTotals(worker, tenant, journal, devices);
  });
});
